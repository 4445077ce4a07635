package import Ferry
import FerryCore

/// Formats events as single lines of text. Text from outside is escaped.
package enum EventText {
    /// The verbosity.
    package enum Detail: Int, Sendable, Hashable, Comparable {
        /// `-q`: errors only.
        case quiet
        case normal
        /// `-v`: every decision with its reason.
        case verbose

        package static func < (lhs: Detail, rhs: Detail) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// Returns the line of an event; `nil` if the verbosity excludes it, and for the final events, which
    /// ``finished(_:elapsed:)`` and ``ErrorText`` format.
    ///
    /// - Parameter name: The file's name, as far as it is known.
    package static func line(_ event: DownloadEvent.Kind, name: String, detail: Detail) -> String? {
        guard detail > .quiet, let text = text(event, detail: detail) else { return nil }
        return PrintableText.escape("\(name): \(text)")
    }

    /// The notes that are reported without `-v` too: they change what is fetched, expected or named.
    private static let important: Set<ErrorPhrase.Key> = [
        .notOursHere, .nameTaken, .checksumKept, .checksumDropped, .mirrorDropped, .onWithMirror, .otherContent,
        .halfTaken, .mayBeHalf, .partFits, .wouldRestart,
    ]

    /// Like ``line(_:name:detail:)`` for an event's kind. An ``important`` note is always reported, except with `-q`.
    package static func line(_ event: DownloadEvent, name: String, detail: Detail) -> String? {
        var detail = detail
        if case .phrase(let phrase)? = event.reason, important.contains(phrase.key), detail == .normal {
            detail = .verbose
        }
        return line(event.kind, name: name, detail: detail)
    }

    private static func text(_ event: DownloadEvent.Kind, detail: Detail) -> String? {
        switch event {
        case .added(let url): detail == .verbose ? (url.isEmpty ? "added" : "added, \(url)") : nil
        case .started(_, let total):
            detail == .verbose ? "the server answered, \(total.map(ByteText.size) ?? "size unknown")" : nil
        case .resumed(let offset, let total, let reason):
            "resuming at \(ByteText.progress(completed: offset, total: total)) (\(reason))"
        case .retrying(let attempt, let delay, let reason):
            attempt > 1 || detail == .verbose || delay >= .seconds(5)
                ? "trying again in \(ByteText.duration(delay)), attempt \(attempt): \(reason)" : nil
        case .restarted(let reason): "restarting from the beginning: \(reason)"
        case .waiting(.slot, _), .waiting(.retry, _), .waiting(.notBefore, _): nil
        case .waiting(_, let message): "waiting: \(message)"
        case .note(let text): detail == .verbose ? text : nil
        case .paused: detail == .verbose ? "paused" : nil
        case .cancelled: "cancelled"
        case .completed, .failed: nil
        }
    }

    /// Returns `done, 1.0 GB in 12s, 85.3 MB/s, proof: strong`, or `already complete, 1.0 GB, proof: sampled`.
    ///
    /// - Parameter elapsed: The duration of this run.
    package static func finished(_ file: FinishedDownload, elapsed: Duration) -> String {
        let size = ByteText.size(file.totalBytes)
        // Without a proof the file was only found under the wanted name.
        if file.wasAlreadyComplete, file.proof == .none {
            return "exists already; not changed (--on-conflict skip)"
        }
        if file.wasAlreadyComplete { return "already complete, \(size), proof: \(file.proof.rawValue)" }
        var text = "done, \(size) in \(ByteText.duration(elapsed))"
        let seconds = Seconds.of(elapsed)
        if seconds >= 0.1 { text += ", \(ByteText.rate(Double(file.receivedBytes) / seconds))" }
        return text + ", proof: \(file.proof.rawValue)"
    }
}
