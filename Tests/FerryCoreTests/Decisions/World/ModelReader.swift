import FerryCore

/// A reader of the file in a model world.
struct ModelReader {
    var range: Range<ByteCount>
    /// When it begins, in seconds.
    var start: Double
    /// The bytes that it reads in a step.
    var appetite: ByteCount = .max
    var id: ReaderID?
    var position: ByteCount
    /// The file that it read from was replaced, or some of its bytes were wrong.
    var isLost = false
    /// The contents of which it has bytes.
    var contents: Set<Int> = []
    /// Bytes received and requests made by the download when the reader began, and when it had its first bytes.
    var begun: (bytes: ByteCount, requests: Int)?
    var served: (bytes: ByteCount, requests: Int)?
    /// When it had all bytes, in seconds.
    var end: Double?

    init(_ range: Range<ByteCount>, at start: Double = 0) {
        (self.range, self.start, position) = (range, start, range.lowerBound)
    }
}

extension World {
    mutating func moveReaders() {
        for index in readers.indices where !readers[index].isLost && now >= readers[index].start { move(index) }
    }

    private mutating func move(_ index: Int) {
        var reader = readers[index]
        defer { readers[index] = reader }
        if reader.id == nil {
            guard machine.file.representation != nil else { return }
            reader.id = machine.addReader(of: reader.range)
            reader.begun = (machine.receivedBytes, requests)
        }
        guard let id = reader.id, let known = machine.readers[id] else { return }
        if known.isRefuted {
            machine.removeReader(id)
            return reader.isLost = true
        }
        var left = reader.appetite
        while left > 0, let range = machine.available(to: id, most: min(left, 256 << 10)) {
            if range.lowerBound != reader.position { violations.append("a reader got \(range) at \(reader.position)") }
            let whole = file.values.reduce(RangeSet()) { $0.union($1) }
            if !whole.holds(range) { violations.append("a reader got \(range), which was not written") }
            for (content, ranges) in file where !ranges.intersection(RangeSet(range)).isEmpty {
                reader.contents.insert(content)
            }
            if reader.served == nil { reader.served = (machine.receivedBytes, requests) }
            machine.readerReceived(to: range.upperBound, by: id)
            reader.position = range.upperBound
            left -= range.upperBound - range.lowerBound
        }
        if reader.position >= min(reader.range.upperBound, machine.bytes.end) {
            machine.removeReader(id)
            reader.end = now
        } else if machine.readerWaits(id, at: Duration.milliseconds(Int64((now * 1000).rounded()))) {
            isRung = true
        }
    }

    /// The file is replaced: its readers end, as they have the old one open.
    mutating func loseReaders() {
        for index in readers.indices {
            guard let id = readers[index].id else { continue }
            if !readers[index].contents.isEmpty { readers[index].isLost = true }
            machine.removeReader(id)
            if !readers[index].isLost { readers[index].id = nil }
        }
    }
}
