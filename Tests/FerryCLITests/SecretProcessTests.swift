import FerryTesting
import Foundation
import Testing

@Suite("The binary: secrets for part files", .timeLimit(.minutes(30)))
struct SecretProcessTests {
    private static let resource = Resource(size: 3_000_000, seed: 5)

    /// Runs a body with a directory that has a part file of `server`.
    private static func run(
        _ body: (OriginServer, Workplace) async throws -> Void
    ) async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", resource)
            server.script("/f.bin", [.cut(after: 1_500_000)], then: .basicAuth("me", "sesame"))
            let place = try Workplace()
            _ = try await FerryProcess.run(["get", "-x", "1", server.url("/f.bin")], in: place)
            #expect(place.names.contains("f.bin.part"))
            try await body(server, place)
        }
    }

    private static func secrets(_ server: OriginServer) -> Int {
        server.requests.count { $0.head["Authorization"] != nil || $0.head["X-Key"] != nil }
    }

    @Test(
        "ferry get DIR: secrets without a server and a terminal are refused, and nothing is sent",
        arguments: [["--user", "me:sesame"], ["--header", "X-Key: sesame"]], [".", "f.bin.part"])
    func refused(options: [String], item: String) async throws {
        try await Self.run { server, place in
            let before = server.requests.count
            let outcome = try await FerryProcess.run(
                ["get", item] + options, in: place, shell: "exec setsid -w \"$@\"")
            #expect(outcome.code == 2, "\(outcome.error)")
            #expect(outcome.error.contains("NAME@HOST"))
            #expect(!outcome.error.contains("sesame"))
            #expect(server.requests.count == before)
        }
    }

    @Test("ferry get DIR --user NAME@HOST: secrets are sent to that host alone")
    func named() async throws {
        try await Self.run { server, place in
            let other = try await FerryProcess.run(["get", "--user", "me:sesame@https://files.test", "."], in: place)
            #expect(other.code == 2)
            #expect(Self.secrets(server) == 0)
            let user = "me:sesame@http://127.0.0.1:\(server.port)"
            let outcome = try await FerryProcess.run(["get", "--user", user, "."], in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(try place.data("f.bin") == Data(Self.resource.bytes(0..<Self.resource.size)))
            #expect(Self.secrets(server) > 0)
        }
    }

    @Test(
        "ferry get DIR --user: on a terminal the server is shown, and only the answer y sends the secrets",
        arguments: [true, false])
    func asked(says: Bool) async throws {
        try await Self.run { server, place in
            let process = try FerryProcess(
                ["get", "--no-progress", "--user", "me:sesame", "."], in: place,
                error: .terminal(columns: 120, lines: 24), shell: "exec setsid -c -w \"$@\" <&2")
            await process.waitForTerminal("Send user name and password to http://127.0.0.1:\(server.port)? [y/N] ")
            process.type(says ? "y\n" : "n\n")
            let outcome = try await process.outcome()
            #expect(outcome.code == (says ? 0 : 2))
            #expect((Self.secrets(server) > 0) == says)
        }
    }

    @Test("ferry get --no-private: a loopback address is exit code 4 without a connection")
    func noPrivate() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            for host in ["127.0.0.1", "localhost"] {
                let url = server.url("/f.bin", host: host)
                let outcome = try await FerryProcess.run(["get", "--no-private", url], in: Workplace())
                #expect(outcome.code == 4, "\(outcome.error)")
                #expect(outcome.error.contains("not a public address"))
                #expect(try await FerryProcess.run(["plan", "--no-private", url], in: Workplace()).code == 4)
            }
            #expect(server.traffic.acceptedConnections == 0)
        }
    }
}
