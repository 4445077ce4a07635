import Crypto
package import FerryCore

/// The value of `user.ferry.source`: the source URL of a published file and the file's state at publication.
///
/// Lines of text: `ferry 1`, the SHA-256 of the URL, the length, the modification time as `seconds.nanoseconds`, the ETag
/// and Last-Modified (empty if missing), and the digest of the file, `sha-256=HEX`, if it was computed.
package struct SourceAttribute: Sendable, Hashable {
    package static let name = "user.ferry.source"
    /// The maximum size of the value in bytes, so that it fits into the inode or one block beside it.
    package static let maxBytes = 3_072
    /// The maximum size of one validator in bytes; a longer one is omitted.
    static let maxValidatorBytes = 1_100

    /// The SHA-256 of the URL's text, 64 hexadecimal digits.
    package let urlDigest: String
    package let etag: String?
    package let lastModified: String?
    package let length: ByteCount
    package let modified: FileTime
    package private(set) var checksum: Checksum?

    package init(_ source: FileSource, length: ByteCount, modified: FileTime) {
        urlDigest = Self.digest(ofURL: source.url)
        etag = source.etag.flatMap(Self.oneLine)
        lastModified = source.lastModified.flatMap(Self.oneLine)
        self.length = length
        self.modified = modified
        checksum = source.checksum
    }

    /// The attribute with the digest of the file.
    func with(_ checksum: Checksum) -> SourceAttribute {
        var attribute = self
        attribute.checksum = checksum
        return attribute
    }

    package func encode() -> [UInt8] {
        var lines = [
            "ferry 1", urlDigest, "\(length)", "\(modified.seconds).\(modified.nanoseconds)", etag ?? "",
            lastModified ?? "",
        ]
        if let checksum { lines.append(checksum.description) }
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// Parses a value; `nil` if it is malformed.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.maxBytes, let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let lines = text.split(at: "\n", omittingEmptySubsequences: false).map(String.init)
        guard 6...7 ~= lines.count, lines[0] == "ferry 1" else { return nil }
        guard lines[1].utf8.count == 64, lines[1].utf8.allSatisfy(Self.isHexDigit) else { return nil }
        guard let length = ByteCount(lines[2]), length >= 0 else { return nil }
        let time = lines[3].split(at: ".", omittingEmptySubsequences: false)
        guard time.count == 2, let seconds = Int64(time[0]), let nanoseconds = Int32(time[1]),
            0..<1_000_000_000 ~= nanoseconds
        else { return nil }
        urlDigest = lines[1]
        self.length = length
        modified = FileTime(seconds: seconds, nanoseconds: nanoseconds)
        etag = lines[4].isEmpty ? nil : lines[4]
        lastModified = lines[5].isEmpty ? nil : lines[5]
        checksum = lines.count == 7 ? try? Checksum(parsing: lines[6]) : nil
        guard lines.count == 6 || checksum != nil else { return nil }
        guard [etag, lastModified].allSatisfy({ $0 == nil || $0.flatMap(Self.oneLine) != nil }) else { return nil }
    }

    /// Reads the attribute of an open file; `nil` if it is missing or unusable.
    package static func read(_ file: any File) -> SourceAttribute? {
        (try? file.attribute(name)).flatMap { $0 }.flatMap(SourceAttribute.init)
    }

    /// Returns whether the attribute belongs to this URL, and the file's length and time are unchanged.
    package func matches(url: String, _ status: FileStatus) -> Bool {
        isOf(status) && isFrom(url: url)
    }

    /// Returns whether the attribute belongs to this URL.
    package func isFrom(url: String) -> Bool {
        urlDigest == Self.digest(ofURL: url)
            || DownloadURL.earlierText(of: url).map { urlDigest == Self.digest(ofURL: $0) } ?? false
    }

    /// Returns whether the file's length and time are unchanged.
    package func isOf(_ status: FileStatus) -> Bool {
        status.kind == .regular && length == status.length && modified == status.modified
    }

    private static func digest(ofURL url: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(64)
        for byte in SHA256.hash(data: Array(url.utf8)) {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns a validator that fits on one line; `nil` otherwise.
    private static func oneLine(_ text: String) -> String? {
        guard !text.isEmpty, text.utf8.count <= maxValidatorBytes, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
        else { return nil }
        return text
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
    }
}
