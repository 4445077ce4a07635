import FerryTesting
import Foundation
import Testing

@Suite("The binary: how downloads of the daemon connect", .serialized, .timeLimit(.minutes(30)))
struct RemoteConnectionTests {
    /// Adds a download and returns its final state.
    private func add(
        _ home: RemoteHome, _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> String? {
        let added = try await FerryProcess.run(
            ["add", "--json"] + arguments, in: home.place, environment: home.environment.merging(environment) { $1 })
        #expect(added.code == 0, "\(added.error)")
        let id = try #require(try objects(added.text).first?["id"] as? String)
        _ = try await home.ferry("watch", id)
        return try await home.objects("show", id).first?["state"] as? String
    }

    /// The proxy was never asked.
    @Test("ferry add: the daemon that it starts uses the proxies of the environment, with their credentials")
    func environment() async throws {
        let proxy = try await ProxyServer.start(credentials: ("u", "p/w"), hosts: ["files.test": "127.0.0.1"])
        try await RemoteHome.run { home in
            home.server.serve("/f", Resource(size: 1000, seed: 1))
            let url = home.server.url("/f", host: "files.test")
            let variable = proxy.url.replacing("http://", with: "http://u:p%2Fw@")
            let state = try await add(home, ["--retries", "0", url], environment: ["http_proxy": variable])
            #expect(state == "completed")
            #expect(proxy.requests.count == 1)
        }
        await proxy.shutdown()
    }

    @Test("ferry add: proxy, User-Agent, Referer and cookies are those of the options")
    func options() async throws {
        let proxy = try await ProxyServer.start(hosts: ["files.test": "127.0.0.1"])
        try await RemoteHome.run { home in
            home.server.serve("/f", Resource(size: 1000, seed: 1))
            try home.place.write("files.test\tFALSE\t/\tFALSE\t0\tid\tx\n", to: "jar")
            let state = try await add(
                home,
                [
                    "--proxy", proxy.url, "--user-agent", "own/1", "--referer", "http://page/", "--load-cookies", "jar",
                    "--retries", "0", home.server.url("/f", host: "files.test"),
                ])
            #expect(state == "completed")
            let head = try #require(home.server.requests.first?.head)
            #expect(head["User-Agent"] == "own/1" && head["Referer"] == "http://page/" && head["Cookie"] == "id=x")
        }
        await proxy.shutdown()
    }

    @Test("ferry set proxy: the daemon's proxy is kept in its settings file, and shown without its password")
    func setting() async throws {
        try await RemoteHome.run { home in
            try await home.run("add", "--paused", home.server.url("/f"))
            try await home.run("set", "proxy=http://u:hunter2@127.0.0.1:9")
            let shown = try await home.run("set").text
            #expect(shown.contains("proxy=http://127.0.0.1:9\n") && !shown.contains("hunter2"))
            let file = try #require(FileManager.default.contents(atPath: home.root + "/ferry.json"))
            #expect(String(decoding: file, as: UTF8.self).contains("hunter2"))
            let mode = try FileManager.default.attributesOfItem(atPath: home.root + "/ferry.json")[.posixPermissions]
            #expect(mode as? Int == 0o600)
            try await home.run("set", "proxy=auto")
            #expect(try await home.run("set").text.contains("proxy=auto\n"))
        }
    }

    @Test("ferry get and add: SSL_CERT_FILE, --ca-file and --insecure decide about certificates")
    func certificates() async throws {
        var configuration = OriginServer.Configuration()
        configuration.certificate = .good
        try await OriginServer.with(configuration) { server in
            server.serve("/f", Resource(size: 1000, seed: 1))
            try await RemoteHome.run { home in
                try home.place.write(OriginServer.caPEM, to: "ca.pem")
                let variable = ["SSL_CERT_FILE": home.place.path("ca.pem")]
                let url = server.url("/f")
                #expect(try await home.ferry("get", "-o", "a", url).code == 10)
                #expect(try await home.ferry("get", "-o", "a", url, environment: variable).code == 0)
                #expect(try await add(home, ["-o", "b", url]) == "failed")
                #expect(try await add(home, ["-o", "c", "--ca-file", "ca.pem", url]) == "completed")
                #expect(try await add(home, ["-o", "d", "--insecure", url]) == "completed")
                try await home.run("set", "b", "ca-file=\(home.place.path("ca.pem"))")
                try await home.run("resume", "b")
                _ = try await home.ferry("watch", "b")
                #expect(try await home.objects("show", "b").first?["state"] as? String == "completed")
            }
        }
    }
}
