/// A name that was given, not suggested: taken as it is, or refused.
package enum ExactName {
    /// The longest in bytes: with `.part.ferry.old` behind it, it still fits into 255.
    package static let maxBytes = 255 - ".part.ferry.old".utf8.count

    /// Throws `invalidRequest` for what cannot be the name of a file in a directory.
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
    /// A file in a directory by its exact name is that file; all else stays.
    ///
    /// Throws `invalidRequest` for a name that cannot be used.
    package func resolved() throws(DownloadError) -> DownloadRequest.Destination {
        guard case .directory(let path, .exact(let name)) = self else { return self }
        try ExactName.check(name)
        return .file(Paths.join(path, name))
    }
}
