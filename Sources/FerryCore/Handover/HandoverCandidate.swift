package import HTTPTypes

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The rule for a download without a strong validator.
package enum UnprovenHandover: String, Sendable, Hashable, Codable, CaseIterable {
    /// The download waits for the app. The default.
    case wait
    /// One task fetches the whole file if no part of it is present; its proof is then weaker.
    case whole
}

/// A running or waiting download in its state just before the app is suspended.
package struct HandoverCandidate: Sendable, Hashable {
    package var download: DownloadID
    package var target: HandoverTarget
    /// The identity of the partial content, or of the first response.
    package var identity: FileIdentity
    /// The size of the whole file in bytes, if it is known.
    package var total: ByteCount?
    /// The claimed ranges.
    package var claimed: RangeSet<ByteCount>
    /// Whether the server has honoured ranges; `nil` if none has been requested yet. In that case, one task requests
    /// the first missing range, so that a server that sends the whole file instead sends it only once.
    package var hasRanges: Bool?
    /// Whether the server has not responded yet. The whole file is then leased, and proven by its response.
    package var isNew = false
    package var unproven = UnprovenHandover.wait
    /// The networks that the download may use.
    package var needs = NetworkNeeds()
    package var notBefore: Date?
    package var priority = DownloadPriority.normal
    package var obstacles: [HandoverObstacle] = []
    /// The obstacles despite which the download requests to be handed over.
    package var accepts: Set<HandoverObstacle> = []

    package init(
        download: DownloadID, target: HandoverTarget, identity: FileIdentity, total: ByteCount?,
        claimed: RangeSet<ByteCount> = RangeSet()
    ) {
        self.download = download
        self.target = target
        self.identity = identity
        self.total = total
        self.claimed = claimed
    }

    /// The obstacle that keeps the download with the app; `nil` if there is none.
    var obstacle: HandoverObstacle? { obstacles.first { !$0.mayBeAccepted || !accepts.contains($0) } }
}

/// The reason why a download, or the rest of it, is not handed over.
package enum HandoverRefusal: Error, Sendable, Hashable {
    case obstacle(HandoverObstacle)
    /// No strong validator, and the download's rule is to wait.
    case unproven
    /// No strong validator, and the whole file would replace bytes that are already present.
    case unprovenWithBytes
    /// The last file from the system could not be used, and no run has contacted the server since.
    case refusedBefore
    /// The landed files would need more space than is free.
    case noSpace
    /// No bytes are missing, or all missing bytes are already leased.
    case nothingMissing
    /// Other downloads use all tasks.
    case noTaskLeft
}

/// The request of one lease, for one task of the system's session.
package struct LeasedRequest: Sendable, Hashable {
    package let lease: Lease
    package let url: DownloadURL
    package let fields: HTTPFields
    /// Whether metered networks are permitted (`allowsCellularAccess`, `allowsExpensiveNetworkAccess`).
    package let allowsMetered: Bool
    /// Whether constrained networks are permitted (`allowsConstrainedNetworkAccess`).
    package let allowsConstrained: Bool
    package let earliestBegin: Date?
    package let priority: DownloadPriority

    /// The task's description.
    package var ticket: String { LeaseTicket(lease).text }
    /// The number of bytes that the task expects; `nil` if the size is unknown.
    package var expectedBytes: ByteCount? { lease.bytes }

    init(_ lease: Lease, of candidate: HandoverCandidate) {
        self.lease = lease
        url = candidate.target.url
        allowsMetered = candidate.needs.isLocal || candidate.needs.allowsMetered
        allowsConstrained = candidate.needs.isLocal || candidate.needs.allowsConstrained
        earliestBegin = candidate.notBefore
        priority = candidate.priority
        var fields = candidate.target.fields
        fields[.acceptEncoding] = "identity"
        fields[.range] = lease.range.flatMap { RangeAsk.range($0).field }
        fields[.ifRange] = lease.validator
        // If the file has changed, each task then receives a 412 response instead of the whole new file.
        if let validator = lease.validator {
            fields[EntityTag(validator) == nil ? .ifUnmodifiedSince : .ifMatch] = validator
        }
        self.fields = fields
    }
}

