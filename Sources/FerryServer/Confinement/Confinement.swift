package import FerryAPI
package import FerryCore
import SystemPackage

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Where a confined daemon may write: below these directories, and nowhere else.
///
/// The kernel holds it; this says so beforehand and in words.
package struct Confinement: Sendable, Hashable, Codable {
    /// Absolute, without symbolic links, none of them below another one.
    package var directories: [String]
    package var gaps: [ConfinementBody.Gap]

    package init(directories: [String], gaps: [ConfinementBody.Gap] = []) {
        self.directories = directories
        self.gaps = gaps
    }

    package var body: ConfinementBody { ConfinementBody(directories: directories, gaps: gaps) }

    /// So many directories stand in a message.
    private static let mostNamed = 4

    /// Throws `invalidRequest` for a path that does not lie below one of the directories.
    package func check(_ path: String) throws(DownloadError) {
        if let refusal = refusal(of: path) { throw refusal }
    }

    /// Why nothing can be written at a path; `nil` where that is allowed.
    package func refusal(of path: String) -> DownloadError? {
        let place = Self.resolved(path)
        guard !directories.contains(where: { place.starts(with: FilePath($0)) }) else { return nil }
        let named = directories.prefix(Self.mostNamed).joined(separator: ", ")
        return DownloadError(
            .invalidRequest,
            ErrorPhrase(
                .confinedElsewhere, APIText.quote(path), named + (directories.count > Self.mostNamed ? ", …" : "")),
            suggestion: ErrorPhrase(.allowThenRestart), recovery: .needsUser)
    }

    /// The path with its symbolic links followed as far as it exists, its `..` taken away first, as the engine does.
    static func resolved(_ path: String) -> FilePath {
        var place = FilePath(path).lexicallyNormalized()
        var missing: [FilePath.Component] = []
        while true {
            if let real = place.withPlatformString({ realpath($0, nil) }) {
                defer { free(real) }
                var found = FilePath(platformString: real)
                for component in missing.reversed() { found.append(component) }
                return found
            }
            guard let last = place.lastComponent, place.removeLastComponent(), !place.isEmpty else { return place }
            missing.append(last)
        }
    }
}
