import FerryCore
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("Preparation: finished files and half files", .timeLimit(.minutes(10)))
struct PreparationFileTests {
    private static let right = Checksum(
        algorithm: .sha256, bytes: ByteDigest.of([UInt8](repeating: 7, count: 300), .sha256))
    private static let wrong = "sha-256=" + String(repeating: "0", count: 64)
    private static let other = "http://other.test/f"

    static let finished: [PreparationRow] = [
        .init("a file of another program", "fresh", leaves: ["f"]) { try $0.put("f") },
        .init("a file of this URL", "fresh unless current: f", leaves: ["f"]) { try $0.finished() },
        .init("a file of another URL", "fresh", leaves: ["f"]) { try $0.finished(url: other) },
        .init("a file of this URL without validators", "fresh", leaves: ["f"]) { try $0.finished(etag: nil) },
        .init("a file of this URL, changed since", "fresh", leaves: ["f"]) {
            try $0.finished()
            try $0.put("f", [1, 2, 3])
        },
        .init("a file of this URL under a numbered name", "fresh unless current: f (1)", leaves: ["f", "f (1)"]) {
            try $0.put("f")
            try $0.finished("f (1)")
        },
        .init("a weak validator", "fresh unless current: f", leaves: ["f"]) { try $0.finished(etag: "W/\"one\"") },
        .init("a weak validator, when only strong proof counts", "fresh", leaves: ["f"]) {
            try $0.finished(etag: "W/\"one\"")
            $0.request.trust.strict = true
        },
        .init("a file of this URL that is to be fetched again", "fresh", leaves: ["f"]) {
            try $0.finished()
            $0.context.ignoresFinished = true
        },
        .init("a file with the digest", "finished f digest", leaves: ["f"]) {
            try $0.put("f")
            $0.request.checksum = right
        },
        .init("a file with another digest", "fresh", leaves: ["f"], notes: ["another digest"]) {
            try $0.finished()
            $0.request.checksum = try Checksum(parsing: wrong)
        },
        .init("a directory with the name", "fresh", leaves: ["f"]) { try $0.makeDirectory("f") },
        .init("a link with the name", "fresh", leaves: ["elsewhere", "f"]) {
            try $0.finished("elsewhere")
            try $0.link("f", to: $0.directory.file("elsewhere").string)
        },
    ]

    static let rules: [PreparationRow] = [
        .init("skip, and a file with the name", "finished f none", leaves: ["f"], notes: ["skipped"]) {
            try $0.put("f")
            $0.request.onConflict = .skip
        },
        .init("skip, and a file with the digest", "finished f digest", leaves: ["f"]) {
            try $0.put("f")
            ($0.request.onConflict, $0.request.checksum) = (.skip, right)
        },
        .init("skip, and a file with another digest", "failed conflict", leaves: ["f"]) {
            try $0.put("f")
            ($0.request.onConflict, $0.request.checksum) = (.skip, try Checksum(parsing: wrong))
        },
        .init("fail, and a file with the name: the server may choose another", "fresh", leaves: ["f"]) {
            try $0.put("f")
            $0.request.onConflict = .fail
        },
        .init("overwrite, and a file with the name", "fresh", leaves: ["f"]) {
            try $0.put("f")
            $0.request.onConflict = .overwrite
        },
        .init("rename, and a part file beside a file", "resume f.part 0-100", leaves: ["f", "f.part", "f.part.ferry"]) {
            try $0.put("f")
            try $0.pair()
        },
        .init(
            "overwrite, and a part file beside a file", "resume f.part 0-100", leaves: ["f", "f.part", "f.part.ferry"]
        ) {
            try $0.put("f")
            try $0.pair()
            $0.request.onConflict = .overwrite
        },
        .init(
            "skip, and a part file beside a file", "finished f none", leaves: ["f", "f.part", "f.part.ferry"],
            notes: ["skipped"]
        ) {
            try $0.put("f")
            try $0.pair()
            $0.request.onConflict = .skip
        },
        .init(
            "skip without a URL, and a named part file beside a file", "finished f none",
            leaves: ["f", "f.part", "f.part.ferry"], notes: ["skipped"]
        ) {
            try $0.put("f")
            try $0.pair()
            ($0.request.onConflict, $0.request.sources) = (.skip, [])
            $0.request.destination = .part($0.directory.file("f.part").string)
        },
        .init(
            "skip, and a part file beside a directory", "failed conflict", leaves: ["f", "f.part", "f.part.ferry"]
        ) {
            try $0.makeDirectory("f")
            try $0.pair()
            $0.request.onConflict = .skip
        },
        .init("fail, and a part file beside a file", "failed conflict", leaves: ["f", "f.part", "f.part.ferry"]) {
            try $0.put("f")
            try $0.pair()
            $0.request.onConflict = .fail
        },
        .init("fail, and a part file alone", "resume f.part 0-100", leaves: ["f.part", "f.part.ferry"]) {
            try $0.pair()
            $0.request.onConflict = .fail
        },
    ]

