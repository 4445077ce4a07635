import FerryCore

/// The digest that the whole file must have, and the digests that are kept with it.
struct ExpectedDigest: Sendable {
    /// The digest of the request or of its list of checksums, else of an earlier run.
    private(set) var requested: Checksum?
    /// Where ``requested`` is from.
    private(set) var origin: Reason
    /// The digest that the server sent to an earlier run.
    private(set) var offered: Checksum?
    /// The digests of the pieces from the document that the server named.
    private(set) var describedPieces: PieceDigests?
    /// A digest of an earlier run that its file did not have, and that was not given again.
    private(set) var dropped: Checksum?
    /// The digests of the complete file that are kept with it.
    private(set) var recorded: RecordedDigests?

    init(_ request: DownloadRequest) {
        requested = request.checksum
        origin = Reason(.checksumOfRequest)
    }

    /// Creates the digests for the partial content of a journal: those that are given now, else the journal's. A
    /// refuted one is not expected again by another request of the same URL.
    init(_ request: DownloadRequest, _ record: JournalRecord, isSameDownload: Bool) {
        self.init(request)
        guard !request.ignoresEarlierChecksum else { return }
        offered = record.offered.flatMap { try? Checksum(parsing: $0) }
        guard requested == nil, request.checksumList == nil,
            let earlier = record.checksum.flatMap({ try? Checksum(parsing: $0) })
        else { return }
        let isRefuted = record.mismatch?.expected == record.checksum
        if isRefuted, !isSameDownload, !request.sources.isEmpty {
            dropped = earlier
        } else {
            (requested, origin) = (earlier, Reason(.checksumOfEarlierRun))
        }
    }

    /// The list of checksums contains the file.
    mutating func listed(_ found: ChecksumListing.Found) {
        (requested, origin) = (found.checksum, Reason(.checksumOfList, found.list.redacted))
    }

    /// Another representation has begun, about which the server and its documents have said nothing yet.
    mutating func restarted() { (offered, describedPieces) = (nil, nil) }

    /// The content of the earlier run is given up; the document that describes the server's file still counts.
    mutating func gaveUpHeldContent() { offered = nil }

    /// The document that the server named describes the file.
    mutating func described(by entry: URLList.Entry, total: ByteCount) {
        if offered == nil { offered = entry.checksum }
        if let pieces = entry.pieces, pieces.cover(total) { describedPieces = pieces }
    }

    /// The digests of the complete file are known.
    mutating func computed(_ digests: RecordedDigests?) { recorded = digests }
}
