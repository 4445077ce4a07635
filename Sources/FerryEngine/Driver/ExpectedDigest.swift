import FerryCore

/// The expected digest of the whole file, and the digests that are stored with it.
struct ExpectedDigest: Sendable {
    /// The digest from the request or from its list of checksums, or else from an earlier run.
    private(set) var requested: Checksum?
    /// The origin of ``requested``.
    private(set) var origin: Reason
    /// The digest that the server sent to an earlier run, or else the digest in the document that the server named.
    private(set) var offered: Checksum?
    /// The digests of the pieces, from the document that the server named.
    private(set) var describedPieces: PieceDigests?
    /// The digest from an earlier run, if the file did not match it and the request does not contain it again.
    private(set) var dropped: Checksum?
    /// The digests of the complete file that are stored with it.
    private(set) var recorded: RecordedDigests?

    init(_ request: DownloadRequest) {
        requested = request.checksum
        origin = Reason(.checksumOfRequest)
    }

    /// Creates the digests for the partial content of a journal: those in the request, or else those in the journal. If the file
    /// did not match the journal's digest, another request for the same URL does not expect that digest again.
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

    /// Uses the entry for the file in the list of checksums.
    mutating func listed(_ found: ChecksumListing.Found) {
        (requested, origin) = (found.checksum, Reason(.checksumOfList, found.list.redacted))
    }

    /// Records that a new representation has begun, for which the server and its documents have not stated a digest yet.
    mutating func restarted() { (offered, describedPieces) = (nil, nil) }

    /// Discards the digest of the earlier run's content; the document that describes the server's file still applies.
    mutating func gaveUpHeldContent() { offered = nil }

    /// Uses the entry for the file in the document that the server named.
    mutating func described(by entry: URLList.Entry, total: ByteCount) {
        if offered == nil { offered = entry.checksum }
        if let pieces = entry.pieces, pieces.cover(total) { describedPieces = pieces }
    }

    /// Stores the digests of the complete file.
    mutating func computed(_ digests: RecordedDigests?) { recorded = digests }
}
