import FerryCore
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("SourceAttribute")
struct SourceAttributeTests {
    let time = FileTime(seconds: 784_111_777, nanoseconds: 12)

    private func status(length: ByteCount, _ time: FileTime) -> FileStatus {
        FileStatus(
            device: 1, inode: 2, length: length, allocatedBytes: 0, mode: 0o644, owner: 0, group: 0, modified: time,
            linkCount: 1, kind: .regular)
    }

    @Test("SourceAttribute: encoding and decoding give the same attribute")
    func roundTrip() throws {
        let source = FileSource(url: "http://h/?a=b", etag: "W/\"x\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
        let attribute = SourceAttribute(source, length: .max, modified: FileTime(seconds: -5, nanoseconds: 7))
        #expect(SourceAttribute(attribute.encode()) == attribute)
        #expect(attribute.encode().count < SourceAttribute.maxBytes)
    }

    @Test("SourceAttribute: the encoded form contains the digest of the URL, not the URL")
    func noURL() {
        let text = String(
            decoding: SourceAttribute(FileSource(url: "http://h/?secret=s3cr3t"), length: 1, modified: time).encode(),
            as: UTF8.self)
        #expect(!text.contains("s3cr3t"))
    }

    @Test("SourceAttribute: it matches only the same URL, length and modification time")
    func matching() {
        let attribute = SourceAttribute(FileSource(url: "http://h/a"), length: 5, modified: time)
        #expect(attribute.matches(url: "http://h/a", status(length: 5, time)))
        #expect(!attribute.matches(url: "http://h/b", status(length: 5, time)))
        #expect(!attribute.matches(url: "http://h/a", status(length: 6, time)))
        #expect(!attribute.matches(url: "http://h/a", status(length: 5, FileTime(seconds: 1))))
    }

    @Test(
        "SourceAttribute: a validator that is too long or holds control bytes is left out",
        arguments: [String(repeating: "x", count: 5000), "a\nb", "a\0", ""])
    func bounded(etag: String) {
        let attribute = SourceAttribute(FileSource(url: "u", etag: etag), length: 5, modified: time)
        #expect(attribute.etag == nil)
        #expect(SourceAttribute(attribute.encode()) == attribute)
    }

    @Test(
        "SourceAttribute: malformed text decodes to nil",
        arguments: ["", "ferry 1", "ferry 2\n\n\n\n\n", "ferry 1\nxx\n1\n1.1\n\n", "\u{0}"])
    func garbage(text: String) { #expect(SourceAttribute(Array(text.utf8)) == nil) }

    @Test("SourceAttribute: flipped or cut bytes decode to nil or a valid length, never to a trap")
    func flips() {
        let bytes = SourceAttribute(FileSource(url: "u", etag: "\"e\""), length: 5, modified: time).encode()
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x80
            if let read = SourceAttribute(changed) { #expect(read.length >= 0) }
            _ = SourceAttribute(Array(bytes[..<index]))
        }
        #expect(SourceAttribute([UInt8](repeating: 0x0a, count: 100_000)) == nil)
    }
}
