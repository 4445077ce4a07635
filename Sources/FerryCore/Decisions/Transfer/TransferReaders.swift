/// The identifier of a reader, unique within a run of a download.
package struct ReaderID: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
}

/// The readers of a file that is being fetched. Each reader receives its bytes in order.
///
/// The bytes that readers need next are fetched before all others. Each reader has a window, which starts at its
/// position.
package struct TransferReaders: Sendable {
    /// The number of bytes after a reader's position that are fetched before all others.
    static let readAhead: ByteCount = 16 << 20

    /// A reader of a file that is being fetched.
    package struct Reader: Sendable {
        /// The bytes that the reader has received.
        package fileprivate(set) var received: Range<ByteCount>
        /// The exclusive end of the bytes to read; not less than the reader's position.
        package let end: ByteCount
        /// The time since which the reader has waited for the byte at its position.
        fileprivate(set) var waitsSince: Duration?
        /// Whether bytes that the reader has received were found to be wrong.
        package fileprivate(set) var isRefuted = false

        /// The offset of the next byte to read.
        package var position: ByteCount { received.upperBound }

        /// The bytes that are fetched before all others.
        var window: Range<ByteCount> { position..<position + min(end - position, TransferReaders.readAhead) }
    }

    package private(set) var all: [ReaderID: Reader] = [:]
    private var last = 0

    var isEmpty: Bool { all.isEmpty }
    package subscript(id: ReaderID) -> Reader? { all[id] }

    /// Adds a reader of a range, which may extend past the end of the file.
    mutating func add(_ range: Range<ByteCount>) -> ReaderID {
        last += 1
        let id = ReaderID(rawValue: last)
        all[id] = Reader(received: range.lowerBound..<range.lowerBound, end: range.upperBound)
        return id
    }

    mutating func remove(_ id: ReaderID) { all[id] = nil }

    /// Records that the reader waits for the byte at its position. Returns `false` if the reader was already waiting.
    mutating func waits(_ id: ReaderID, at now: Duration) -> Bool {
        guard let reader = all[id], reader.waitsSince == nil else { return false }
        all[id]?.waitsSince = now
        return true
    }

    /// Records that the reader has received the bytes from its position to `end`.
    mutating func received(to end: ByteCount, by id: ReaderID) {
        guard let reader = all[id], reader.position <= end, end <= reader.end else { return }
        all[id]?.received = reader.received.lowerBound..<end
        all[id]?.waitsSince = nil
    }

    /// Whether a reader waits for one of these bytes.
    func areAwaiting(_ range: Range<ByteCount>) -> Bool {
        all.values.contains { $0.waitsSince != nil && range.contains($0.position) }
    }

    /// Records that bytes were found to be wrong, so that the readers that received them must not continue.
    mutating func refute(_ ranges: RangeSet<ByteCount>) {
        for (id, reader) in all where !ranges.intersection(RangeSet(reader.received)).isEmpty {
            all[id]?.isRefuted = true
        }
    }
}