/// The limits for the sizes and the number of leases.
package struct HandoverLimits: Sendable, Hashable {
    /// The minimum size of a segment in bytes. A task that fails loses the bytes that it has received, so the size of a
    /// segment limits the loss; many small tasks are slow. Default 32 MiB.
    package var minSegmentBytes: ByteCount = 32 << 20
    /// The number of segments into which a download's missing bytes are divided, if they are large enough. Default 64.
    package var segments: ByteCount = 64
    /// The maximum number of tasks for all downloads together. Default 100.
    package var maxTasks = 100
    /// The maximum number of connections per host for the session (`httpMaximumConnectionsPerHost`).
    package static let connectionsPerHost = 4
    /// The received fraction above which a task stays with the system in the foreground. Default 0.8.
    package var keptShare = 0.8
    /// The time for which a lease without a task is kept, because the task may have ended although its event has not been
    /// delivered yet. Default 60 s.
    package var lostAfter: Duration = .seconds(60)

    package init() {}
}

/// Divides the missing bytes of a download into leases.
package enum HandoverPlanner {
    /// Returns the leases of a candidate.
    ///
    /// - Parameters:
    ///   - leased: The bytes of the candidate's existing leases.
    ///   - room: The number of tasks that are still available.
    package static func leases(
        for candidate: HandoverCandidate, leased: RangeSet<ByteCount>, room: Int, limits: HandoverLimits,
        using random: inout some RandomNumberGenerator
    ) throws(HandoverRefusal) -> [Lease] {
        if let obstacle = candidate.obstacle { throw .obstacle(obstacle) }
        if let total = candidate.total, !total.isSize { throw .nothingMissing }
        guard let total = candidate.total, let validator = candidate.identity.strongValidator,
            candidate.hasRanges != false
        else {
            return [try whole(candidate, leased: leased, room: room, using: &random)]
        }
        let missing = candidate.claimed.union(leased).gaps(in: 0..<total)
        guard !missing.isEmpty else { throw .nothingMissing }
        guard room > 0 else { throw .noTaskLeft }
        let bytes = missing.byteCount
        let isKnown = candidate.hasRanges == true
        let size = isKnown ? max(limits.minSegmentBytes, (bytes + limits.segments - 1) / limits.segments, 1) : bytes
        var leases: [Lease] = []
        for gap in missing.ranges {
            for segment in cut(gap, into: size) where leases.count < (isKnown ? room : 1) {
                let number = LeaseNumber(rawValue: random.next())
                let lease = Lease(
                    number: number, download: candidate.download, range: segment, validator: validator, total: total)
                // `Lease` returns `nil` only for an identifier that no request can have.
                if let lease { leases.append(lease) }
            }
        }
        return leases
    }

    private static func whole(
        _ candidate: HandoverCandidate, leased: RangeSet<ByteCount>, room: Int,
        using random: inout some RandomNumberGenerator
    ) throws(HandoverRefusal) -> Lease {
        guard candidate.unproven == .whole || candidate.isNew else { throw .unproven }
        guard candidate.claimed.isEmpty else { throw .unprovenWithBytes }
        guard leased.isEmpty else { throw .nothingMissing }
        guard room > 0 else { throw .noTaskLeft }
        let number = LeaseNumber(rawValue: random.next())
        guard
            let lease = Lease(
                number: number, download: candidate.download, range: nil, validator: nil, total: candidate.total)
        else { throw .nothingMissing }
        return lease
    }

    /// Divides a gap into equal segments of at most `size` bytes.
    private static func cut(_ gap: Range<ByteCount>, into size: ByteCount) -> [Range<ByteCount>] {
        let bytes = gap.upperBound - gap.lowerBound
        let count = (bytes + size - 1) / size
        let each = (bytes + count - 1) / count
        return stride(from: gap.lowerBound, to: gap.upperBound, by: ByteCount.Stride(each)).map { start in
            start..<min(gap.upperBound, start + each)
        }
    }
}
