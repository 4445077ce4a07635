import FerryBrowser
import Foundation
import Testing

@Suite("NativeMessage") struct NativeMessageTests {
    /// Reads all messages of these bytes.
    private func messages(_ bytes: [UInt8]) throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appending(path: "ferry-message-\(UUID().uuidString)")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let handle = try FileHandle(forReadingFrom: file)
        var found: [String] = []
        while let body = try NativeMessage.read(from: handle.fileDescriptor) {
            found.append(String(decoding: body, as: UTF8.self))
        }
        return found
    }

    @Test("NativeMessage: what is framed is read again, message by message, until the end of the stream")
    func roundTrip() throws {
        let texts = ["{}", #"{"a":"中文"}"#, String(repeating: "x", count: 70_000)]
        let bytes = try texts.flatMap { try #require(NativeMessage.frame(Data($0.utf8))) }
        #expect(try messages(bytes) == texts)
        #expect(try messages([]) == [])
    }

    @Test(
        "NativeMessage: a cut message, an empty one and one over 1 MiB are refused",
        arguments: [
            [1, 0], [0, 0, 0, 0], [2, 0, 0, 0, 0x7B], [5, 0, 0, 0], [1, 0, 16, 0] + [UInt8](repeating: 0x20, count: 9),
            [0xFF, 0xFF, 0xFF, 0xFF, 0x7B],
        ] as [[UInt8]])
    func refused(bytes: [UInt8]) {
        #expect(throws: NativeMessage.Malformed.self) { try messages(bytes) }
    }

    @Test("NativeMessage: a text over 1 MiB is not framed, one of exactly 1 MiB is")
    func bounds() {
        #expect(NativeMessage.frame(Data(count: NativeMessage.mostBytes))?.count == NativeMessage.mostBytes + 4)
        #expect(NativeMessage.frame(Data(count: NativeMessage.mostBytes + 1)) == nil)
        #expect(NativeMessage.frame(Data()) == nil)
    }
}
