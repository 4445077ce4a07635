import FerryCore
import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import Ferry

@Suite("Secrets in the storage of an app", .timeLimit(.minutes(30)))
struct SecretStorageTests {
    /// As the Keychain: it outlives the manager.
    private final class Keychain: SecretStorage {
        private let values = Mutex<[String: Data]>([:])
        var keys: [String] { values.withLock { $0.keys.sorted() } }

        func store(_ value: Data, for key: String) async throws { values.withLock { $0[key] = value } }
        func value(for key: String) async throws -> Data? { values.withLock { $0[key] } }
        func removeValue(for key: String) async throws { values.withLock { $0[key] = nil } }
        func keys(withPrefix prefix: String) async throws -> [String] { keys.filter { $0.hasPrefix(prefix) } }
    }

    @Test("Secrets: a new manager resumes with those in the storage of the app, no file has them, the end removes them")
    func relaunch() async throws {
        try await Workshop.run { shop in
            let (keychain, resource) = (Keychain(), shop.serve(["/a"]))
            // The first request is refused, for it has no password yet; the second is under way when the manager ends.
            let closed = Behaviour.basicAuth("ann", "hush")
            shop.server.script("/a", [closed, closed.and(.stall(after: 1_000_000))], then: closed)
            let first = shop.kept { $0.secretStorage = keychain }
            let old = try await first.download(
                try shop.single("/a") {
                    $0.id = "one"
                    $0.credentials = Credentials(user: "ann", password: "hush")
                    $0.startsPaused = true
                })
            #expect(keychain.keys == ["test/one"])
            try await old.resume()
            await shop.reach(500_000, old)
            await first.shutdown()
            #expect(keychain.keys == ["test/one"])
            let secrets = shop.path("state/test/secrets")
            #expect((try? FileManager.default.contentsOfDirectory(atPath: secrets)) ?? [] == [])

            let second = shop.kept { $0.secretStorage = keychain }
            let download = try #require(try await second.download(id: "one"))
            try await shop.expectAll([download], are: resource)
            await second.shutdown()
            #expect(keychain.keys == [])
        }
    }

    @Test("Secrets: without storing credentials those that the storage of the app has are removed")
    func notStored() async throws {
        try await Workshop.run { shop in
            let keychain = Keychain()
            _ = shop.serve(["/a"])
            let first = shop.kept { $0.secretStorage = keychain }
            _ = try await first.download(
                try shop.single("/a") {
                    $0.credentials = Credentials(user: "ann", password: "hush")
                    $0.startsPaused = true
                })
            await first.shutdown()
            #expect(keychain.keys.count == 1)
            let second = shop.kept {
                $0.secretStorage = keychain
                $0.storesCredentials = false
            }
            try await second.activate()
            #expect(keychain.keys == [])
            await second.shutdown()
        }
    }

    @Test(
        "Secrets: a download that is cancelled or removed while the manager is shut down leaves none",
        arguments: [false, true])
    func shutDownMeanwhile(isRemoved: Bool) async throws {
        try await Workshop.run { shop in
            let keychain = Keychain()
            shop.serve(["/a"])
            let manager = shop.kept { $0.secretStorage = keychain }
            let download = try await manager.download(
                try shop.single("/a") {
                    $0.credentials = Credentials(user: "ann", password: "hush")
                    $0.startsPaused = true
                })
            // The end is stored, and nothing is done about it yet.
            let store = try await #require(manager.scheduler).held(afterwards: true) { $0.isRemoval || $0.isEnd }
            async let ending: Void = isRemoved ? download.remove() : download.cancel()
            await store.arrived()
            #expect(keychain.keys.count == 1)
            await manager.shutdown()
            store.open()
            try await ending
            #expect(keychain.keys == [])
        }
    }
}
