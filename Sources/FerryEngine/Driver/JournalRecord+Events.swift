import FerryCore
import struct Foundation.Date

extension JournalRecord {
    /// Appends an event as text, and drops the oldest beyond the limit.
    mutating func append(_ event: DownloadEvent.Kind, at date: Date) {
        let text: String
        switch event {
        case .resumed(let offset, _, let reason): text = "resumed at \(ByteText.size(offset)): \(reason)"
        case .restarted(let reason): text = "restarted: \(reason)"
        case .retrying(let attempt, _, let reason): text = "attempt \(attempt) failed: \(reason)"
        case .waiting(_, let message): text = message
        case .note(let note): text = note
        case .failed(let error): text = "failed: \(error.message)"
        case .added, .started, .paused, .completed, .cancelled: return
        }
        events.append(Entry(time: date.timeIntervalSince1970, text: text))
        if events.count > Self.maxEvents { events.removeFirst(events.count - Self.maxEvents) }
    }
}
