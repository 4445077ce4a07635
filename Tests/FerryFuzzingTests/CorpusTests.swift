import FerryFuzzing
import Foundation
import Testing

@Suite("Fuzzer corpus", .timeLimit(.minutes(30)))
struct CorpusTests {
    @Test("Fuzz targets: no stored input breaks a promise", arguments: FuzzTarget.all)
    func replay(target: FuzzTarget) throws {
        let inputs = try Corpus.inputs(of: target)
        #expect(inputs.count >= 3, "nothing to replay")
        for (name, input) in inputs {
            #expect(throws: Never.self, "\(target)/\(name)") { try target.check(input) }
        }
    }

    @Test("Corpus: it has one folder for each target and no other")
    func folders() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Corpus.folder.path)
        #expect(names.sorted() == FuzzTarget.all.map(\.name).sorted())
    }

    @Test("Fuzz targets: a stored input that is cut or has a flipped bit breaks no promise", arguments: FuzzTarget.all)
    func damage(target: FuzzTarget) throws {
        for (name, input) in try Corpus.inputs(of: target).prefix(12) where !input.isEmpty {
            for step in 0..<24 {
                let place = step * input.count / 24
                var changed = input
                changed[place] ^= 1 << UInt8(step % 8)
                for candidate in [changed, Array(input[..<place]), Array(input[place...] + input[..<place])] {
                    #expect(throws: Never.self, "\(target)/\(name) at \(place)") { try target.check(candidate) }
                }
            }
        }
    }

    /// A parser with quadratic work would exceed the time limit.
    @Test("Fuzz targets: a stored input repeated for 128 KiB breaks no promise", arguments: FuzzTarget.all)
    func long(target: FuzzTarget) throws {
        for (name, input) in try Corpus.inputs(of: target).prefix(6) where !input.isEmpty {
            let count = 128 * 1024 / input.count + 1
            let long = Array([[UInt8]](repeating: input, count: count).joined())
            #expect(throws: Never.self, "\(target)/\(name), \(count) times") { try target.check(long) }
        }
    }
}

/// `Fuzz/Corpus`.
enum Corpus {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fuzz/Corpus")

    static func inputs(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        let folder = folder.appending(path: target.name)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            (name, [UInt8](try Data(contentsOf: folder.appending(path: name))))
        }
    }
}
