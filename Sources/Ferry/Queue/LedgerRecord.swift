import FerryCore

/// One record of a ``RunLedger``: 512 bytes, a line of text padded with newlines. Pure.
///
///     89abcdef runs 2 4f1c…-… 13 0123456789abc
///
/// The fields are the CRC-32 of the rest, whether the download is running, the number of processes that died under
/// it, the boot identifier of that count, and the download's identifier preceded by its length in bytes.
struct LedgerRecord: Sendable, Hashable {
    /// The size of a record; a record is written with one call and does not cross a page.
    static let bytes = 512
    /// The padding of records.
    static let blank = UInt8(ascii: "\n")
    /// Maximum bytes of an identifier.
    static let mostKeyBytes = 384

    var key: [UInt8]
    var deaths: Int
    var isRunning: Bool
    var boot: String

    init(key: [UInt8], deaths: Int, isRunning: Bool, boot: String) {
        self.key = key
        self.deaths = deaths
        self.isRunning = isRunning
        self.boot = String(boot.filter { $0 != " " && $0 != "\n" }.prefix(64))
    }

    /// `nil` for a blank record, and for one that is truncated or fails its checksum.
    init?(_ record: ArraySlice<UInt8>) {
        let words = record.split(separator: UInt8(ascii: " "), maxSplits: 5, omittingEmptySubsequences: false)
        guard words.count == 6, let start = words.dropFirst().first?.startIndex,
            let count = Self.number(words[4]), count <= Self.mostKeyBytes, words[5].count >= count
        else { return nil }
        let end = words[5].startIndex + count
        guard Self.number(words[0], radix: 16) == Int(CRC32.checksum(record[start..<end])),
            let deaths = Self.number(words[2]), deaths <= 1000
        else { return nil }
        let word = String(decoding: words[1], as: UTF8.self)
        guard word == "runs" || word == "waits" else { return nil }
        self.init(
            key: Array(words[5].prefix(count)), deaths: deaths, isRunning: word == "runs",
            boot: String(decoding: words[3], as: UTF8.self))
    }

    private static func number(_ text: ArraySlice<UInt8>, radix: Int = 10) -> Int? {
        guard text.count <= 8, text.allSatisfy({ $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "+") }) else {
            return nil
        }
        return Int(String(decoding: text, as: UTF8.self), radix: radix)
    }

    /// The padded record.
    var encoded: [UInt8] {
        let line = "\(isRunning ? "runs" : "waits") \(deaths) \(boot) \(key.count) "
        let sealed = Array(line.utf8) + key
        let text = String(CRC32.checksum(sealed), radix: 16) + " "
        let bytes = Array(text.utf8) + sealed
        return bytes + [UInt8](repeating: Self.blank, count: max(0, Self.bytes - bytes.count))
    }
}
