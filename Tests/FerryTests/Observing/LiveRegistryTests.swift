import FerryCore
import Testing

@testable import Ferry

@Suite("Registry of downloads in memory")
struct LiveRegistryTests {
    private func live(_ id: String, _ registry: LiveRegistry) throws -> LiveDownload {
        LiveDownload(try StoreBench.row(id), secrets: nil, registry: registry)
    }

    @Test("LiveRegistry: a download is found while it is referenced, and leaves no entry behind")
    func released() throws {
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

    @Test("LiveRegistry: a removed download is known as removed while it is referenced")
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

    @Test("LiveRegistry: the release of a removed download keeps the entry of a new one with its identifier")
    func replaced() throws {
        let registry = LiveRegistry()
        var first: LiveDownload? = try live("a", registry)
        first.map(registry.insert)
        #expect(registry.remove("a") === first)
        let second = try live("a", registry)
        registry.insert(second)
        first = nil
        #expect(registry["a"] === second)
        // The release of an unregistered download removes no entry.
        do { _ = try live("a", registry) }
        #expect(registry["a"] === second)
    }
}
