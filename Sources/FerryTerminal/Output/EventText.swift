package import Ferry
import FerryCore

/// Formats events as single lines of text. Untrusted text is escaped.
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
    package static func line(
        _ event: DownloadEvent.Kind, reason: String? = nil, name: String, detail: Detail
    ) -> String? {
        guard detail > .quiet, let text = text(event, reason: reason, name: name, detail: detail) else { return nil }
        return ("\(name): \(text)" as Reason).shown
    }

    /// The notes that are reported even without `-v`, because they concern the source, the content or the name of a file.
    private static let important: Set<ErrorPhrase.Key> = [
        .notOursHere, .unusablePartHere, .nameTaken, .checksumKept, .checksumDropped, .mismatchAccepted, .mirrorDropped,
        .onWithMirror,
        .otherContent, .otherDigest, .halfTaken, .nothingNoted, .doubtfulControl, .mayBeHalf, .partFits,
        .partOfThisURL, .partOfOtherName,
        .wouldRestart,
        .connectionBroke,
        .storedEncoded, .contentDigestsLeft, .askingAgain,
    ]

    /// Like ``line(_:reason:name:detail:)``, for a whole event. An ``important`` note is always reported, except with `-q`.
    package static func line(_ event: DownloadEvent, name: String, detail: Detail) -> String? {
        var detail = detail
        if case .phrase(let phrase)? = event.reason, important.contains(phrase.key), detail == .normal {
            detail = .verbose
        }
        return line(event.kind, reason: event.reason(in: .current), name: name, detail: detail)
    }

    /// - Parameter reason: The reason in the user's language; `nil` for the English one.
    private static func text(
        _ event: DownloadEvent.Kind, reason: String?, name: String, detail: Detail
    ) -> Reason? {
        switch event {
        case .added(let url):
            detail == .verbose ? (url.isEmpty || url == name ? "added" : "added, \(url)") : nil
        case .started(_, let total):
            detail == .verbose
                ? "the server answered, \(total.map { Reason.words(ByteText.size($0)) } ?? "size unknown")" : nil
        case .resumed(let offset, let total, let english):
            "resuming at \(ByteText.progress(completed: offset, total: total)) (\(reason ?? english))"
        case .retrying(let attempt, let delay, let english):
            "trying again in \(ByteText.briefly(delay)), retry \(attempt): \(reason ?? english)"
        case .restarted(let english): "restarting from the beginning: \(reason ?? english)"
        case .waiting(.slot, _), .waiting(.server, _), .waiting(.retry, _), .waiting(.notBefore, _): nil
        case .waiting(_, let english): "waiting: \(reason ?? english)"
        case .note(let english): detail == .verbose ? .words(reason ?? english) : nil
        case .paused: detail == .verbose ? "paused" : nil
        case .cancelled: "cancelled"
        case .completed, .failed: nil
        }
    }

    /// Returns `done, 1.0 GB in 12s, 85.3 MB/s, proof: strong`, or `already complete, 1.0 GB, proof: strong`.
    ///
    /// - Parameter elapsed: The duration of this run.
    package static func finished(_ file: FinishedDownload, elapsed: Duration) -> String {
        let (size, proof) = (ByteText.size(file.totalBytes), file.proof.text(in: .current))
        let text: Reason
        if file.wasAlreadyComplete {
            // Without a proof, the file was only found under its intended name.
            text =
                file.proof == .none
                ? "exists already; not changed (--on-conflict skip)" : "already complete, \(size), proof: \(proof)"
        } else {
            let seconds = max(0.01, Seconds.of(elapsed))
            // For an uploaded local file, no bytes are received.
            let isSent = file.receivedBytes == 0 && file.storedETag != nil
            let bytes = isSent ? file.totalBytes : file.receivedBytes
            let time = seconds < 1 ? "\((seconds * 100).rounded() / 100)s" : ByteText.duration(elapsed)
            // Bytes that were received in an earlier run do not count for the speed of this one.
            text =
                bytes > 0
                ? "done, \(size) in \(time), \(ByteText.rate(Double(bytes) / seconds)), proof: \(proof)"
                : "done, \(size) in \(time), proof: \(proof)"
        }
        return text.local
    }
}
