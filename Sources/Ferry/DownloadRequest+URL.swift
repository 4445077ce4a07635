public import FerryCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// What apps have are URLs of Foundation, also for files.

extension DownloadURL {
    /// Reads a URL of Foundation; throws `invalidRequest` if it is not one of a server.
    public init(_ url: URL) throws(DownloadError) { try self.init(url.absoluteString) }
}

extension URL {
    /// The URL with its query, without user info; `nil` if Foundation does not read it.
    public init?(_ url: DownloadURL) { self.init(string: url.text) }
}

extension DownloadRequest {
    /// Requests a download into a directory, under the name that the server or the URL suggests. Throws `invalidRequest` if
    /// `directory` is not the URL of a file.
    public init(from url: URL, into directory: URL) throws(DownloadError) {
        let source = try DownloadURL(url)
        self.init(sources: [source], destination: .directory(try directory.localPath))
    }

    /// Requests a download to a file. Throws `invalidRequest` if `file` is not the URL of a file.
    public init(from url: URL, to file: URL) throws(DownloadError) {
        let source = try DownloadURL(url)
        self.init(sources: [source], destination: .file(try file.localPath))
    }
}

extension FinishedDownload {
    /// The URL of the file; `nil` when the destination was a stream.
    public var fileURL: URL? { path.isEmpty ? nil : URL(filePath: path, directoryHint: .notDirectory) }
}

extension DownloadPlan {
    /// The URL of the file that has the name; `nil` if there is none.
    public var existingFileURL: URL? { existingPath.map { URL(filePath: $0, directoryHint: .notDirectory) } }
}

extension DownloadStatus {
    /// The URL of the finished file; `nil` until its name has been chosen.
    public var fileURL: URL? { path.map { URL(filePath: $0, directoryHint: .notDirectory) } }
}

extension URL {
    /// The path of a URL of a file.
    var localPath: String {
        get throws(DownloadError) {
            guard isFileURL else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.notAFileURL, TextError.quote(absoluteString)))
            }
            return plainPath
        }
    }

    /// The path of what must be the URL of a file.
    package var requiredPath: String {
        precondition(isFileURL, "a directory's URL must be that of a file")
        return plainPath
    }

    /// The path, decoded and without a slash at its end.
    private var plainPath: String {
        let path = path(percentEncoded: false)
        return path.utf8.count > 1 ? path.dropping(suffix: "/").map(String.init) ?? path : path
    }
}
