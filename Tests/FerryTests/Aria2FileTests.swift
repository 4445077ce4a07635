import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Files that aria2 has left", .timeLimit(.minutes(30)))
struct Aria2FileTests {
    private static let resource = Resource(size: 20_000_000)

    private func put(_ bytes: [UInt8], at name: String, in shop: Workshop) throws {
        try Data(bytes).write(to: URL(filePath: shop.path(name)))
    }

    /// The control file of aria2 for a file with these pieces of 1 MiB.
    private func control(_ bits: [UInt8]) -> [UInt8] {
        let total = (0..<8).reversed().map { UInt8(truncatingIfNeeded: Self.resource.size >> (8 * Int64($0))) }
        let head: [UInt8] = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0] + total + [UInt8](repeating: 0, count: 8)
        return head + [0, 0, 0, UInt8(bits.count)] + bits + [0, 0, 0, 0]
    }

    /// aria2 reserves the whole length and fills it at several places.
    @Test(
        "Half file: of aria2's only what its control file lists is gone on with",
        arguments: ["a.bin", "a.bin.part"])
    func aria2(name: String) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Self.resource)
            var bytes = [UInt8](repeating: 0, count: Int(Self.resource.size))
            for range in [0..<3 << 20, 10 << 20..<12 << 20] as [Range<Int64>] {
                bytes.replaceSubrange(Int(range.lowerBound)..<Int(range.upperBound), with: Self.resource.bytes(range))
            }
            try put(bytes, at: name, in: shop)
            try put(control([0b1110_0000, 0b0011_0000, 0]), at: name + ".aria2", in: shop)
            let outcome = try await shop.get("/a.bin", { _ in }) { $0.destination = .part(shop.path(name)) }
            shop.expect(try outcome.file.path, is: Self.resource)
            #expect(outcome.resumedAt == 5 << 20)
            #expect(shop.names == [name])
            #expect(shop.server.bodyBytes() <= Self.resource.size - 4 << 20)
        }
    }

    @Test(
        "Half file: of aria2's with another content, or a control file that cannot be read, both files stay",
        arguments: [[0b1110_0000, 0, 0], [0xFF]] as [[UInt8]])
    func foreignAria2(bits: [UInt8]) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Self.resource)
            try put([UInt8](repeating: 7, count: Int(Self.resource.size)), at: "a.bin", in: shop)
            try put(control(bits), at: "a.bin.aria2", in: shop)
            let outcome = try await shop.get("/a.bin", { _ in }) { $0.destination = .part(shop.path("a.bin")) }
            #expect(outcome.error != nil)
            #expect(shop.names == ["a.bin", "a.bin.aria2"])
        }
    }

    @Test("Half file: space that aria2 has reserved stays until the file is whole, which replaces it under its name")
    func emptyAria2() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Self.resource)
            try put([UInt8](repeating: 0, count: Int(Self.resource.size)), at: "a.bin", in: shop)
            try put(control([0, 0, 0]), at: "a.bin.aria2", in: shop)
            let outcome = try await shop.get("/a.bin", { _ in }) { $0.destination = .part(shop.path("a.bin")) }
            try shop.expect(outcome.file.path, is: Self.resource)
            #expect(shop.names == ["a.bin"] && outcome.notes("aria2 has noted no piece"))
        }
    }

    @Test("Half file: a control file that lists no piece removes nothing when the server refuses")
    func emptyAria2Refused() async throws {
        try await Workshop.run { shop in
            try put([UInt8](repeating: 0, count: 3000), at: "a.bin", in: shop)
            try put(control([0, 0, 0]), at: "a.bin.aria2", in: shop)
            let outcome = try await shop.get("/none", { _ in }) { $0.destination = .part(shop.path("a.bin")) }
            #expect(outcome.error != nil && shop.names == ["a.bin", "a.bin.aria2"])
        }
    }

    @Test(
        "Half file: a control file that does not fit the user's file is not believed: the file stays, also when the server refuses",
        arguments: [(0, UInt8(7), true), (0, 7, false), (1, 0, true), (1, 7, true)] as [(Int, UInt8, Bool)])
    func contradictedAria2(longer: Int, byte: UInt8, isServed: Bool) async throws {
        try await Workshop.run { shop in
            if isServed { shop.server.serve("/a.bin", Self.resource) }
            let mine = [UInt8](repeating: byte, count: Int(Self.resource.size) + longer)
            try put(mine, at: "a.bin", in: shop)
            try put(control([0, 0, 0]), at: "a.bin.aria2", in: shop)
            let outcome = try await shop.get("/a.bin", { _ in }) { $0.destination = .part(shop.path("a.bin")) }
            #expect(FileManager.default.contents(atPath: shop.path("a.bin")) == Data(mine))
            #expect(outcome.notes("does not fit"))
            guard isServed else { return #expect(outcome.error != nil && shop.names == ["a.bin", "a.bin.aria2"]) }
            shop.expect(try outcome.file.path, is: Self.resource)
            #expect(shop.names == ["a (1).bin", "a.bin", "a.bin.aria2"])
        }
    }

    @Test(
        "Half file: a control file beside a file that Ferry has downloaded, or that it has itself downloaded, is not believed"
    )
    func downloadedControl() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Self.resource)
            _ = try await shop.get("/a.bin", { _ in }).file
            try put(control([0xFF, 0xFF, 0]), at: "a.bin.aria2", in: shop)
            let whole = try await shop.get("/a.bin", { _ in }) { $0.destination = .part(shop.path("a.bin")) }
            #expect(try whole.file.wasAlreadyComplete && shop.names == ["a.bin", "a.bin.aria2"])
        }
    }
}
