import FerryAPI
import FerryCore

/// What the stream tells while calls are being answered, for the downloads that have no object yet: an answer may be
/// older. Pure.
struct PassingUpdates: Sendable {
    private enum Told {
        case row(ListedDownload)
        case removed(asOf: UInt64)
    }
    private var calls = 0
    private var told: [DownloadID: Told] = [:]
    /// Answers from before this position may be older than updates that were lost.
    private var lostBefore: UInt64 = 0

    mutating func callBegan() { calls += 1 }

    mutating func callEnded() {
        calls -= 1
        if calls == 0 { (told, lostBefore) = ([:], 0) }
    }

    mutating func note(_ said: ListedDownload) { if calls > 0 { told[said.id] = .row(said) } }

    mutating func note(removed ids: [DownloadID], asOf position: UInt64) {
        if calls > 0 { for id in ids { told[id] = .removed(asOf: position) } }
    }

    /// Notes that updates before this position may have been missed.
    mutating func lost(before position: UInt64) { if calls > 0 { lostBefore = max(lostBefore, position) } }

    /// Forgets what was told, since the daemon's log has begun anew; answers that are on their way may be of the old one.
    mutating func beginAnew() { if calls > 0 { (told, lostBefore) = ([:], .max) } }

    /// The newer one of an answer and what was told meanwhile, and whether the download has left the list since.
    func newest(_ answer: ListedDownload) -> (said: ListedDownload, isGone: Bool) {
        let position = answer.asOf ?? 0
        switch told[answer.id] {
        case .row(let said) where said.asOf ?? 0 > position: return (said, false)
        case .removed(let left): return (answer, left > position)
        case .row, nil: return (answer, false)
        }
    }

    /// Whether a download must be read again, since updates after the answer were lost.
    func isDoubtful(_ answer: ListedDownload) -> Bool { answer.asOf ?? 0 < lostBefore }
}
