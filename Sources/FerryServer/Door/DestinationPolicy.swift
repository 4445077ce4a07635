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

    /// `PATH_MAX`: no system opens longer paths, and each name on the way is looked at.
    static let mostBytes = 4096

    /// The place that a request means, and the allowed directory that it may not leave when it is opened; `nil` for none.
    ///
    /// Throws `invalidRequest` for a place that may not be meant. What is looked at here may be another when the download
    /// runs: then ``FerryEngine/FileSystem/confined(to:)`` holds it to `root`.
    package func destination(
        of new: NewDownload, isLocal: Bool, default directory: String
    ) throws(DownloadError) -> (place: DownloadRequest.Destination, root: String?) {
        if isLocal { return (try ofUser(new, default: directory), nil) }
        guard new.path == nil, new.part == nil else {
            throw refused(ErrorPhrase(.placeForSocket))
        }
        for text in [new.directory, new.name].compactMap(\.self) where text.utf8.count > Self.mostBytes {
            throw refused(ErrorPhrase(.longPlace, "\(Self.mostBytes)"))
        }
        var place = directory
        if let given = new.directory, !given.isEmpty {
            place = Paths.isAbsolute(given) ? given : Paths.join(directory, try relative(given))
        }
        let root = try check(place)
        guard let name = new.name, !name.isEmpty else { return (.directory(place), root) }
        guard !name.utf8.contains("/"), !name.utf8.contains("\\") else { throw refused(ErrorPhrase(.slashesInName)) }
        _ = try relative(name)
        return (.directory(place, name: .exact(name)), root)
    }

    private func ofUser(
        _ new: NewDownload, default directory: String
    ) throws(DownloadError) -> DownloadRequest.Destination {
        for path in [new.path, new.part, new.directory].compactMap({ $0 }) where !Paths.isAbsolute(path) {
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
        guard PlaceBelow.names(in: path) != nil else { throw refused(ErrorPhrase(.hiddenPlace, APIText.quote(path))) }
        return path
    }

    /// Which of the allowed directories this is, or is below, in its name and where links lead.
    private func check(_ place: String) throws(DownloadError) -> String {
        guard let (root, names) = PlaceBelow.root(of: place, among: allowed) else {
            throw refused(ErrorPhrase(.outsidePlace, APIText.quote(place)))
        }
        // What the user allowed may be a link itself; below it nothing may lead out.
        var path = root
        for name in names {
            path = Paths.join(path, String(name))
            let kind = (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
            if kind == .typeSymbolicLink { throw refused(ErrorPhrase(.linkedPlace, APIText.quote(path))) }
        }
        return root
    }

    private func refused(_ reason: ErrorPhrase) -> DownloadError {
        DownloadError(
            .invalidRequest, reason, suggestion: ErrorPhrase(.choosePlaceBelow, allowed.first ?? ""),
            recovery: .needsUser)
    }
}
