/// Validation of file names that the user gave: accepted unchanged or rejected.
package enum ExactName {
    /// The maximum length in bytes: with `.part.ferry.old` appended, the name fits into 255.
    package static let maxBytes = 255 - ".part.ferry.old".utf8.count

    /// Throws `invalidRequest` for a text that cannot be a file name.
    package static func check(_ name: String) throws(DownloadError) {
        let problem: ErrorPhrase
        if name.isEmpty {
            problem = ErrorPhrase(.emptyName)
        } else if name == "." || name == ".." {
            problem = ErrorPhrase(.directoryName)
        } else if name.utf8.contains(UInt8(ascii: "/")) {
            problem = ErrorPhrase(.slashInName)
        } else if name.utf8.contains(0) {
            problem = ErrorPhrase(.zeroInName)
        } else if name.utf8.count > maxBytes {
            problem = ErrorPhrase(.longName, "\(name.utf8.count)", "\(maxBytes)")
        } else {
            return
        }
        throw DownloadError(.invalidRequest, ErrorPhrase(.unusableName, String(name.prefix(40)), problem))
    }
}

extension DownloadRequest.Destination {
    /// Turns a directory with an exact name into the path of that file; other destinations are returned unchanged.
    ///
    /// Throws `invalidRequest` for an invalid name.
    package func resolved() throws(DownloadError) -> DownloadRequest.Destination {
        guard case .directory(let path, .exact(let name)) = self else { return self }
        try ExactName.check(name)
        return .file(Paths.join(path, name))
    }
}
