import FerryCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Paths of the state directories of catalogues.
package enum StateDirectory {
    /// The state directory, absolute. Throws `invalidRequest` for an identifier that is not a plain name.
    static func path(
        identifier: String, given: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(DownloadError) -> String {
        let allowed = identifier.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard allowed, !identifier.isEmpty, identifier.utf8.count <= 128, identifier.first != "." else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.unusableListName, identifier),
                suggestion: ErrorPhrase(.nameLists),
                recovery: .needsUser)
        }
        if let given { return given }
        return root(environment) + "/ferry/sessions/" + identifier
    }

    /// The directory in which files are completed before they are uploaded.
    package static func staging(_ environment: [String: String]) -> String { root(environment) + "/ferry/staging" }

    /// The directory of a worker of a fleet. `name` is a plain name that identifies the fleet's database.
    package static func fleet(_ name: String, _ environment: [String: String]) -> String {
        root(environment) + "/ferry/fleet/" + name
    }

    private static func root(_ environment: [String: String]) -> String {
        if let given = environment["XDG_STATE_HOME"], given.utf8.hasPrefix("/") { return given }
        return root(home: homeDirectory)
    }
}
