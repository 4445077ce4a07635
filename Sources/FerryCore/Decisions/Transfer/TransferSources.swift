extension TransferMachine {
    /// A URL of the file.
    struct Source: Sendable {
        enum Trust: Hashable, Sendable { case unproven, proven, dropped }
        var trust: Trust
        var identity: FileIdentity?
        /// The validators of this source when samples of the partial content matched.
        var sampledAs: FileIdentity?
        /// Cleared when the source responds to a matching If-Range with the whole file.
        var sendsIfRange = true
        var fromOriginal = true
        /// A redirect target of this source failed: always request the original URL.
        var alwaysOriginal = false
        /// Consecutive requests without a usable response head; the source with the fewest failures is preferred.
        var failures = 0
        /// Samples proved that this source has other bytes than the primary one.
        var isRival = false
    }

    /// The URLs of the file, which their positions identify, and what they have brought.
    struct Sources: Sendable {
        private var all: [Source]
        /// The source that defines the file: only a change there is a change of the file.
        var primary = 0
        /// The bytes that other sources than the primary one have brought.
        private(set) var lent: [Int: RangeSet<ByteCount>] = [:]
        var spoiled = SpoiledBytes()
        /// The error of a complete file without its digest, while sources are searched that may have other bytes.
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

        /// Whether the primary source is not dropped.
        var hasPrimary: Bool { all[primary].trust != .dropped }

        /// Adds sources at the end, none of them proven.
        mutating func add(_ count: Int) { all += (0..<count).map { _ in Source(trust: .unproven) } }

        // MARK: Choosing

        func hasOther(than source: Int) -> Bool {
            all.indices.contains { $0 != source && all[$0].trust != .dropped }
        }

        /// The source with the fewest failures, proven ones first; `nil` when all are dropped.
        var best: Int? {
            let usable = all.indices.filter { all[$0].trust != .dropped }
            return usable.min { left, right in
                let (one, other) = (all[left], all[right])
                if one.failures != other.failures { return one.failures < other.failures }
                if one.trust != other.trust { return one.trust == .proven }
                return left < right
            }
        }

        /// Returns the source that the fewest of the connections use; without `unproven`, only of the proven ones.
        func leastUsed(by connections: [Int], unproven: Bool) -> Int? {
            let usable = all.indices.filter { all[$0].trust == .proven || all[$0].trust == .unproven && unproven }
            let counts = usable.map { index in (index, connections.count { $0 == index }) }
            return counts.min { $0.1 < $1.1 }?.0
        }

        /// A source that may have another file than the refuted one.
        var untried: Int? {
            all.indices.first { $0 != primary && (all[$0].isRival || all[$0].trust == .unproven) }
        }

        // MARK: Judging

        /// The file has changed: proofs of mirrors were about the old one.
        mutating func doubt(except kept: Int) {
            for index in all.indices where index != kept && all[index].trust == .proven {
                all[index].trust = .unproven
                all[index].identity = nil
                all[index].sampledAs = nil
            }
        }

        /// The source has sent this representation, which is the file.
        mutating func settle(on source: Int, _ identity: FileIdentity) {
            all[source].identity = identity
            all[source].trust = .proven
            all[source].fromOriginal = all[source].alwaysOriginal
        }

        /// The partial content was backed up: the primary source defines the file, whatever it sends.
        mutating func restart() {
            doubt(except: primary)
            all[primary].identity = nil
            all[primary].sampledAs = nil
            all[primary].trust = .proven
        }

        /// Makes the first source whose samples differ the primary one. Returns whether there is any.
        mutating func turnToRival() -> Bool {
            guard let rival = all.firstIndex(where: \.isRival) else { return false }
            for index in all.indices where all[index].isRival { all[index] = Source(trust: .unproven) }
            (primary, refutation) = (rival, nil)
            return true
        }

        // MARK: Bytes

        /// A source sends a body: earlier failures do not count any more.
        mutating func delivers(_ source: Int) { all[source].failures = 0 }

        /// Records written bytes, if they are of another source than the primary one.
        mutating func brought(_ range: Range<ByteCount>, by source: Int) {
            if source != primary { lent[source, default: RangeSet()].insert(contentsOf: range) }
        }

        /// Forgets which of these bytes others than the primary source have brought.
        mutating func forgetLent(_ ranges: RangeSet<ByteCount>) {
            for source in lent.keys { lent[source]?.subtract(ranges) }
        }

        mutating func forgetLent() { lent = [:] }
    }

    /// Bytes that were received with a wrong digest, and how often.
    struct SpoiledBytes: Sendable {
        /// A byte that was received in so many responses with a wrong digest will not be retried at this source.
        private static let most = 3

        /// The n-th set has the bytes that were received at least n times.
        private var sets = Array(repeating: RangeSet<ByteCount>(), count: most)
        /// Whether the file's own digest alone counts, because the server's Content-Digest was wrong too often.
        private(set) var distrustsMessageDigests = false

        /// Whether some bytes were received too often to be asked for again.
        var isHopeless: Bool { sets.last?.isEmpty == false }

        mutating func add(_ ranges: RangeSet<ByteCount>) {
            var again = ranges
            for index in sets.indices {
                let before = sets[index]
                sets[index].formUnion(again)
                again.formIntersection(before)
            }
        }

        /// Counts from zero again: another source, or another file.
        mutating func reset() { sets = sets.map { _ in RangeSet() } }

        /// From now on the file's own digest alone counts. Returns whether those of messages counted before.
        mutating func distrustMessageDigests() -> Bool {
            defer { distrustsMessageDigests = true }
            return !distrustsMessageDigests
        }
    }
}
