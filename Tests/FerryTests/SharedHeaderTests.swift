import Ferry
import FerryTesting
import Foundation
import HTTPTypes
import Testing

@Suite("Headers for all downloads of a manager", .timeLimit(.minutes(30)))
struct SharedHeaderTests {
    private static func bytes(below directory: String) throws -> Data {
        var all = Data()
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory) {
            if let content = FileManager.default.contents(atPath: directory + "/" + name) { all.append(content) }
        }
        return all
    }

    @Test("Shared headers: every download sends them, its own win, and neither list nor journal nor secrets have them")
    func sent() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 40_000_000, seed: 1))
            shop.server.script("/a", [.stall(after: 10_000_000)])
            let state = shop.directory + "/state"
            var configuration = DownloadManager.Configuration.default(
                identifier: "shared", directory: shop.directory, stateDirectory: state)
            configuration.minFreeBytes = 0
            let origin = Origin(of: try DownloadURL(shop.server.url("/a")))
            try configuration.transfer.setHeader("X-Key", to: "hunter2", for: [origin])
            try configuration.transfer.setHeader("Accept-Language", to: "de")
            let first = DownloadManager(configuration)
            let download = try await first.download(
                try shop.request("/a") {
                    $0.maxConnections = 1
                    $0.headers[.acceptLanguage] = "fr"
                })
            await shop.reach(10_000_000, download)
            #expect(shop.server.requests.allSatisfy { $0.head["X-Key"] == "hunter2" })
            #expect(shop.server.requests.allSatisfy { $0.head["Accept-Language"] == "fr" })
            await first.shutdown()
            let stored = try Self.bytes(below: shop.directory)
            #expect(stored.range(of: Data("/a".utf8)) != nil)
            #expect(stored.range(of: Data("hunter2".utf8)) == nil)

            // The next launch has another token.
            let before = shop.server.requests.count
            shop.server.always("/a", .honest)
            try configuration.transfer.setHeader("X-Key", to: "later", for: [origin])
            let second = DownloadManager(configuration)
            let again = try #require(try await second.downloads().first)
            _ = try await again.finished()
            #expect(shop.server.requests.count > before)
            #expect(shop.server.requests.dropFirst(before).allSatisfy { $0.head["X-Key"] == "later" })
            await second.shutdown()
        }
    }

    @Test("Shared headers: a download that waits for credentials goes on with a header that the manager is given later")
    func renewed() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 1000, seed: 1))
            shop.server.always(
                "/a", .when({ $0["Authorization"] != "Bearer new" }, .status(401, "WWW-Authenticate: Bearer")))
            let origin = Origin(of: try DownloadURL(shop.server.url("/a")))
            let manager = shop.manager { $0.waitsForUser = true }
            try await manager.configure { try $0.transfer.setHeader("Authorization", to: "Bearer old", for: [origin]) }
            let download = try await manager.download(try shop.request("/a"))
            for await status in download.updates where status.state == .waiting(.credentials) { break }
            #expect(shop.server.requests.last?.head["Authorization"] == "Bearer old")
            try await manager.configure { try $0.transfer.setHeader("Authorization", to: "Bearer new", for: [origin]) }
            try await download.resume()
            #expect(try await download.finished().totalBytes == 1000)
            await manager.shutdown()
        }
    }

    @Test("Manager: a change of the settings that throws changes nothing")
    func thrown() async throws {
        let manager = DownloadManager(.ephemeral)
        let error = await #expect(throws: DownloadError.self) {
            try await manager.configure {
                $0.maxConcurrentDownloads = 7
                try $0.transfer.setHeader("Authorization", to: "Bearer t")
            }
        }
        #expect(error?.code == .invalidRequest)
        #expect(manager.configuration.maxConcurrentDownloads == 3)
        await manager.shutdown()
    }
}
