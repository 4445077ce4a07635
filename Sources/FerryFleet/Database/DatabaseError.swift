package import FerryCore
import FerryTerminal

/// A failure of the database, or of the connection to it. Its text holds no password.
package struct DatabaseError: Error, Sendable, Hashable {
    /// One line without a full stop.
    package let reason: Reason
    /// The SQLSTATE; `nil` if no statement has failed.
    package let state: String?
    /// Whether the same statement may succeed later: the database is away, starts, or was busy.
    package let isTransient: Bool
    /// Whether the password was wrong or missing: it may be right later, but a program that has just been started says so.
    package let isDenied: Bool

    package init(_ reason: Reason, state: String? = nil, isTransient: Bool = false, isDenied: Bool = false) {
        (self.reason, self.state, self.isTransient, self.isDenied) = (reason, state, isTransient, isDenied)
    }

    /// Whether a statement has waited for too long.
    var isTimeout: Bool { state == "57014" || state == "55P03" }

    var exitCode: ExitCode { isTransient && !isDenied ? .network : .usage }

    /// A failed statement.
    init(state: String, message: String) {
        self.init("the database answered: \(message)", state: state, isTransient: Self.isTransient(state))
    }

    /// Values in a row that no such row can have: whoever writes to the database may have written them.
    static let unusable = DatabaseError("the database holds a row that ferry has not written")

    /// Classes 08 (connection), 40 (rolled back), 53 (resources), 57P (shut down or starting) and 58 (its disk), a standby
    /// that is not promoted yet, and time-outs.
    private static func isTransient(_ state: String) -> Bool {
        ["08", "40", "53", "57P", "58"].contains { state.utf8.hasPrefix($0) }
            || ["25006", "25P03", "57014", "55P03"].contains(state)
    }
}
