import Crypto
import FerryCore

/// One of the two slots of a journal: a header line followed by the record as text.
///
///     ferry-journal 1 seq=42 slot=8192 length=713 sha256=0123456789abcdef0123456789abcdef
///     {…713 bytes…}
///
/// The checksum is the first half of the SHA-256 of the header up to ` sha256=`, a line feed, and the record. Unlike a CRC it
/// can be computed by hand with `sha256sum`, and its cost is small compared to the sync. The parity of `seq` determines the slot
/// (even numbers use the first), so that a slot copied over the other does not count.
///
/// All versions of the format share the form of the header, which distinguishes a newer journal from a damaged one.
package struct JournalSlot: Hashable {
    static let magic = "ferry-journal "
    /// Slots begin at multiples of this, so that no page or sector contains bytes of both.
    package static let alignment = 4096
    /// The maximum length of a header.
    package static let maxHeaderBytes = 160

    var version: Int
    var sequence: UInt64
    /// The size of each slot: half of the file.
    var slotBytes: Int
    var payload: [UInt8]

    /// Returns the slot of a sequence number: 0 or 1.
    package static func index(of sequence: UInt64) -> Int { Int(sequence & 1) }

    /// Returns the header, the record and a final line feed.
    package func encode() -> [UInt8] {
        let header = "\(Self.magic)\(version) seq=\(sequence) slot=\(slotBytes) length=\(payload.count)"
        var bytes = Array("\(header) sha256=\(Self.checksum(header, payload[...]))\n".utf8)
        bytes.reserveCapacity(bytes.count + payload.count + 1)
        bytes += payload
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// Parses the slot at `offset`; `nil` if it is incomplete or in the wrong place.
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
        // Validate the size before it is used for any computation or write.
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

    /// Returns the slot size according to the first header, even if that slot is otherwise damaged.
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

    /// Parses a number in canonical form: digits only, no leading zeros.
    private static func number(_ text: Substring, _ label: String = "") -> UInt64? {
        guard let digits = text.dropping(prefix: label), let number = UInt64(digits), String(number) == digits else {
            return nil
        }
        return number
    }
}
