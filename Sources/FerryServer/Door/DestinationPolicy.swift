package import FerryAPI
package import FerryCore
import Foundation

/// Where a client may put files.
///
/// One at the Unix socket has its user's rights. One over TCP (the page, with whatever a page may have been tricked into)
/// gives names below the directories that are allowed, and nothing that leads out of them: no `..`, no absolute name, no
/// symbolic link, no hidden file.
package struct DestinationPolicy: Sendable {
    /// Absolute; the first is where names are meant below when nothing else is said.
    package var allowed: [String]

    package init(allowed: [String]) { self.allowed = allowed }

    /// The place that a request means. Throws `invalidRequest` for one that may not be meant.
    package func destination(
        of new: NewDownload, isLocal: Bool, default directory: String
    ) throws(DownloadError) -> DownloadRequest.Destination {
        if isLocal { return try ofUser(new, default: directory) }
        guard new.path == nil, new.part == nil else {
            throw refused(ErrorPhrase(.placeForSocket))
        }
        var place = directory
        if let given = new.directory {
            place =
                given.hasPrefix("/")
                ? given : (given.isEmpty ? directory : directory + "/" + (try relative(given)))
        }
        try check(place)
        guard let name = new.name, !name.isEmpty else { return .directory(place) }
        guard !name.contains("/"), !name.contains("\\") else { throw refused(ErrorPhrase(.slashesInName)) }
        _ = try relative(name)
        return .directory(place, name: .exact(name))
    }

    private func ofUser(
        _ new: NewDownload, default directory: String
    ) throws(DownloadError) -> DownloadRequest.Destination {
        for path in [new.path, new.part, new.directory].compactMap({ $0 }) where !path.hasPrefix("/") {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.relativeToDaemon, APIText.quote(path)),
                recovery: .needsUser)
        }
        if [new.path, new.part, new.directory].compactMap({ $0 }).count > 1 {
            throw DownloadError(.invalidRequest, ErrorPhrase(.severalPlaces))
        }
        if let part = new.part { return .part(part) }
        if let path = new.path { return .file(path) }
        let place = new.directory ?? directory
        return new.name.map { .directory(place, name: .exact($0)) } ?? .directory(place)
    }

    /// Names of directories below, none of them hidden or leading up.
    private func relative(_ path: String) throws(DownloadError) -> String {
        for part in path.split(separator: "/", omittingEmptySubsequences: false) {
            if part.isEmpty || part.hasPrefix(".") || part.utf8.contains(0) || part.contains("\\") {
                throw refused(ErrorPhrase(.hiddenPlace, APIText.quote(path)))
            }
        }
        return path
    }

    /// Whether a directory is one of those allowed or below one, in its name and where links lead.
    private func check(_ place: String) throws(DownloadError) {
        guard
            let root = allowed.first(where: { root in
                place == root || place.hasPrefix(root.hasSuffix("/") ? root : root + "/")
            })
        else { throw refused(ErrorPhrase(.outsidePlace, APIText.quote(place))) }
        var path = root
        let rest = place.dropFirst(root.count).split(separator: "/")
        if !rest.isEmpty { _ = try relative(rest.joined(separator: "/")) }
        // What the user allowed may be a link itself; below it nothing may lead out.
        for part in rest {
            path += "/" + part
            let kind = (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
            if kind == .typeSymbolicLink { throw refused(ErrorPhrase(.linkedPlace, APIText.quote(path))) }
        }
    }

    private func refused(_ reason: ErrorPhrase) -> DownloadError {
        DownloadError(
            .invalidRequest, reason, suggestion: ErrorPhrase(.choosePlaceBelow, allowed.first ?? ""),
            recovery: .needsUser)
    }
}
