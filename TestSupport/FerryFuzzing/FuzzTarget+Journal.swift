import FerryCore
import FerryEngine
import SystemPackage

extension FuzzTarget {
    static func aria2Control(_ input: [UInt8]) throws(BrokenPromise) {
        guard let control = Aria2ControlFile(input) else { return }
        try promise(control.totalBytes.isSize, "a total of \(control.totalBytes)")
        for range in control.ranges.ranges {
            try promise(
                range.lowerBound >= 0 && range.upperBound <= control.totalBytes && !range.isEmpty,
                "\(range) of \(control.totalBytes)")
        }
    }

    private static let path: FilePath = "/d/a.part.ferry"

    /// The bytes of a whole journal, damaged in any way.
    static func journal(_ input: [UInt8]) throws(BrokenPromise) {
        if case .success(let record) = read(input) { try check(record) }
    }

    /// The texts of two records with a zero byte between them, in a journal with correct seals: the newer one counts,
    /// or the older if the newer is damaged.
    static func journalRecord(_ input: [UInt8]) throws(BrokenPromise) {
        let parts = input.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false).map { Array($0) }
        guard let older = parts.first, let newer = parts.last else { return }
        let needed = max(older.count, newer.count) + JournalSlot.maxHeaderBytes + 2
        let slotBytes = (needed + JournalSlot.alignment - 1) / JournalSlot.alignment * JournalSlot.alignment
        var file = [UInt8](repeating: 0x0A, count: 2 * slotBytes)
        var ends: [Int] = []
        for (sequence, payload) in zip(2..., [older, newer]) {
            let slot = JournalSlot(version: 1, sequence: UInt64(sequence), slotBytes: slotBytes, payload: payload)
            let bytes = slot.encode()
            let start = JournalSlot.index(of: UInt64(sequence)) * slotBytes
            file.replaceSubrange(start..<(start + bytes.count), with: bytes)
            ends.append(start + bytes.count)
        }
        let expected = [text(older), text(newer)]
        for record in expected { if case .success(let record) = record { try check(record) } }
        try promise(read(file) == expected[1], "the newer record is not what was read")
        // Any byte except the final line feed.
        let place = input.reduce(into: 7) { $0 = ($0 &* 31 &+ Int($1)) & 0xFFFF }
        for (index, start) in [0, slotBytes].enumerated() {
            var damaged = file
            damaged[start + place % (ends[index] - 1 - start)] ^= 1 << UInt8(place % 8)
            try promise(read(damaged) == expected[1 - index], "the other record is not what was read")
        }
    }

    private static func read(_ bytes: [UInt8]) -> Result<JournalRecord, JournalError> {
        do throws(JournalError) { return .success(try JournalImage(bytes, path: path).record) } catch {
            return .failure(error)
        }
    }

    private static func text(_ bytes: [UInt8]) -> Result<JournalRecord, JournalError> {
        do throws(JournalError) { return .success(try JournalText.record(bytes, path: path)) } catch {
            return .failure(error)
        }
    }

    private static func check(_ record: JournalRecord) throws(BrokenPromise) {
        try promise(RangeSet(pairs: record.claimed) != nil, "claims that cannot be: \(record.claimed)")
        let end = record.claimed.last?.last ?? 0
        try promise(end <= record.totalBytes ?? .max, "a claim beyond the end: \(end)")
        try promise(DownloadPaths.isBareName(record.name), "no bare name: \(record.name.debugDescription)")
        try promise(DownloadID(rawValue: record.id).isOneLine, "an id: \(record.id.debugDescription)")
        let bytes: [UInt8]
        do throws(JournalError) { bytes = try JournalText.bytes(record, path: path) } catch {
            throw BrokenPromise(description: "cannot be written again: \(error)")
        }
        try promise(text(bytes) == .success(record), "not read again: \(String(decoding: bytes, as: UTF8.self))")
    }
}
