public import FerryCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Variants of the functions that take and return paths, with Foundation's `URL`. They throw `invalidRequest` for a URL that is
// not a file URL; a configuration, which cannot throw, requires file URLs.

extension DownloadManager.Configuration {
    /// Like ``default(identifier:directory:stateDirectory:)``, but takes the URLs of the directories.
    public static func `default`(
        identifier: String, directory: URL, stateDirectory: URL? = nil
    ) -> DownloadManager.Configuration {
        .default(
            identifier: identifier, directory: directory.requiredPath, stateDirectory: stateDirectory?.requiredPath)
    }
}

extension DownloadManager {
    /// Like ``download(from:into:)``, but takes the URL of the directory. By default, the file is saved in the manager's directory.
    public func download(from url: URL, into directory: URL? = nil) async throws(DownloadError) -> Download {
        guard let directory else { return try await download(from: DownloadURL(url)) }
        return try await download(DownloadRequest(from: url, into: directory))
    }

    /// Like ``adopt(_:)``, but takes the URL of the part file or journal.
    public func adopt(_ file: URL) async throws(DownloadError) -> Download { try await adopt(file.localPath) }

    /// The listed downloads whose first source is this URL, in the order of the list.
    public func downloads(url: URL) async throws(DownloadError) -> [Download] {
        try await downloads(url: DownloadURL(url))
    }

    /// Like ``partFiles(in:)``, but takes and returns URLs.
    public func partFiles(in directory: URL) async throws(DownloadError) -> [URL] {
        try await partFiles(in: directory.localPath).map { URL(filePath: $0, directoryHint: .notDirectory) }
    }
}

extension Download {
    /// Like ``moveFiles(to:)-(String)``, but takes the URL of the directory.
    public func moveFiles(to directory: URL) async throws(DownloadError) {
        try await moveFiles(to: directory.localPath)
    }
}
