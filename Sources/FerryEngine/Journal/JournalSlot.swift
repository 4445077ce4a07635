import Crypto
import FerryCore

/// One of the two places in a journal: a header line and, after it, the record as text.
///
///     ferry-journal 1 seq=42 slot=8192 length=713 sha256=0123456789abcdef0123456789abcdef
///     {…713 bytes…}
///
/// The checksum is the first half of the SHA-256 of the header up to ` sha256=`, a line feed, and the record: any
/// machine has the tool to compute it by hand, it is no code of ours, and it costs little beside the sync. `seq` tells
/// which slot it is, even ones are in the first; so a copy of one slot over the other counts for nothing.
///
/// The header's form belongs to every version of the format: a newer one can so be told from a damaged one.
package struct JournalSlot: Hashable {
    static let magic = "ferry-journal "
    /// The slots begin at multiples of this, so that one page, and one sector, never holds bytes of both.
    package static let alignment = 4096
    /// No header is longer.
    package static let maxHeaderBytes = 160

    var version: Int
    var sequence: UInt64
    /// The size of each slot of this file: half of it.
    var slotBytes: Int
    var payload: [UInt8]

    /// Which slot a sequence number goes to: 0 or 1.
    package static func index(of sequence: UInt64) -> Int { Int(sequence & 1) }

    /// Header, record and the line feed at its end.
    package func encode() -> [UInt8] {
        let header = "\(Self.magic)\(version) seq=\(sequence) slot=\(slotBytes) length=\(payload.count)"
        var bytes = Array("\(header) sha256=\(Self.checksum(header, payload[...]))\n".utf8)
        bytes.reserveCapacity(bytes.count + payload.count + 1)
        bytes += payload
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// Reads what begins at `offset`; `nil` when it is not whole, or not in its place.
    init?(_ file: [UInt8], at offset: Int) {
        guard file.indices.contains(offset) else { return nil }
        let head = file[offset...].prefix(Self.maxHeaderBytes)
        guard let end = head.firstIndex(of: UInt8(ascii: "\n")),
            let line = String(validating: file[offset..<end], as: UTF8.self), line.utf8.hasPrefix(Self.magic)
        else { return nil }
        let words = line.split(at: " ", omittingEmptySubsequences: false)
        guard words.count == 6, let version = Self.number(words[1]).flatMap(Int.init(exactly:)), version >= 1,
            let sequence = Self.number(words[2], "seq="),
            let slotBytes = Self.number(words[3], "slot=").flatMap(Int.init(exactly:)),
            let length = Self.number(words[4], "length=").flatMap(Int.init(exactly:)),
            words[5].utf8.hasPrefix("sha256=")
        else { return nil }
        // Before anything is computed with it, or written into a slot of this size.
        guard slotBytes > 0, slotBytes % Self.alignment == 0, slotBytes <= JournalImage.maxBytes / 2,
            file.count == 2 * slotBytes
        else { return nil }
        guard offset == Self.index(of: sequence) * slotBytes else { return nil }
        guard length <= file.count, end + 1 <= file.count - length, end + 1 - offset <= slotBytes - length
        else { return nil }
        let payload = file[(end + 1)..<(end + 1 + length)]
        let header = line.prefix(upTo: line.index(words[5].startIndex, offsetBy: -1))
        guard words[5].dropping(prefix: "sha256=") ?? "" == Self.checksum(String(header), payload) else { return nil }
        self.version = version
        self.sequence = sequence
        self.slotBytes = slotBytes
        self.payload = Array(payload)
    }

    package init(version: Int, sequence: UInt64, slotBytes: Int, payload: [UInt8]) {
        self.version = version
        self.sequence = sequence
        self.slotBytes = slotBytes
        self.payload = payload
    }

    /// The slot size that a header at the beginning claims, whether the rest of it is whole or not.
    static func claimedSlotBytes(_ file: [UInt8]) -> Int? {
        let line = String(decoding: file.prefix(maxHeaderBytes), as: UTF8.self)
        let words = (line.split(at: "\n", maxSplits: 1).first ?? "").split(at: " ")
        guard words.count > 3, line.utf8.hasPrefix(magic) else { return nil }
        return number(words[3], "slot=").flatMap(Int.init(exactly:))
    }

    private static func checksum(_ header: String, _ payload: ArraySlice<UInt8>) -> String {
        var hash = SHA256()
        hash.update(data: Array(header.utf8))
        hash.update(data: [UInt8(ascii: "\n")])
        payload.withUnsafeBytes { hash.update(bufferPointer: $0) }
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: hash.finalize().prefix(16).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self
        )
    }

    /// A number written the one way that we write numbers: digits alone, no zeros in front.
    private static func number(_ text: Substring, _ label: String = "") -> UInt64? {
        guard let digits = text.dropping(prefix: label), let number = UInt64(digits), String(number) == digits else {
            return nil
        }
        return number
    }
}
