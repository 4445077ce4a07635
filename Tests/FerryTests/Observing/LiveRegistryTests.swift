import FerryCore
import Testing

@testable import Ferry

@Suite("Downloads in memory")
struct LiveRegistryTests {
    private func live(_ id: String, _ registry: LiveRegistry) throws -> LiveDownload {
        LiveDownload(try StoreBench.row(id), secrets: nil, readers: StaleReads(), registry: registry)
    }

    @Test("are found while somebody holds them, and leave nothing behind")
    func letGo() throws {
        let registry = LiveRegistry()
        var held: [LiveDownload] = try (0..<100).map { try live("\($0)", registry) }
        for one in held { registry.insert(one) }
        #expect(registry["7"] === held[7])
        #expect(registry.all.count == 100)
        held.removeFirst(60)
        #expect(registry.count == 40)
        #expect(registry["7"] == nil)
        #expect(registry.remove("7") == nil && registry.remove("absent") == nil)
        #expect(registry["60"] === held[0])
        held = []
        #expect(registry.count == 0)
    }

    @Test("are known as removed while somebody holds them")
    func removed() throws {
        let registry = LiveRegistry()
        var one: LiveDownload? = try live("a", registry)
        one.map(registry.insert)
        #expect(registry.removed("a") == nil)
        registry.remove("a")
        #expect(registry.removed("a") === one && registry["a"] == nil)
        one = nil
        #expect(registry.removed("a") == nil && registry.count == 0)
    }

    @Test("do not take away the entry of another one with their identifier")
    func replaced() throws {
        let registry = LiveRegistry()
        var first: LiveDownload? = try live("a", registry)
        first.map(registry.insert)
        #expect(registry.remove("a") === first)
        let second = try live("a", registry)
        registry.insert(second)
        first = nil
        #expect(registry["a"] === second)
        // One that was never known takes nobody's.
        do { _ = try live("a", registry) }
        #expect(registry["a"] === second)
    }
}
