import FerryCore
package import FerryTerminal

/// The URL of a PostgreSQL database, such as `postgres://user@host:5432/name`. libpq takes missing parts from its usual sources:
/// `PGPASSWORD`, `.pgpass`, service files.
///
/// The password is passed only to libpq.
package struct DatabaseAddress: Sendable, Hashable, CustomStringConvertible {
    let text: String
    /// The URL without password and parameters.
    package let description: String
    /// The URL without its password. Identifies the database.
    let identity: String

    private static let schemes = ["postgres://", "postgresql://"]
    private static let mostBytes = 4096

    package init(_ text: String) throws(UsageError) {
        guard let scheme = Self.schemes.first(where: { text.asciiLowercased.utf8.hasPrefix($0) }),
            text.utf8.count <= Self.mostBytes, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { throw UsageError("the database is given as postgres://USER@HOST/NAME") }
        guard text.asciiLowercased.utf8.firstRange(of: "password=".utf8) == nil else {
            throw UsageError("the password of the database belongs before the @, or in PGPASSWORD or .pgpass")
        }
        self.text = text
        let rest = text.dropFirst(scheme.utf8.count)
        let end = rest.utf8.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        // libpq would read these characters as a part of the password.
        guard !rest.utf8.contains(UInt8(ascii: "#")), !rest[end...].utf8.contains(UInt8(ascii: "@")) else {
            throw UsageError("write # as %23, ? as %3F and @ as %40 in the URL of the database")
        }
        let place = rest[..<end]
        let at = place.utf8.lastIndex(of: UInt8(ascii: "@"))
        let user = at.map { place[..<$0].split(at: ":", omittingEmptySubsequences: false)[0] }
        let server = at.map { place[place.utf8.index(after: $0)...] } ?? place
        description = scheme + (user.map { $0 + "@" } ?? "") + server
        identity = description + rest[end...]
    }
}
