package import Ferry
import FerryCore

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A line of the `--json` output of any command: the format version, and the members of an event, a failure, a download's
/// progress, a plan, or an object of the API, sorted by name. A test compares the members with the tables in docs/cli.md.
package struct JSONLine: Encodable, Sendable {
    /// The format version, member `v`. Additional members and kinds do not change it.
    package static let version = 1

    private var kind: String?
    private var id: DownloadID?
    private var date: Date?
    private var exitCode: Int32?
    private var command: String?
    /// The value whose members the line contains.
    private let content: any Encodable & Sendable

    /// Returns the line of an event.
    package static func line(_ event: DownloadEvent) -> JSONLine {
        var record = JSONLine(content: event)
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
    ) -> JSONLine {
        JSONLine(
            kind: "failed", id: id, date: date, exitCode: ExitCode.of(error).rawValue, command: command,
            content: ["error": error])
    }

    /// Returns the line for a download's progress.
    package static func progress(_ status: DownloadStatus, date: Date) -> JSONLine {
        JSONLine(kind: "progress", id: status.id, date: date, content: status.progress)
    }

    /// Returns the line of a plan.
    package static func plan(_ plan: DownloadPlan, date: Date) -> JSONLine {
        JSONLine(kind: "plan", date: date, content: plan)
    }

    /// Returns the line of a listed object.
    package static func object(_ object: ListedObject, date: Date) -> JSONLine {
        JSONLine(kind: "object", date: date, content: object)
    }

    /// Returns the line of a sync's outcome.
    package static func synced(_ report: SyncReport, date: Date) -> JSONLine {
        JSONLine(kind: "synced", date: date, content: report)
    }

    /// Returns the line of a sync's action for one file.
    package static func previewed(_ file: PreviewedFile, date: Date) -> JSONLine {
        JSONLine(kind: "previewed", date: date, content: file)
    }

    /// Returns the line of all actions of a sync.
    package static func preview(_ preview: SyncPreview, date: Date) -> JSONLine {
        JSONLine(kind: "preview", date: date, content: preview)
    }

    /// Returns the line of a verified file.
    package static func verified(_ file: VerifiedFile, date: Date) -> JSONLine {
        JSONLine(kind: "verified", date: date, content: file)
    }

    /// Returns the line of an object of the API.
    package static func of(_ object: some Encodable & Sendable) -> JSONLine { JSONLine(content: object) }

    /// Returns the line of an event of the daemon's stream, from its data; `nil` if the data is not JSON.
    package static func streamed(_ name: String, data: String) -> JSONLine? {
        guard let value = try? JSONValue(Data(data.utf8)) else { return nil }
        return JSONLine(kind: name, content: ["data": value])
    }

    /// The line without a line feed, with terminal control characters escaped. Empty if the content cannot be encoded,
    /// which would be a bug.
    package var text: String {
        guard let data = try? JSONCoding.encode(self, sortsKeys: true) else { return "" }
        return PrintableText.escapeJSON(String(decoding: data, as: UTF8.self))
    }

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
