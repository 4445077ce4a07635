import Ferry
package import FerryAPI
package import FerryCore
import SystemPackage

/// The directories below which a confined daemon may write.
///
/// The kernel enforces the confinement; this type refuses a path in advance, with an explanation.
package struct Confinement: Sendable, Hashable, Codable {
    /// Absolute paths without symbolic links, none of them inside another.
    package var directories: [String]
    package var gaps: [ConfinementBody.Gap]

    package init(directories: [String], gaps: [ConfinementBody.Gap] = []) {
        self.directories = directories
        self.gaps = gaps
    }

    package var body: ConfinementBody { ConfinementBody(directories: directories, gaps: gaps) }

    /// The maximum number of directories that an error message lists.
    private static let mostNamed = 4

    /// Throws `invalidRequest` for a path outside these directories.
    package func check(_ path: String) throws(DownloadError) {
        if let refusal = refusal(of: path) { throw refusal }
    }

    /// Returns the error for a path outside these directories; `nil` if writing is allowed.
    package func refusal(of path: String) -> DownloadError? {
        let place = RealPath.of(FilePath(path))
        guard !directories.contains(where: { place.starts(with: FilePath($0)) }) else { return nil }
        let named = directories.prefix(Self.mostNamed).joined(separator: ", ")
        return DownloadError(
            .invalidRequest,
            ErrorPhrase(
                .confinedElsewhere, ForeignText.quote(path), named + (directories.count > Self.mostNamed ? ", …" : "")),
            suggestion: ErrorPhrase(.allowThenRestart), recovery: .needsUser)
    }
}
