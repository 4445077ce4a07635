extension TransferMachine {
    /// A URL of the file.
    struct Source: Sendable {
        enum Trust: Hashable, Sendable { case unproven, proven, dropped }
        var trust: Trust
        var identity: FileIdentity?
        /// The validators of this source when samples of the partial content matched.
        var sampledAs: FileIdentity?
        /// Whether If-Range is sent; cleared when the source responds to a matching If-Range with the whole file.
        var sendsIfRange = true
        var fromOriginal = true
        /// Whether to request only the original URL, because a redirect target of this source failed.
        var alwaysOriginal = false
        /// The number of consecutive requests without a usable response head; the source with the fewest failures is
        /// preferred.
        var failures = 0
        /// Whether samples proved that the bytes of this source differ from those of the primary source.
        var isRival = false
        /// Whether the source sent its whole file when samples were requested, so it can only be fetched from the beginning.
        var sendsOnlyWhole = false
    }

    /// The URLs of the file, identified by their positions, and the bytes that they have delivered.
    struct Sources: Sendable {
        private var all: [Source]
        /// The source that defines the file: only a change at this source is a change of the file.
        var primary = 0
        /// The bytes that sources other than the primary one have delivered.
        private(set) var lent: [Int: RangeSet<ByteCount>] = [:]
        var spoiled = SpoiledBytes()
        /// The error for a complete file that does not match its digest, while the transfer searches for a source with other
        /// bytes.
        var refutation: DownloadError?
        /// The error with which the primary source was dropped.
        var deadEnd: DownloadError?

        init(count: Int, isFirstProven: Bool) {
            all = (0..<max(1, count)).map { Source(trust: $0 == 0 && isFirstProven ? .proven : .unproven) }
        }

        subscript(index: Int) -> Source {
            get { all[index] }
            set { all[index] = newValue }
        }

        var count: Int { all.count }

        /// Whether the primary source has not been dropped.
        var hasPrimary: Bool { all[primary].trust != .dropped }

        /// Adds sources at the end, none of them proven.
        mutating func add(_ count: Int) { all += (0..<count).map { _ in Source(trust: .unproven) } }

        // MARK: Choosing

        func hasOther(than source: Int) -> Bool {
            all.indices.contains { $0 != source && all[$0].trust != .dropped }
        }

        /// The source with the fewest failures, proven ones first; `nil` if all are dropped.
        var best: Int? {
            let usable = all.indices.filter { all[$0].trust != .dropped }
            return usable.min { left, right in
                let (one, other) = (all[left], all[right])
                if one.failures != other.failures { return one.failures < other.failures }
                if one.trust != other.trust { return one.trust == .proven }
                return left < right
            }
        }

        /// Returns the source that the fewest of the connections use; without `unproven`, only proven sources count.
        func leastUsed(by connections: [Int], unproven: Bool) -> Int? {
            let usable = all.indices.filter { all[$0].trust == .proven || all[$0].trust == .unproven && unproven }
            let counts = usable.map { index in (index, connections.count { $0 == index }) }
            return counts.min { $0.1 < $1.1 }?.0
        }

        /// A source whose file may differ from the refuted one.
        var untried: Int? {
            all.indices.first { $0 != primary && (all[$0].isRival || all[$0].trust == .unproven) }
        }

        // MARK: Judging

        /// Resets the proofs of mirrors, because they referred to the file before its change.
        mutating func doubt(except kept: Int) {
            for index in all.indices where index != kept && all[index].trust == .proven {
                all[index].trust = .unproven
                all[index].identity = nil
                all[index].sampledAs = nil
            }
        }

        /// Records that the source has sent this representation, which defines the file.
        mutating func settle(on source: Int, _ identity: FileIdentity) {
            all[source].identity = identity
            all[source].trust = .proven
            all[source].fromOriginal = all[source].alwaysOriginal
        }

        /// Trusts the primary source to define the file, because the partial content was backed up.
        mutating func restart() {
            doubt(except: primary)
            all[primary].identity = nil
            all[primary].sampledAs = nil
            all[primary].trust = .proven
        }

        /// Makes the first source whose samples differ the primary one. Returns whether there is such a source.
        mutating func turnToRival() -> Bool {
            guard let rival = all.firstIndex(where: \.isRival) else { return false }
            for index in all.indices where all[index].isRival { all[index] = Source(trust: .unproven) }
            (primary, refutation) = (rival, nil)
            return true
        }

        /// Whether a source cannot be compared, so only the digest of its whole file can show whether it has the right bytes.
        var hasUncompared: Bool { all.contains(where: \.sendsOnlyWhole) }

        /// Makes the first source that cannot be compared the primary one. Returns whether there is such a source.
        mutating func turnToUncompared() -> Bool {
            guard let source = all.firstIndex(where: \.sendsOnlyWhole) else { return false }
            all[source] = Source(trust: .unproven)
            (primary, refutation) = (source, nil)
            return true
        }

        // MARK: Bytes

        /// Records that a source is sending a body, so that its earlier failures no longer count.
        mutating func delivers(_ source: Int) { all[source].failures = 0 }

        /// Records written bytes if they come from a source other than the primary one.
        mutating func brought(_ range: Range<ByteCount>, by source: Int) {
            if source != primary { lent[source, default: RangeSet()].insert(contentsOf: range) }
        }

        /// Forgets which sources other than the primary one have delivered these bytes.
        mutating func forgetLent(_ ranges: RangeSet<ByteCount>) {
            for source in lent.keys { lent[source]?.subtract(ranges) }
        }

        mutating func forgetLent() { lent = [:] }
    }

    /// Bytes that were received with a wrong digest, and how often they were received.
    struct SpoiledBytes: Sendable {
        /// The number of responses with a wrong digest after which a byte is no longer requested from this source.
        private static let most = 3

        /// The n-th set contains the bytes that were received at least n times.
        private var sets = Array(repeating: RangeSet<ByteCount>(), count: most)
        /// Whether only the file's own digest is used, because the server's Content-Digest was wrong too often.
        private(set) var distrustsMessageDigests = false

        /// Whether some bytes were received too often to be requested again.
        var isHopeless: Bool { sets.last?.isEmpty == false }

        mutating func add(_ ranges: RangeSet<ByteCount>) {
            var again = ranges
            for index in sets.indices {
                let before = sets[index]
                sets[index].formUnion(again)
                again.formIntersection(before)
            }
        }

        /// Counts from zero again, for another source or another file.
        mutating func reset() { sets = sets.map { _ in RangeSet() } }

        /// Uses only the file's own digest from now on. Returns whether the digests of messages were used before.
        mutating func distrustMessageDigests() -> Bool {
            defer { distrustsMessageDigests = true }
            return !distrustsMessageDigests
        }
    }
}
