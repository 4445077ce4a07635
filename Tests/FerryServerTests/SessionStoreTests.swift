import Ferry
import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import Testing

@testable import FerryServer

@Suite("SessionStore")
struct SessionStoreTests {
    private func directory(_ body: (String) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory.path + "/ferry-sessions-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(path)
    }

    @Test("SessionStore: each file that cannot be read is kept under a name of its own when the next one is written")
    func unreadable() async throws {
        try await directory { directory in
            let path = directory + "/sessions.json"
            for text in ["first", "second", "third"] {
                try PrivateFile(path, most: 1 << 16).write("{\"app\": {\"launchCommand\": [\"/bin/\(text)")
                let store = SessionStore(path)
                #expect(store.entry("app") == nil)
                try await store.note(["/srv"], of: "other")
                #expect(SessionStore(path).entry("other") != nil)
            }
            for (name, text) in [("", "first"), (".2", "second"), (".3", "third")] {
                let kept = try String(contentsOfFile: path + ".unreadable" + name, encoding: .utf8)
                #expect(kept.hasSuffix("/bin/" + text))
            }
        }
    }

    @Test("SessionStore: changes at the same time are all kept, also of one session")
    func atOnce() async throws {
        try await directory { directory in
            let path = directory + "/sessions.json"
            let store = SessionStore(path)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<10 {
                    group.addTask { try await store.note(["/srv/\(index)"], of: "one") }
                    group.addTask {
                        try await store.register(SessionRegistration(identifier: "app\(index)", directory: "/\(index)"))
                    }
                }
                group.addTask { try await store.changeSettings(of: "one") { $0.rateLimit = 7 } }
                group.addTask { try await store.changeSettings(of: "one") { $0.maxConcurrentDownloads = 2 } }
                try await group.waitForAll()
            }
            for store in [store, SessionStore(path)] {
                let one = try #require(store.entry("one"))
                #expect(Set(one.places ?? []) == Set((0..<10).map { "/srv/\($0)" }))
                #expect(one.settings?.rateLimit == 7 && one.settings?.maxConcurrentDownloads == 2)
                for index in 0..<10 { #expect(store.entry("app\(index)")?.directory == "/\(index)") }
            }
        }
    }
}
