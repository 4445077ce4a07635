import FerryCore

/// The name of the file with a download's secrets.
enum SecretFileName {
    /// The suffix of a file that is being written.
    static let draftSuffix = ".new"

    /// A name that is valid and unique on every file system, also on case-insensitive ones: keeps lower-case letters,
    /// digits, `-` and `_`, and encodes other bytes as `%xx`. An empty or too long name becomes `~` and a hash.
    static func make(_ id: DownloadID) -> String {
        var name: [UInt8] = []
        for byte in id.rawValue.utf8 {
            if isPlain(byte) {
                name.append(byte)
            } else {
                name += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        guard !name.isEmpty, name.count <= 200 else {
            return "~" + hash(id, 0xcbf2_9ce4_8422_2325) + hash(id, 0x9ae1_6a3b_2f90_404f)
        }
        return String(decoding: name, as: UTF8.self)
    }

    /// Whether the name has the form of ``make(_:)`` or of a draft of it.
    static func isOurs(_ name: String) -> Bool {
        let stem = name.dropping(suffix: draftSuffix) ?? name[...]
        return !stem.isEmpty
            && stem.utf8.allSatisfy { isPlain($0) || $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "~") }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { Array("0123456789abcdef".utf8)[Int(value)] }

    /// FNV-1a, 64 bits, as 16 hexadecimal digits.
    private static func hash(_ id: DownloadID, _ seed: UInt64) -> String {
        var value = seed
        for byte in id.rawValue.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let text = String(value, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}
