import CFerry
package import FerryCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The file system locations that a client may choose for a download.
///
/// A client of the Unix socket has the rights of its user. A client over TCP, such as the web page, may only
/// choose paths below the allowed directories, without `..`, hidden components or symbolic links, and plain file names.
package struct DestinationPolicy: Sendable {
    /// Absolute paths. The first is the base of relative names.
    package var allowed: [String]

    package init(allowed: [String]) { self.allowed = allowed }

    /// The maximum length of a path in bytes: `PATH_MAX` of Linux, because no system opens longer paths. It limits the number of
    /// components
    /// to check.
    static let mostBytes = 4096

    /// Returns the destination of a request, and the allowed directory in which it must be opened; `nil` if it may be
    /// anywhere.
    ///
    /// Throws `invalidRequest` for a location that is not allowed. The path may change before the download runs:
    /// ``FerryEngine/FileSystem/confined(to:)`` then enforces `root`.
    package func destination(
        of wish: DownloadRequest.Destination, isLocal: Bool, default directory: String
    ) throws(DownloadError) -> (place: DownloadRequest.Destination, root: String?) {
        if isLocal { return (try ofUser(wish, default: directory), nil) }
        guard case .directory(let given, let rule) = wish else { throw refused(ErrorPhrase(.placeForSocket)) }
        let name = if case .exact(let name) = rule { name } else { "" }
        for text in [given, name] where text.utf8.count > Self.mostBytes {
            throw refused(ErrorPhrase(.longPlace, "\(Self.mostBytes)"))
        }
        var place = directory
        if !given.isEmpty {
            place = Paths.isAbsolute(given) ? given : Paths.join(directory, try relative(given))
        }
        let root = try check(place)
        guard !name.isEmpty else { return (.directory(place), root) }
        try ExactName.checkPlain(name)
        return (.directory(place, name: rule), root)
    }

    private func ofUser(
        _ wish: DownloadRequest.Destination, default directory: String
    ) throws(DownloadError) -> DownloadRequest.Destination {
        switch wish {
        case .directory("", let name): return .directory(directory, name: name)
        case .directory(let path, _), .file(let path), .part(let path):
            guard Paths.isAbsolute(path) else {
                throw DownloadError(
                    .invalidRequest, ErrorPhrase(.relativeToDaemon, ForeignText.quote(path)), recovery: .needsUser)
            }
            return wish
        case .stream: throw DownloadError(.invalidRequest, ErrorPhrase(.streamStaysHere), recovery: .needsUser)
        }
    }

    /// Returns the path if it consists of subdirectory names, none of them hidden or `..`; throws otherwise.
    private func relative(_ path: String) throws(DownloadError) -> String {
        guard PlaceBelow.names(in: path) != nil else {
            throw refused(ErrorPhrase(.hiddenPlace, ForeignText.quote(path)))
        }
        return path
    }

    /// Returns the allowed directory that contains this path; throws if there is none, or if a link lies below it.
    private func check(_ place: String) throws(DownloadError) -> String {
        guard let (root, names) = PlaceBelow.root(of: place, among: allowed) else {
            throw refused(ErrorPhrase(.outsidePlace, ForeignText.quote(place)))
        }
        // The allowed directory may itself be a link; the components below it may not.
        var path = root
        for name in names {
            path = Paths.join(path, String(name))
            var status = stat()
            if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
                throw refused(ErrorPhrase(.linkedPlace, ForeignText.quote(path)))
            }
        }
        return root
    }

    private func refused(_ reason: ErrorPhrase) -> DownloadError {
        DownloadError(
            .invalidRequest, reason, suggestion: ErrorPhrase(.choosePlaceBelow, allowed.first ?? ""),
            recovery: .needsUser)
    }
}
