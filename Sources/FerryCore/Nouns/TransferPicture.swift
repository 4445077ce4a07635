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
    /// Whether the server does not support ranges, according to its responses.
    package var lacksRanges = false

    package init(totalBytes: ByteCount?, written: RangeSet<ByteCount>, identity: FileIdentity) {
        self.totalBytes = totalBytes
        self.written = written
        self.identity = identity
    }

    /// Creates a snapshot from the claims of a journal.
    package init(_ record: JournalRecord) {
        self.init(
            totalBytes: record.totalBytes, written: RangeSet<ByteCount>(pairs: record.claimed) ?? RangeSet(),
            identity: record.identity)
    }
}
