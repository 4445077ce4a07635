package import FerryCore
import Synchronization

/// A snapshot of a file's written ranges and of the ranges that connections are fetching.
package struct TransferPicture: Sendable {
    package var totalBytes: ByteCount?
    package var written: RangeSet<ByteCount>
    /// The range that each connection still has to fetch, with the connection's number.
    package var running: [(connection: Int, range: Range<ByteCount>)] = []
    /// The identity of the file according to the server.
    package var identity: FileIdentity
    /// The final URL, with its query shown as `?…`.
    package var finalURL: String?
    /// Whether the server sends no ranges, as far as its responses tell.
    package var lacksRanges = false

    package init(totalBytes: ByteCount?, written: RangeSet<ByteCount>, identity: FileIdentity) {
        self.totalBytes = totalBytes
        self.written = written
        self.identity = identity
    }

    /// Creates the snapshot of a journal's claims.
    package init(_ record: JournalRecord) {
        self.init(
            totalBytes: record.totalBytes, written: RangeSet<ByteCount>(pairs: record.claimed) ?? RangeSet(),
            identity: record.identity)
    }
}

extension DownloadDriver {
    /// Returns the current snapshot; `nil` before existing files have been examined.
    package func picture() -> TransferPicture? {
        state.withLock { state in
            guard state.startedAt != nil else { return nil }
            let planner = state.machine.planner
            var picture = TransferPicture(
                totalBytes: planner.total, written: planner.written, identity: state.machine.file.identity)
            for (id, segment) in planner.segments where segment.remaining > 0 {
                picture.running.append((id.rawValue, segment.position..<segment.end))
            }
            picture.finalURL = state.links.finalURL?.redacted
            picture.lacksRanges = state.machine.lacksRanges
            return picture
        }
    }
}
