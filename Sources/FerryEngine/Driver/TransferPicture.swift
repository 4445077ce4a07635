import Synchronization
package import FerryCore
import Synchronization

/// What is there of a file, and who fetches what, at one moment.
package struct TransferPicture: Sendable {
    package var totalBytes: ByteCount?
    /// The ranges that are written.
    package var written: RangeSet<ByteCount>
    /// What each connection still has to fetch, by its number.
    package var running: [(connection: Int, range: Range<ByteCount>)] = []
    /// What the server said which file it is.
    package var identity: FileIdentity
    /// With `?…` for its query.
    package var finalURL: String?

    package init(totalBytes: ByteCount?, written: RangeSet<ByteCount>, identity: FileIdentity) {
        self.totalBytes = totalBytes
        self.written = written
        self.identity = identity
    }

    /// What a journal claims.
    package init(_ record: JournalRecord) {
        self.init(
            totalBytes: record.totalBytes, written: RangeSet<ByteCount>(pairs: record.claimed) ?? RangeSet(),
            identity: record.identity)
    }
}

extension DownloadDriver {
    /// What is there and who fetches what; `nil` before it is known.
    package func picture() -> TransferPicture? {
        state.withLock { state in
            guard state.isPrepared else { return nil }
            let planner = state.machine.planner
            var picture = TransferPicture(
                totalBytes: planner.total, written: planner.written, identity: state.machine.identity)
            for (id, segment) in planner.segments where segment.remaining > 0 {
                picture.running.append((id.rawValue, segment.position..<segment.end))
            }
            picture.finalURL = state.finalURL?.redacted
            return picture
        }
    }
}
