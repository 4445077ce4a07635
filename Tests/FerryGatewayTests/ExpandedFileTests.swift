import FerryTesting
import Foundation
import Testing

@testable import FerryGateway

@Suite("ExpandedFile", .timeLimit(.minutes(10)))
struct ExpandedFileTests {
    /// What `xz` and `gzip` of this machine make of bytes; `nil` without them.
    private static func made(_ program: String, _ words: [String], _ bytes: [UInt8]) throws -> [UInt8]? {
        guard let path = ["/usr/bin/", "/bin/"].map({ $0 + program }).first(where: FileManager.default.fileExists)
        else {
            return nil
        }
        let input = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data(bytes).write(to: input)
        defer { try? FileManager.default.removeItem(at: input) }
        return try RunningProgram.output([path] + words + ["-c"], reading: input.path)
    }

    private static func expanded(_ file: [UInt8], most: Int = 64 << 20) throws -> [UInt8] {
        var content = try ExpandedFile(file, most: most)
        var all: [UInt8] = []
        while let piece = try content.next() { all += piece }
        return all
    }

    /// Texts like those of indexes, bytes that cannot be compressed, runs, and both bounds of a block.
    private static func contents() -> [[UInt8]] {
        var seed: UInt64 = 20_261_128
        func random() -> UInt64 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return seed >> 33
        }
        let text = (0..<3000).map { number in
            "Package: lib\(number % 97)\nFilename: pool/main/l/lib\(number)_\(random() % 9).deb\nSHA256: \(random())\(random())\n\n"
        }.joined()
        let noise = (0..<150_000).map { _ in UInt8(truncatingIfNeeded: random()) }
        return [
            [], [7], Array(text.utf8), noise, [UInt8](repeating: 0, count: 300_000),
            Array(text.utf8) + noise + Array(text.utf8),
        ]
    }

    @Test(
        "ExpandedFile: what gzip and xz have made is read back byte for byte, at every level, also of several parts",
        arguments: [
            ("gzip", ["-1"]), ("gzip", ["-9"]), ("xz", ["-0"]), ("xz", ["-6"]), ("xz", ["-9e"]),
            ("xz", ["--block-size=100000", "--check=sha256"]),
            ("xz", ["--lzma2=lc=0,lp=2,pb=0,dict=4096", "--check=none"]),
        ])
    func whole(program: String, words: [String]) throws {
        for content in Self.contents() {
            guard let file = try Self.made(program, words, content) else { return }
            #expect(try Self.expanded(file) == content, "\(content.count)")
        }
        if program == "gzip", let first = try Self.made(program, words, [1, 2]),
            let second = try Self.made(program, words, [3])
        {
            #expect(try Self.expanded(first + second) == [1, 2, 3])
        }
    }

    @Test("ExpandedFile: plain bytes are themselves, and other forms are refused")
    func forms() throws {
        #expect(try Self.expanded(Array("Package: a\n".utf8)) == Array("Package: a\n".utf8))
        for form in [[0x42, 0x5A, 0x68, 0x39], [0x28, 0xB5, 0x2F, 0xFD], [0x5D, 0, 0, 0x80]] as [[UInt8]] {
            #expect(throws: ExpansionError.unsupported) { try Self.expanded(form) }
        }
    }

    @Test("ExpandedFile: a content beyond the bound ends with an error, before it is held", arguments: ["gzip", "xz"])
    func bound(program: String) throws {
        guard let file = try Self.made(program, [], [UInt8](repeating: 0, count: 8 << 20)) else { return }
        #expect(try Self.expanded(file, most: 8 << 20).count == 8 << 20)
        var content = try ExpandedFile(file, most: 1 << 20)
        var held = 0
        #expect(throws: ExpansionError.tooLarge) { while let piece = try content.next() { held += piece.count } }
        #expect(held <= 1 << 20)
        #expect(try content.next() == nil)
    }

    @Test("ExpandedFile: files that break off or have other bytes end, with an error or other bytes, within the bound")
    func damaged() throws {
        for program in ["gzip", "xz"] {
            guard let file = try Self.made(program, [], Array(Self.contents()[2].prefix(4000))) else { return }
            for end in 0..<file.count { _ = try? Self.expanded(Array(file[..<end]), most: 1 << 20) }
            for index in file.indices {
                for bit in [0, 3, 7] as [UInt8] {
                    var other = file
                    other[index] ^= 1 << bit
                    _ = try? Self.expanded(other, most: 1 << 20)
                }
            }
            #expect(throws: ExpansionError.self) { try Self.expanded(Array(file[..<(file.count / 2)])) }
        }
    }
}
