import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("Secrets after kill -9", .timeLimit(.minutes(30)))
struct RelaunchSecretTests {
    private static let size: Int64 = 6_000_000
    private static let (user, password, token) = ("nutzer-7781", "zauberwort-4711", "geheim-0815")
    /// The secrets as they are, and as they are sent.
    private static let secrets = [
        user, password, token, Data("\(user):\(password)".utf8).base64EncodedString(),
    ]

    private static func begin(_ home: AppHome, in app: AppProcess) async throws {
        home.server.serve("/a", Resource(size: size))
        home.server.always("/a", asks.and(.stall(after: 1_000_000)))
        let fields: [String: any Sendable] = [
            "id": "a", "url": home.server.url("/a?key=öffentlich"), "user": user, "password": password,
            "token": token,
        ]
        try await app.ask("add", fields)
        try await app.ask("wait", ["id": "a", "bytes": 1_000_000])
        try await app.ask("pause", ["id": "a"])
        try await app.ask("resume", ["id": "a"])
        try await app.ask("wait", ["id": "a", "bytes": 1_500_000])
    }

    private static var asks: Behaviour {
        .basicAuth(user, password).and(.require("X-Token") { $0 == token })
    }

    @Test("Secrets after kill: they resume the download from private files, are in no other, and go with it")
    func kept() async throws {
        try await AppHome.run { home in
            let first = try home.app()
            try await Self.begin(home, in: first)
            let place = home.state + "/secrets"
            let files = try FileManager.default.contentsOfDirectory(atPath: place)
            #expect(files.count == 1)
            #expect(home.mode(home.state) == 0o700)
            #expect(home.mode(place) == 0o700)
            #expect(home.mode(place + "/" + (files.first ?? "")) == 0o600)
            for name in ["catalogue.sqlite", "catalogue.sqlite-wal", "lock"] {
                #expect(home.mode(home.state + "/" + name) == 0o600, "\(name)")
            }
            // A download that is cancelled with resume data.
            try await first.ask(
                "add",
                [
                    "id": "b", "url": home.server.url("/a?key=b"), "user": Self.user, "password": Self.password,
                    "token": Self.token,
                ])
            try await first.ask("wait", ["id": "b", "bytes": 1_000_000])
            let data = try #require(try await first.ask("keep", ["id": "b"]).data)
            #expect(!Self.secrets.contains { data.contains($0) })
            await first.kill()
            #expect(home.files(with: Self.secrets) == [])
            #expect(home.files(with: ["fentlich"]).contains("state/catalogue.sqlite-wal"))

            home.server.always("/a", Self.asks)
            let held = home.claimed("a")
            #expect(held >= 1_000_000)
            let second = try home.app()
            try await second.ask("wait", ["id": "a", "state": "completed"])
            await second.waitForEnd(of: "a")
            #expect(second.lines.contains { if case .resumed(held, _, _) = $0.kind { true } else { false } })
            #expect(try FileManager.default.contentsOfDirectory(atPath: place) == [])
            try await second.close()
            #expect(home.files(with: Self.secrets) == [])
            for app in [first, second] {
                for line in app.lines {
                    let said = [line.event, line.message, line.data].compactMap(\.self).joined()
                    #expect(!Self.secrets.contains { said.contains($0) }, "\(said)")
                }
            }
        }
    }

    @Test(
        "Secrets after kill: not kept, they are waited for, and given ones resume the download",
        arguments: [false, true])
    func notKept(wereKeptBefore: Bool) async throws {
        try await AppHome.run { home in
            let first = try home.app(storesCredentials: wereKeptBefore)
            home.server.serve("/a", Resource(size: Self.size))
            home.server.always("/a", .basicAuth(Self.user, Self.password).and(.stall(after: 1_000_000)))
            try await first.ask(
                "add",
                ["id": "a", "url": home.server.url("/a"), "user": Self.user, "password": Self.password])
            try await first.ask("wait", ["id": "a", "bytes": 1_000_000])
            try await first.ask("pause", ["id": "a"])
            try await first.ask("resume", ["id": "a"])
            try await first.ask("wait", ["id": "a", "bytes": 1_500_000])
            await first.kill()
            let place = home.state + "/secrets"
            func files() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? [] }
            #expect(files().isEmpty == !wereKeptBefore)

            home.server.always("/a", .basicAuth(Self.user, Self.password))
            let (held, requests) = (home.claimed("a"), home.server.traffic.requestCount)
            let second = try home.app(storesCredentials: false)
            let waiting = try await second.ask("wait", ["id": "a", "state": "waiting(credentials)"])
            #expect(waiting.state == "waiting(credentials)")
            #expect(home.server.traffic.requestCount == requests)
            // The setting removes secrets that earlier runs stored.
            #expect(files() == [])
            #expect(home.claimed("a") == held)
            try await second.ask("credentials", ["id": "a", "user": Self.user, "password": Self.password])
            #expect(try await second.ask("wait", ["id": "a", "state": "completed"]).state == "completed")
            await second.waitForEnd(of: "a")
            #expect(second.lines.contains { if case .resumed(held, _, _) = $0.kind { true } else { false } })
            #expect(files() == [])
            try await second.close()
            #expect(home.files(with: Self.secrets) == [])
        }
    }

    @Test("Secrets after kill: a list rebuilt from journals uses them")
    func rebuilt() async throws {
        try await AppHome.run { home in
            let first = try home.app()
            try await Self.begin(home, in: first)
            await first.kill()
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: home.state + "/catalogue.sqlite" + suffix)
            }
            home.server.always("/a", Self.asks)
            let second = try home.app()
            let ended = try await second.ask("wait", ["id": "a", "state": "completed"])
            #expect(ended.state == "completed")
            try await second.close()
            #expect(home.names == ["a"])
        }
    }
}
