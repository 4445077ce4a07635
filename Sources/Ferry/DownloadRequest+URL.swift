public import FerryCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Conversions for apps, which use Foundation's `URL` for files too.

extension DownloadURL {
    /// Creates the URL from a Foundation `URL`; throws `invalidRequest` unless it is an http, https or s3 URL.
    public init(_ url: URL) throws(DownloadError) { try self.init(url.absoluteString) }
}

extension URL {
    /// The URL with its query, without user info; `nil` if Foundation cannot parse it.
    public init?(_ url: DownloadURL) { self.init(string: url.text) }
}

extension DownloadRequest {
    /// Creates a request for a download into a directory, under the name that the server or the URL suggests. Throws
    /// `invalidRequest` if `directory` is not a file URL.
    public init(from url: URL, into directory: URL) throws(DownloadError) {
        let source = try DownloadURL(url)
        self.init(sources: [source], destination: .directory(try directory.localPath))
    }

    /// Creates a request for a download to a file. Throws `invalidRequest` if `file` is not a file URL.
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
    /// The URL of the existing file that already has the planned name; `nil` if there is none.
    public var existingFileURL: URL? { existingPath.map { URL(filePath: $0, directoryHint: .notDirectory) } }
}

extension DownloadStatus {
    /// The URL of the finished file; `nil` until its name has been chosen.
    public var fileURL: URL? { path.map { URL(filePath: $0, directoryHint: .notDirectory) } }
}

extension URL {
    /// The path of a file URL.
    var localPath: String {
        get throws(DownloadError) {
            guard isFileURL else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.notAFileURL, TextError.quote(absoluteString)))
            }
            return plainPath
        }
    }

    /// The path of a URL that must be a file URL.
    package var requiredPath: String {
        precondition(isFileURL, "a directory's URL must be a file URL")
        return plainPath
    }

    /// The path, decoded and without a trailing slash.
    private var plainPath: String {
        let path = path(percentEncoded: false)
        return path.utf8.count > 1 ? path.dropping(suffix: "/").map(String.init) ?? path : path
    }
}
