package import Ferry

/// What happened, in a line for a person; everything from outside is escaped.
package enum EventText {
    /// How much is said.
    package enum Detail: Int, Sendable, Hashable, Comparable {
        /// `-q`: errors alone.
        case quiet
        case normal
        /// `-v`: every decision with its reason.
        case verbose

        package static func < (lhs: Detail, rhs: Detail) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// The line of an event, without its end, which is told by ``finished(_:elapsed:)`` and ``ErrorText``; `nil` when this much detail is not wanted.
    ///
    /// - Parameter name: The file's name as far as it is known.
    package static func line(_ event: DownloadEvent.Kind, name: String, detail: Detail) -> String? {
        guard detail > .quiet, let text = text(event, detail: detail) else { return nil }
        return PrintableText.escape("\(name): \(text)")
    }

    /// The same; that a file of somebody else's is in the way is said whether or not every decision was asked for.
    package static func line(_ event: DownloadEvent, name: String, detail: Detail) -> String? {
        var detail = detail
        if case .phrase(let phrase)? = event.reason, phrase.key == .notOursHere, detail == .normal { detail = .verbose }
        return line(event.kind, name: name, detail: detail)
    }

    private static func text(_ event: DownloadEvent.Kind, detail: Detail) -> String? {
        switch event {
        case .added(let url): detail == .verbose ? (url.isEmpty ? "added" : "added, \(url)") : nil
        case .started(_, let total):
            detail == .verbose ? "the server answered, \(total.map(ByteText.size) ?? "size unknown")" : nil
        case .resumed(let offset, let total, let reason):
            "going on at \(ByteText.progress(completed: offset, total: total)) (\(reason))"
        case .retrying(let attempt, let delay, let reason):
            attempt > 1 || detail == .verbose || delay >= .seconds(5)
                ? "trying again in \(ByteText.duration(delay)), attempt \(attempt): \(reason)" : nil
        case .restarted(let reason): "beginning again from zero: \(reason)"
        case .waiting(.slot, _), .waiting(.retry, _), .waiting(.notBefore, _): nil
        case .waiting(_, let message): "waiting: \(message)"
        case .note(let text): detail == .verbose ? text : nil
        case .paused: detail == .verbose ? "paused" : nil
        case .cancelled: "cancelled"
        case .completed, .failed: nil
        }
    }

    /// `done, 1.0 GB in 12s, 85.3 MB/s, proof: strong`, or `already complete, 1.0 GB`.
    ///
    /// - Parameter elapsed: The time of this run.
    package static func finished(_ file: FinishedDownload, elapsed: Duration) -> String {
        let size = ByteText.size(file.totalBytes)
        // Nothing proves it: it was only found under the name that was wanted.
        if file.wasAlreadyComplete, file.proof == .none {
            return "is there already; left as it is (--on-conflict skip)"
        }
        if file.wasAlreadyComplete { return "already complete, \(size)" }
        var text = "done, \(size) in \(ByteText.duration(elapsed))"
        let seconds = Seconds.of(elapsed)
        if seconds >= 0.1 { text += ", \(ByteText.rate(Double(file.receivedBytes) / seconds))" }
        return text + ", proof: \(file.proof.rawValue)"
    }
}
