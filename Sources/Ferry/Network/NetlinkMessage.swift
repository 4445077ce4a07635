/// A message of the kernel's rtnetlink interface (netlink(7), rtnetlink(7)).
struct NetlinkMessage {
    var type: UInt16
    var flags: UInt16
    var sequence: UInt32
    /// The message without its header.
    var payload: ArraySlice<UInt8>

    // Constants of the kernel's ABI (linux/netlink.h, linux/rtnetlink.h).
    static let error: UInt16 = 2
    static let done: UInt16 = 3
    static let newLink: UInt16 = 16
    static let getLink: UInt16 = 18
    static let newAddress: UInt16 = 20
    static let getAddress: UInt16 = 22
    static let newRoute: UInt16 = 24
    static let getRoute: UInt16 = 26
    /// NLM_F_DUMP_INTR: the dump is inconsistent, because its objects changed meanwhile.
    static let wasInterrupted: UInt16 = 0x10

    /// The messages of a datagram, up to the first malformed one.
    static func all(in bytes: ArraySlice<UInt8>) -> [NetlinkMessage] {
        var rest = bytes
        var messages: [NetlinkMessage] = []
        while rest.count >= 16 {
            let length = Int(rest.word(at: 0))
            guard length >= 16, length <= rest.count else { break }
            let kind = rest.word(at: 4)
            messages.append(
                NetlinkMessage(
                    type: UInt16(truncatingIfNeeded: kind), flags: UInt16(truncatingIfNeeded: kind >> 16),
                    sequence: rest.word(at: 8), payload: rest.dropFirst(16).prefix(length - 16)))
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return messages
    }

    /// The attributes after a fixed header of `fixed` bytes; the last of each type is used.
    static func attributes(_ bytes: ArraySlice<UInt8>, after fixed: Int) -> [UInt16: ArraySlice<UInt8>] {
        var rest = bytes.dropFirst(fixed)
        var attributes: [UInt16: ArraySlice<UInt8>] = [:]
        while rest.count >= 4 {
            let head = rest.word(at: 0)
            let length = Int(head & 0xFFFF)
            guard length >= 4, length <= rest.count else { break }
            // The upper two bits are flags (nested, byte order).
            attributes[UInt16(truncatingIfNeeded: head >> 16) & 0x3FFF] = rest.dropFirst(4).prefix(length - 4)
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return attributes
    }

    /// A dump request of a type, for all address families.
    static func dump(_ type: UInt16, sequence: UInt32) -> [UInt8] {
        // NLM_F_REQUEST | NLM_F_DUMP; the longest fixed header (ifinfomsg, 16 bytes) is valid for all types.
        var bytes: [UInt8] = []
        for word in [32, UInt32(type) | 0x301 << 16, sequence, 0, 0, 0, 0, 0] as [UInt32] {
            withUnsafeBytes(of: word) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }
}

extension ArraySlice<UInt8> {
    /// Four bytes in host order, which netlink uses; missing bytes are 0.
    func word(at offset: Int) -> UInt32 {
        var value: UInt32 = 0
        Swift.withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: dropFirst(offset).prefix(4)) }
        return value
    }

    func byte(at offset: Int) -> UInt8 { offset < count ? self[startIndex + offset] : 0 }

    /// The text up to the first NUL.
    var text: String { String(decoding: prefix { $0 != 0 }, as: UTF8.self) }
}