    static let halves: [PreparationRow] = [
        .init("the file of curl or wget", "compare f 0-100", leaves: ["f"]) {
            try $0.put("f", [UInt8](repeating: 7, count: 100))
            $0.request.destination = .part($0.directory.file("f").string)
        },
        .init("the part file of a browser", "compare f.part 0-100", leaves: ["f.part"]) {
            try $0.put("f.part", [UInt8](repeating: 7, count: 100))
            $0.request.destination = .part($0.directory.file("f.part").string)
        },
        .init("the part file of Chromium", "compare f.crdownload 0-100", leaves: ["f.crdownload"]) {
            try $0.put("f.crdownload", [UInt8](repeating: 7, count: 100))
            $0.request.destination = .part($0.directory.file("f.crdownload").string)
        },
        .init("a file of aria2 with some pieces", "compare f 0-100,200-300", leaves: ["f", "f.aria2"]) {
            try $0.put("f")
            try $0.control(of: "f", pieces: 0b1010_0000)
            $0.request.destination = .part($0.directory.file("f").string)
        },
        .init("a file of aria2 that is shorter than its pieces", "compare f 0-100,200-250", leaves: ["f", "f.aria2"]) {
            try $0.put("f", [UInt8](repeating: 7, count: 250))
            try $0.control(of: "f", pieces: 0b1010_0000)
            $0.request.destination = .part($0.directory.file("f").string)
        },
        .init(
            "space that aria2 has reserved", "fresh replacing reserved space", leaves: ["f", "f.aria2"],
            notes: ["aria2 has noted no piece"]
        ) {
            try $0.put("f", [UInt8](repeating: 0, count: 300))
            try $0.control(of: "f", pieces: 0)
            $0.request.destination = .part($0.directory.file("f").string)
        },
        .init(
            "bytes of which aria2 has noted none", "fresh", leaves: ["f", "f.aria2"], notes: ["does not fit"]
        ) {
            try $0.put("f")
            try $0.control(of: "f", pieces: 0)
            $0.request.destination = .part($0.directory.file("f").string)
        },
        .init(
            "a file that is longer than that of aria2", "fresh", leaves: ["f", "f.aria2"], notes: ["does not fit"]
        ) {
            try $0.put("f", [UInt8](repeating: 7, count: 301))
            try $0.control(of: "f", pieces: 0b1010_0000)
            $0.request.destination = .part($0.directory.file("f").string)
        },
        .init("a finished file beside a control file", "fresh", leaves: ["f", "f.aria2"], notes: ["does not fit"]) {
            try $0.finished()
            try $0.control(of: "f", pieces: 0b1010_0000)
            $0.request.destination = .part($0.directory.file("f").string)
        },
        .init("a control file that cannot be read", "failed disk", leaves: ["f", "f.aria2"]) {
            try $0.put("f")
            try $0.put("f.aria2", [1, 2, 3])
            $0.request.destination = .part($0.directory.file("f").string)
        },
        .init("a half file without a URL", "failed notResumable", leaves: ["f"]) {
            try $0.put("f")
            $0.request.sources = []
            $0.request.destination = .part($0.directory.file("f").string)
        },
        .init("an empty half file", "failed disk", leaves: ["f"]) {
            try $0.put("f", [])
            $0.request.destination = .part($0.directory.file("f").string)
        },
        .init("a link in place of a half file", "failed conflict", leaves: ["elsewhere", "f"]) {
            try $0.put("elsewhere")
            try $0.link("f", to: $0.directory.file("elsewhere").string)
            $0.request.destination = .part($0.directory.file("f").string)
        },
        .init("a directory in place of a half file", "failed conflict", leaves: ["f"]) {
            try $0.makeDirectory("f")
            $0.request.destination = .part($0.directory.file("f").string)
        },
    ]

    @Test("Preparation: a finished file is the result, or the server is asked about it", arguments: finished)
    func existing(_ row: PreparationRow) async throws { try await row.check() }

    @Test(
        "Preparation: the rule of conflict decides before the first request only where the name is certain",
        arguments: rules)
    func conflict(_ row: PreparationRow) async throws { try await row.check() }

    @Test("Preparation: a half file of another program is compared, and nothing of it is changed", arguments: halves)
    func compared(_ row: PreparationRow) async throws { try await row.check() }

    @Test(
        "Preparation: a finished file that is not ours is neither believed nor changed", arguments: Foreignness.possible
    )
    func foreign(kind: Foreignness) async throws {
        let world = try PreparationWorld()
        try world.finished()
        try kind.apply(to: "f", in: world.directory)
        // A second name is no flaw of a finished file.
        let expected = kind == .secondName ? "fresh unless current: f" : "fresh"
        #expect(try await world.prepare().prepared.summary == expected)
    }

    @Test("Preparation: the digest of a file is not believed when the run is stopped meanwhile")
    func stopped() async throws {
        var world = try PreparationWorld()
        try world.put("f")
        world.request.checksum = Self.right
        #expect(try await world.prepare(isStopped: { true }).prepared.summary == "fresh")
    }
}
