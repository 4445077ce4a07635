import FerryTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30)))
struct DeterministicBytesTests {
    @Test("DeterministicBytes: a piece at any offset equals that piece of the whole")
    func pieces() {
        let bytes = DeterministicBytes(seed: 42)
        let whole = bytes.bytes(0..<200_000)
        for (offset, count) in [
            (0, 1), (1, 7), (3, 61), (7, 200), (63, 2), (64, 64), (65_530, 20), (65_535, 70_000), (131_071, 3),
            (199_999, 1),
        ] {
            #expect(bytes.bytes(Int64(offset)..<Int64(offset + count)) == Array(whole[offset..<offset + count]))
        }
    }

    @Test("DeterministicBytes: every line of 64 bytes differs under another seed")
    func seedsDiffer() {
        let one = DeterministicBytes(seed: 1).bytes(0..<262_144)
        let two = DeterministicBytes(seed: 2).bytes(0..<262_144)
        for line in stride(from: 0, to: one.count, by: 64) where one[line..<line + 64] == two[line..<line + 64] {
            Issue.record("line at \(line) is equal")
        }
    }

    @Test("DeterministicBytes: every line of 64 bytes differs from every other line")
    func linesDiffer() {
        let bytes = DeterministicBytes(seed: 3).bytes(0..<1_048_576)
        let lines = Set(stride(from: 0, to: bytes.count, by: 64).map { Array(bytes[$0..<$0 + 64]) })
        #expect(lines.count == bytes.count / 64)
    }

    @Test("DeterministicBytes: offsets of terabytes and near the largest Int64 work")
    func farOffsets() {
        let bytes = DeterministicBytes(seed: 4)
        let far: Int64 = 5_000_000_000_000
        #expect(Array(bytes.bytes(far..<far + 100)[50...]) == bytes.bytes(far + 50..<far + 100))
        #expect(bytes.bytes(Int64.max - 10..<Int64.max).count == 10)
    }

    @Test("DeterministicBytes: all byte values occur about equally often")
    func looksRandom() {
        var counts = [Int](repeating: 0, count: 256)
        for byte in DeterministicBytes(seed: 5).bytes(0..<1_048_576) { counts[Int(byte)] += 1 }
        #expect(counts.allSatisfy { (3_500...4_700).contains($0) })
    }

    @Test("DeterministicBytes: comparing a file reports its length or the first wrong byte")
    func compare() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "ferry-bytes-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let bytes = DeterministicBytes(seed: 6)
        var content = bytes.bytes(0..<3_000_000)
        try Data(content).write(to: URL(fileURLWithPath: path))
        #expect(bytes.compare(file: path, size: 3_000_000) == .equal)
        #expect(bytes.compare(file: path, size: 3_000_001) == .length(3_000_000))
        #expect(bytes.compare(file: path, size: 2_999_999) == .length(3_000_000))
        #expect(DeterministicBytes(seed: 7).compare(file: path, size: 3_000_000) == .differs(at: 0))
        content[2_345_678] ^= 1
        try Data(content).write(to: URL(fileURLWithPath: path))
        #expect(bytes.compare(file: path, size: 3_000_000) == .differs(at: 2_345_678))
        #expect(bytes.compare(file: path, ranges: [0..<2_345_678, 2_345_679..<3_000_000]) == .equal)
        #expect(bytes.compare(file: path + "x", size: 1) == .unreadable(ENOENT))
    }

    @Test(
        "Resource: SHA-256 of the examples of FIPS 180-4 is the published one",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func sha256(text: String, hex: String) {
        #expect(Resource(text: text).sha256 == hex)
    }
}
