import FerryAPI
import FerryCore

/// The updates that the event stream delivers during calls, for downloads that have no object yet. The response to a call may
/// be older than such an update. Pure.
struct PassingUpdates: Sendable {
    private enum Told {
        case row(ListedDownload)
        case removed(asOf: UInt64)
    }
    private var calls = 0
    private var told: [DownloadID: Told] = [:]
    /// Responses from before this position may be older than updates that were lost.
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

    /// Records that updates before this position may have been missed.
    mutating func lost(before position: UInt64) { if calls > 0 { lostBefore = max(lostBefore, position) } }

    /// Forgets all updates, because the daemon has a new log; responses in transit may belong to the old one.
    mutating func beginAnew() { if calls > 0 { (told, lostBefore) = ([:], .max) } }

    /// Returns the newer of a response and the update received in the meantime, and whether the download has since left the
    /// list.
    func newest(_ answer: ListedDownload) -> (said: ListedDownload, isGone: Bool) {
        let position = answer.asOf ?? 0
        switch told[answer.id] {
        case .row(let said) where said.asOf ?? 0 > position: return (said, false)
        case .removed(let left): return (answer, left > position)
        case .row, nil: return (answer, false)
        }
    }

    /// Whether a download must be read again, because updates after the response were lost.
    func isDoubtful(_ answer: ListedDownload) -> Bool { answer.asOf ?? 0 < lostBefore }
}
