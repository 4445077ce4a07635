import FerryCore
package import Ferry
package import struct Foundation.Date

/// The JSON lines of `--json`. A test compares their fields with the table in docs/cli.md.
///
/// Every line has all fields of its event, with `null` for unknown values. Sizes are in bytes, durations in seconds.
package enum EventRecord {
    /// The format version, field `v`. Additional fields and events do not change it.
    package static let version: Int64 = 1

    /// Returns the line of an event. `.retrying` is named `retry`; all others are named like their case.
    package static func line(_ event: DownloadEvent) -> JSONLine {
        let id = event.id
        let date = event.date
        switch event.kind {
        case .added(let url):
            return make("added", id, date) { $0.add("url", known(url)) }
        case .started(let name, let totalBytes):
            return make("started", id, date) {
                $0.add("name", .string(name))
                $0.add("totalBytes", .init(totalBytes))
            }
        case .resumed(let offset, let totalBytes, let reason):
            return make("resumed", id, date) {
                $0.add("offset", .integer(offset))
                $0.add("totalBytes", .init(totalBytes))
                $0.add("reason", .string(reason))
            }
        case .retrying(let attempt, let delay, let reason):
            return make("retry", id, date) {
                $0.add("attempt", .integer(Int64(attempt)))
                $0.add("delay", .number(Seconds.of(delay)))
                $0.add("reason", .string(reason))
            }
        case .restarted(let reason):
            return make("restarted", id, date) { $0.add("reason", .string(reason)) }
        case .waiting(let reason, let message):
            return make("waiting", id, date) {
                $0.add("for", .string(name(of: reason)))
                $0.add("message", .string(message))
            }
        case .note(let message):
            return make("note", id, date) { $0.add("message", .string(message)) }
        case .paused:
            return make("paused", id, date) { _ in }
        case .completed(let file):
            return make("completed", id, date) {
                $0.add("path", .string(file.path))
                $0.add("totalBytes", .integer(file.totalBytes))
                $0.add("proof", .string(file.proof.rawValue))
                $0.add("alreadyComplete", .bool(file.wasAlreadyComplete))
                $0.add("receivedBytes", .integer(file.receivedBytes))
                $0.add("finalURL", known(file.finalURL))
                $0.add("contentType", .init(file.contentType))
            }
        case .failed(let error):
            return failed(error, id: id, date: date)
        case .cancelled:
            return make("cancelled", id, date) { _ in }
        }
    }

    /// Returns the line of a failure.
    ///
    /// - Parameters:
    ///   - id: `nil` for a file that was never listed because its destination was unusable.
    ///   - command: The command to continue with; see ``ErrorText``.
    package static func failed(_ error: DownloadError, id: DownloadID?, date: Date, command: String? = nil) -> JSONLine
    {
        make("failed", id, date) {
            $0.add("code", .string(error.code.rawValue))
            $0.add("exitCode", .integer(Int64(ExitCode.of(error).rawValue)))
            $0.add("message", .string(error.message))
            $0.add("underlying", .init(error.underlying))
            $0.add("suggestion", .init(error.suggestion))
            $0.add("command", .init(command))
        }
    }

    /// Returns the line for a download's progress.
    package static func progress(_ status: DownloadStatus, date: Date) -> JSONLine {
        make("progress", status.id, date) {
            let progress = status.progress
            let rate = progress.bytesPerSecond
            $0.add("completedBytes", .integer(progress.completedBytes))
            $0.add("totalBytes", .init(progress.totalBytes))
            $0.add("bytesPerSecond", .integer(rate.isFinite && rate > 0 && rate < 9e18 ? Int64(rate) : 0))
            $0.add("timeRemaining", .init(progress.timeRemaining.map(Seconds.of)))
            $0.add("connections", .integer(Int64(progress.connections)))
        }
    }

    private static func make(
        _ name: String, _ id: DownloadID?, _ date: Date, _ fields: (inout JSONLine) -> Void
    ) -> JSONLine {
        var line = JSONLine()
        line.add("v", .integer(version))
        line.add("event", .string(name))
        line.add("time", .string(RFC3339.text(date)))
        line.add("id", .init(id?.rawValue))
        fields(&line)
        return line
    }

    /// An empty URL means unknown.
    private static func known(_ url: String) -> JSONLine.Value { url.isEmpty ? .null : .string(url) }

    private static func name(of reason: WaitReason) -> String {
        switch reason {
        case .slot: "slot"
        case .network: "network"
        case .retry: "retry"
        case .diskSpace: "diskSpace"
        case .freshLink: "freshLink"
        case .credentials: "credentials"
        case .notBefore: "notBefore"
        }
    }
}
