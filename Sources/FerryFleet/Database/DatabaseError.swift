package import FerryCore
import FerryTerminal

/// A failure of the database, or of the connection to it. Its text never contains a password.
package struct DatabaseError: Error, Sendable, Hashable {
    /// One line without a full stop.
    package let reason: Reason
    /// The SQLSTATE; `nil` if no statement has failed.
    package let state: String?
    /// Whether the same statement may succeed later, because the database is unreachable, starting or busy.
    package let isTransient: Bool
    /// Whether the password was wrong or missing. A later attempt may succeed, but a program that has just started reports the
    /// error at once.
    package let isDenied: Bool

    package init(_ reason: Reason, state: String? = nil, isTransient: Bool = false, isDenied: Bool = false) {
        (self.reason, self.state, self.isTransient, self.isDenied) = (reason, state, isTransient, isDenied)
    }

    /// Whether a statement has timed out.
    var isTimeout: Bool { state == "57014" || state == "55P03" }

    var exitCode: ExitCode { isTransient && !isDenied ? .network : .usage }

    /// Creates the error of a failed statement.
    init(state: String, message: String) {
        self.init("the database answered: \(message)", state: state, isTransient: Self.isTransient(state))
    }

    /// The error for a row with invalid values, which another program may have written.
    static let unusable = DatabaseError("the database has a row that ferry did not write")

    /// Whether an SQLSTATE is transient: classes 08 (connection), 40 (rollback), 53 (resources), 57P (shutting down or starting)
    /// and 58 (system error, such as the disk), a standby that has not been promoted, and time-outs.
    private static func isTransient(_ state: String) -> Bool {
        ["08", "40", "53", "57P", "58"].contains { state.utf8.hasPrefix($0) }
            || ["25006", "25P03", "57014", "55P03"].contains(state)
    }
}
