import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryServer

@Suite("Proxies and certificates of the daemon", .timeLimit(.minutes(30)))
struct DaemonProxyTests {
    /// Runs a daemon with these variables, and two proxies that connect files.test to this machine.
    private func run(
        _ environment: @Sendable (ProxyServer) -> [String: String],
        _ body: @Sendable (DaemonRig, _ first: ProxyServer, _ second: ProxyServer) async throws -> Void
    ) async throws {
        let hosts = ["files.test": "127.0.0.1"]
        let (first, second) = (try await ProxyServer.start(hosts: hosts), try await ProxyServer.start(hosts: hosts))
        let variables = environment(first)
        let result: Result<Void, any Error>
        do {
            try await DaemonRig.run {
                $0.environment = variables
            } _: { rig in
                rig.origin.serve("/f", Resource(size: 1000, seed: 1))
                try await body(rig, first, second)
            }
            result = .success(())
        } catch { result = .failure(error) }
        await first.shutdown()
        await second.shutdown()
        try result.get()
    }

    private static func counts(_ proxies: ProxyServer...) -> [Int] { proxies.map(\.requests.count) }

    /// Downloads a file of a host that only the proxies know.
    private func fetch(
        _ rig: DaemonRig, _ name: String, host: String = "files.test", _ change: (inout RawRequest) -> Void = { _ in }
    ) async throws -> String {
        var new = RawRequest(urls: [rig.origin.url("/f?\(name)", host: host)])
        new.name = name
        new.maxRetries = 0
        change(&new)
        let added = try await rig.add(new)
        return try await rig.reach("completed", added.id).status.state.kind.rawValue
    }

    @Test("Daemon: the proxies of its environment are used, except for the hosts of no_proxy")
    func environment() async throws {
        try await run({ ["http_proxy": $0.url, "no_proxy": "127.0.0.1"] }) { rig, first, _ async throws in
            #expect(try await fetch(rig, "a") == "completed")
            #expect(first.requests.count == 1)
            #expect(try await fetch(rig, "b", host: "127.0.0.1") == "completed")
            #expect(first.requests.count == 1)
        }
    }

    @Test("Daemon: a proxy in the settings replaces those of the environment at once, and auto restores them")
    func setting() async throws {
        try await run({ ["all_proxy": $0.url] }) { rig, first, second in
            #expect(try await fetch(rig, "a") == "completed")
            for (proxy, counts) in [(second.url, [1, 1]), ("auto", [2, 1])] {
                var change = SettingsChange()
                change.proxy = .set(proxy == "auto" ? nil : proxy)
                let reply = try await rig.ask(.changeSettings, body: change)
                #expect(try reply.shape(SettingsBody.self).proxy == (proxy == "auto" ? nil : proxy))
                #expect(try await fetch(rig, proxy == "auto" ? "c" : "b") == "completed")
                #expect(Self.counts(first, second) == counts)
            }
            var none = SettingsChange()
            none.proxy = .set("none")
            #expect(try await rig.ask(.changeSettings, body: none).shape(SettingsBody.self).proxy == "none")
            #expect(try await fetch(rig, "d") == "failed")
            #expect(Self.counts(first, second) == [2, 1])
        }
    }

    @Test("Daemon: each download may have its own proxy, or none, and a change of it fetches the rest another way")
    func own() async throws {
        try await run({ ["http_proxy": $0.url] }) { rig, first, second in
            #expect(try await fetch(rig, "a") { $0.proxy = second.url } == "completed")
            #expect(Self.counts(first, second) == [0, 1])
            #expect(try await fetch(rig, "b") { $0.proxy = "none" } == "failed")
            var paused = RawRequest(urls: [rig.origin.url("/f?c", host: "files.test")])
            paused.startsPaused = true
            let added = try await rig.add(paused)
            let change = ["proxy": second.url]
            #expect(try await rig.ask(.change, id: added.id.rawValue, body: change).status == 200)
            _ = try await rig.ask(.resume, id: added.id.rawValue)
            #expect(try await rig.reach("completed", added.id).status.state.kind == .completed)
            #expect(Self.counts(first, second) == [0, 2])
        }
    }

