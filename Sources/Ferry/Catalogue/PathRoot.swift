import FerryEngine
import FerryCore

/// The default directory for downloads. Paths inside it are stored relative to it, so that it may be moved.
struct PathRoot: Sendable, Hashable {
    /// The directory with a trailing slash.
    private let prefix: String
    private let directory: String

    /// `directory`: absolute.
    init(_ directory: String) {
        var trimmed = directory[...]
        while trimmed.utf8.count > 1, trimmed.utf8.last == UInt8(ascii: "/") { trimmed = trimmed.dropLast() }
        self.directory = String(trimmed)
        prefix = trimmed == "/" ? "/" : trimmed + "/"
    }

    /// The stored form of a path; paths outside the directory are unchanged.
    func stored(_ path: String) -> String {
        if path.hasSameBytes(as: directory) { return "." }
        guard path.utf8.starts(with: prefix.utf8), path.utf8.count > prefix.utf8.count else { return path }
        let rest = path.utf8.dropFirst(prefix.utf8.count)
        // A second slash would make the path look absolute; a lone dot would mean the directory itself.
        guard rest.first != UInt8(ascii: "/"), rest.count > 1 || rest.first != UInt8(ascii: "."),
            let text = String(rest)
        else { return path }
        return text
    }

    /// The absolute path of a stored one.
    func absolute(_ stored: String) -> String {
        if stored.isEmpty || stored.utf8.hasPrefix("/") { return stored }
        return stored == "." ? directory : prefix + stored
    }
}

extension PathRoot {
    func stored(_ file: FinishedDownload) -> FinishedDownload { file.moving(stored) }
    func absolute(_ file: FinishedDownload) -> FinishedDownload { file.moving(absolute) }

    func stored(_ file: PublishedFile) -> PublishedFile { file.at(stored(file.path)) }
    func absolute(_ file: PublishedFile) -> PublishedFile { file.at(absolute(file.path)) }

    func stored(_ told: LocalizedEvent) -> LocalizedEvent {
        if case .completed(let file) = told.kind { LocalizedEvent(.completed(stored(file))) } else { told }
    }
    func absolute(_ told: LocalizedEvent) -> LocalizedEvent {
        if case .completed(let file) = told.kind { LocalizedEvent(.completed(absolute(file))) } else { told }
    }

    func stored(_ request: DownloadRequest) -> DownloadRequest { request.moving(stored) }
    func absolute(_ request: DownloadRequest) -> DownloadRequest { request.moving(absolute) }
}

extension FinishedDownload {
    fileprivate func moving(_ move: (String) -> String) -> FinishedDownload {
        var moved = self
        moved.path = move(path)
        return moved
    }
}

extension DownloadRequest {
    fileprivate func moving(_ move: (String) -> String) -> DownloadRequest {
        var moved = self
        moved.destination =
            switch destination {
            case .file(let path): .file(move(path))
            case .directory(let path, let name): .directory(move(path), name: name)
            case .part(let path): .part(move(path))
            case .stream: destination
            }
        moved.root = root.map(move)
        return moved
    }
}
