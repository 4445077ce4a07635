import FerryCore
package import Ferry
package import struct Foundation.Date

/// A line of `--json`: its version, and the members of an event, of a download's progress, or of a plan. A test compares
/// them with the tables in docs/cli.md.
package struct EventRecord: Encodable, Sendable {
    /// The format version, member `v`. Additional members and kinds do not change it.
    package static let version = 1

    private var kind: String?
    private var id: DownloadID?
    private var date: Date?
    private var exitCode: Int32?
    private var command: String?
    /// Its members are those of the line.
    private let content: any Encodable & Sendable

    /// Returns the line of an event.
    package static func line(_ event: DownloadEvent) -> EventRecord {
        var record = EventRecord(content: event)
        if case .failed(let error) = event.kind { record.exitCode = ExitCode.of(error).rawValue }
        return record
    }

    /// Returns the line of a failure.
    ///
    /// - Parameters:
    ///   - id: `nil` for a file that was never listed because its destination was unusable.
    ///   - command: The command to continue with; see ``ErrorText``.
    package static func failed(
        _ error: DownloadError, id: DownloadID?, date: Date, command: String? = nil
    ) -> EventRecord {
        EventRecord(
            kind: "failed", id: id, date: date, exitCode: ExitCode.of(error).rawValue, command: command,
            content: ["error": error])
    }

    /// Returns the line for a download's progress.
    package static func progress(_ status: DownloadStatus, date: Date) -> EventRecord {
        EventRecord(kind: "progress", id: status.id, date: date, content: status.progress)
    }

    /// Returns the line of a plan.
    package static func plan(_ plan: DownloadPlan, date: Date) -> EventRecord {
        EventRecord(kind: "plan", date: date, content: plan)
    }

    /// The line, without a line feed.
    package var text: String { JSONShape.line(self) }

    private enum CodingKeys: String, CodingKey { case v, kind, id, date, exitCode, command }

    package func encode(to encoder: any Encoder) throws {
        try content.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.version, forKey: .v)
        try container.encodeIfPresent(kind, forKey: .kind)
        try container.encodeIfPresent(id, forKey: .id)
        try container.encodeIfPresent(date, forKey: .date)
        try container.encodeIfPresent(exitCode, forKey: .exitCode)
        try container.encodeIfPresent(command, forKey: .command)
    }
}
