/// Validation of file names that the user gave: they are accepted unchanged or rejected. The names of records
/// (``ReservedName``) are rejected.
package enum ExactName {
    /// The maximum length in bytes: with ``ReservedName/longestSuffix`` appended, the name fits into 255.
    package static let maxBytes = 255 - ReservedName.longestSuffix.utf8.count

    /// Throws `invalidRequest` if the text is not a valid file name.
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
            return try checkMeaning(name)
        }
        throw DownloadError(.invalidRequest, ErrorPhrase(.unusableName, String(name.prefix(40)), problem))
    }

    /// Throws `invalidRequest` for a text that cannot be a file name, and for a name that is hidden or that other systems
    /// read as a path.
    package static func checkPlain(_ name: String) throws(DownloadError) {
        try check(name)
        let problem: ErrorPhrase.Key
        if name.utf8.first == UInt8(ascii: ".") {
            problem = .hiddenName
        } else if name.utf8.contains(UInt8(ascii: "\\")) {
            problem = .backslashInName
        } else {
            return
        }
        throw DownloadError(
            .invalidRequest, ErrorPhrase(.unusableName, String(name.prefix(40)), ErrorPhrase(problem)),
            recovery: .needsUser)
    }

    /// Throws `invalidRequest` for the name of a record, because Ferry would trust the content of a downloaded file with that
    /// name.
    package static func checkMeaning(_ name: String) throws(DownloadError) {
        guard ReservedName.record(name) != nil else { return }
        throw DownloadError(
            .invalidRequest, ErrorPhrase(.unusableName, String(name.prefix(40)), ErrorPhrase(.nameOfRecord)),
            recovery: .needsUser)
    }
}

extension DownloadRequest.Destination {
    /// Returns the path of the file for a directory with an exact name; other destinations are returned unchanged.
    ///
    /// Throws `invalidRequest` for an invalid name.
    package func resolved() throws(DownloadError) -> DownloadRequest.Destination {
        guard case .directory(let path, .exact(let name)) = self else { return self }
        try ExactName.check(name)
        return .file(Paths.join(path, name))
    }
}

/// Lexical checks of paths below a permitted directory. The file system layer checks symbolic links.
package enum PlaceBelow {
    /// Splits a relative path into directory names; `nil` if one of them is empty, begins with a dot (hidden or `..`),
    /// or contains a backslash or NUL.
    package static func names(in path: String) -> [Substring]? {
        let names = path.split(at: "/", omittingEmptySubsequences: false)
        let isPlain = names.allSatisfy { name in
            !name.isEmpty && name.utf8.first != UInt8(ascii: ".")
                && !name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "\\") }
        }
        return isPlain ? names : nil
    }

    /// Returns the first of these directories that lexically equals or contains `place`, and the names of the path from
    /// the directory to `place`. Returns `nil` if there is no such directory, or if ``names(in:)`` rejects the rest.
    /// All paths are absolute.
    package static func root(of place: String, among allowed: [String]) -> (root: String, names: [Substring])? {
        for root in allowed where Paths.isPlace(place, in: root) {
            let rest = (place.dropping(prefix: root) ?? "").split(at: "/").joined(separator: "/")
            if rest.isEmpty { return (root, []) }
            // Another root may be deeper, below a name that is hidden here.
            if let names = names(in: rest) { return (root, names) }
        }
        return nil
    }
}