    @Test("Daemon: a malformed proxy variable is an error of the start that names it, without its password")
    func malformed() async throws {
        let error = await #expect(throws: DownloadError.self) {
            try await run({ _ in ["https_proxy": "u:hunter2@h:x"] }) { _, _, _ in }
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.hasPrefix("https_proxy: ") == true && error?.message.contains("hunter2") == false)
    }

    @Test("Daemon: SSL_CERT_FILE names the trusted certificates, and a download may bring its own or do without")
    func certificates() async throws {
        var configuration = OriginServer.Configuration()
        configuration.certificate = .good
        try await OriginServer.with(configuration) { server in
            server.serve("/f", Resource(size: 1000, seed: 1))
            let file = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString + ".pem"
            try OriginServer.caPEM.write(toFile: file, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(atPath: file) }
            let cases: [(variable: String?, certificates: String?, insecure: Bool, state: String)] = [
                (nil, nil, false, "failed"), (file, nil, false, "completed"),
                (nil, OriginServer.caPEM, false, "completed"), (nil, nil, true, "completed"),
            ]
            for (variable, certificates, insecure, state) in cases {
                try await DaemonRig.run {
                    $0.environment["SSL_CERT_FILE"] = variable
                } _: { rig in
                    var new = RawRequest(urls: [server.url("/f")])
                    (new.certificates, new.insecure) = (certificates, insecure)
                    let added = try await rig.add(new)
                    #expect(try await rig.reach("completed", added.id).status.state.kind.rawValue == state)
                }
            }
        }
    }

    /// A token leads to the page, and must not lead to the secrets of downloads or to the traffic of other sessions.
    @Test("API over TCP: a download is added with its proxy, but that of a listed one or of the daemon is not changed")
    func overTCP() async throws {
        try await run({ _ in [:] }) { rig, first, _ in
            let port = try #require(rig.addresses.port)
            func send(_ method: String, _ path: String, _ body: some Encodable) async throws -> Int {
                try await rig.send(
                    method, path,
                    headers: ["Content-Type": "application/json", "Authorization": "Bearer \(rig.token)"],
                    body: try JSONCoding.encode(body), port: port
                ).status
            }
            var new = RawRequest(urls: [rig.origin.url("/f", host: "files.test")])
            new.startsPaused = true
            new.proxy = first.url
            new.insecure = true
            new.id = "own"
            #expect(try await send("POST", Route.add.path(), new) == 201)
            // Nor by a request for the same file.
            new.id = nil
            #expect(try await send("POST", Route.add.path(), new) == 409)
            let (one, settings) = (Route.change.path(id: "own"), Route.changeSettings.path())
            #expect(try await send("PATCH", one, ["proxy": "none"]) == 403)
            #expect(try await send("PATCH", one, ["certificates": OriginServer.caPEM]) == 403)
            #expect(try await send("PATCH", one, ["insecure": false]) == 403)
            #expect(try await send("PATCH", one, ["userAgent": "a"]) == 200)
            #expect(try await send("PATCH", settings, ["proxy": first.url]) == 403)
            #expect(rig.daemon.settings.current.proxy == nil)
            #expect(try await rig.ask(.change, id: "own", body: ["insecure": false]).status == 200)
        }
    }

    @Test("Daemon: one that forbids private addresses refuses the proxy of a download")
    func publicOnly() async throws {
        let proxy = try await ProxyServer.start(hosts: ["files.test": "127.0.0.1"])
        try await DaemonRig.run(settings: #"{"allowsPrivate": false}"#) { rig async throws in
            rig.origin.serve("/f", Resource(size: 1000, seed: 1))
            #expect(try await fetch(rig, "a") { $0.proxy = proxy.url } == "failed")
            #expect(proxy.requests.isEmpty)
            var change = SettingsChange()
            change.proxy = .set(proxy.url)
            #expect(try await rig.ask(.changeSettings, body: change).status == 200)
            #expect(try await fetch(rig, "b") == "completed")
        }
        await proxy.shutdown()
    }
}
