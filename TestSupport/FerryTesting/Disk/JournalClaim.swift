import FerryCore
import FerryEngine
import Foundation

/// The contents of one journal slot, decoded from `docs/journal-format.md` independently of the engine's reader.
struct JournalClaim: Sendable {
    var sequence: UInt64
    var slotBytes: Int
    var record: JournalRecord
    /// The step that wrote the slot.
    var tag = 0
    /// Whether a sync has made the slot durable.
    var isStable = false
    /// Whether the claimed bytes must not change. A claim is void if its bytes were not synced before a restart, or if its part
    /// file is gone, because another file may then get the inode number.
    var isBinding = true

    var ranges: RangeSet<ByteCount> { RangeSet(pairs: record.claimed) ?? RangeSet() }

    private static let magic = Array("ferry-journal ".utf8)

    /// Decodes the slot at `offset`; `nil` if no complete slot begins there.
    init?(_ bytes: [UInt8], at offset: Int) {
        guard offset < bytes.count, bytes[offset...].starts(with: Self.magic),
            let end = bytes[offset...].prefix(160).firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        let header = bytes[offset..<end]
        let words = String(decoding: header, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, let sequence = UInt64(words[2].dropFirst(4)), let slot = Int(words[3].dropFirst(5)),
            let length = Int(words[4].dropFirst(7)), length >= 0, end + 1 + length <= bytes.count
        else { return nil }
        let text = bytes[end + 1..<end + 1 + length]
        let signed = Array(header.dropLast(words[5].utf8.count + 1)) + [UInt8(ascii: "\n")] + text
        guard words[5].dropFirst(7) == Hex.text(Array(ByteDigest.of(signed, .sha256).prefix(16))),
            let record = try? JSONDecoder().decode(JournalRecord.self, from: Data(text))
        else { return nil }
        self.sequence = sequence
        slotBytes = slot
        self.record = record
    }

    /// Returns all slots that begin in these bytes, which start at `start` in the file, by their offset in the file.
    static func all(in bytes: [UInt8], at start: Int = 0) -> [Int: JournalClaim] {
        var found: [Int: JournalClaim] = [:]
        var offset = (4096 - start % 4096) % 4096
        while offset < bytes.count {
            if let claim = JournalClaim(bytes, at: offset),
                start + offset == Int(claim.sequence & 1) * claim.slotBytes
            {
                found[start + offset] = claim
            }
            offset += 4096
        }
        return found
    }
}
