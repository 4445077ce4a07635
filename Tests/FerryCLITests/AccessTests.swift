import FerryTesting
import Foundation
import Testing

@Suite("The binary: access and proxies", .serialized, .timeLimit(.minutes(30))) struct AccessTests {
    private static let resource = Resource(size: 2_000_000, seed: 31)

    /// Serves `/f.bin` with this behaviour and fetches it with these arguments.
    private static func get(
        _ behaviour: Behaviour, _ arguments: [String], environment: [String: String] = [:],
        files: [String: String] = [:]
    ) async throws -> FerryProcess.Outcome {
        try await OriginServer.with { server in
            server.serve("/f.bin", resource)
            server.always("/f.bin", behaviour)
            let place = try Workplace()
            for (name, text) in files { try place.write(text, to: name) }
            return try await FerryProcess.run(
                ["get", "--no-progress"] + arguments + [server.url("/f.bin")], in: place, environment: environment)
        }
    }

    @Test(
        "ferry get --user: Basic and Digest succeed, and a wrong password is exit code 5",
        arguments: [
            Behaviour.basicAuth("me", "sesame"), .digestAuth("me", "sesame"),
            .digestAuth("me", "sesame", algorithm: .sha256),
        ])
    func user(behaviour: Behaviour) async throws {
        #expect(try await Self.get(behaviour, ["--user", "me:sesame"]).code == 0)
        let wrong = try await Self.get(behaviour, ["--user", "me:wrong"])
        #expect(wrong.code == 5, "\(wrong.error)")
        #expect(!wrong.error.contains("wrong"))
        #expect(wrong.error.contains("it does not accept the user name or password"), "\(wrong.error)")
        let none = try await Self.get(behaviour, [])
        #expect(none.code == 5 && none.error.contains("it asks for credentials"), "\(none.error)")
    }

    @Test("ferry get: a server that takes no password is told as such, with the header to give")
    func bearer() async throws {
        let none = try await Self.get(.status(401).and(.field("WWW-Authenticate", "Bearer")), ["--user", "me:sesame"])
        #expect(none.code == 5, "\(none.error)")
        #expect(
            none.error.contains("the server answered 401 (bearer): it takes no user name and password"), "\(none.error)"
        )
        #expect(none.error.contains("to resume: ferry get -H 'Authorization: …' "), "\(none.error)")
    }

    @Test("ferry get --netrc: credentials are found by host in ~/.netrc or in $NETRC")
    func netrc() async throws {
        let text = "machine 127.0.0.1\n  login me\n  password sesame\n"
        let home = try await Self.get(.basicAuth("me", "sesame"), ["--netrc"], files: [".netrc": text])
        #expect(home.code == 0, "\(home.error)")
        let other = try await Self.get(
            .basicAuth("me", "sesame"), ["--netrc"], environment: ["NETRC": "secrets"], files: ["secrets": text])
        #expect(other.code == 0, "\(other.error)")
        #expect(try await Self.get(.honest, ["--netrc"]).code == 2)
    }

    @Test("ferry get --netrc: a redirect's host gets the entry that names it, and not the one called default (A74)")
    func netrcOfRedirect() async throws {
        var configuration = OriginServer.Configuration()
        configuration.certificate = .good
        for (entry, code) in [("machine localhost", 0), ("machine other.example", 5), ("default", 5)] {
            try await OriginServer.with(configuration) { server in
                server.serve("/f.bin", Self.resource)
                server.always("/f.bin", .basicAuth("me", "sesame"))
                let target = server.url("/f.bin", host: "localhost")
                server.route("/r") { _ in .redirect(to: target) }
                let place = try Workplace()
                try place.write(OriginServer.caPEM, to: "ca.pem")
                try place.write("\(entry) login me password sesame\n", to: ".netrc")
                let run = try await FerryProcess.run(
                    ["get", "-q", "--netrc", "--ca-file", "ca.pem", server.url("/r", host: "127.0.0.1")], in: place)
                #expect(run.code == code, "\(entry): \(run.error)")
            }
        }
    }

    @Test(
        "ferry get: a redirect's target that asks for credentials is named, and gets none over http",
        arguments: ["get", "plan"], ["--netrc", "--user=me:sesame"])
    func target(command: String, option: String) async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.always("/f.bin", .basicAuth("me", "sesame"))
            let target = server.url("/f.bin", host: "localhost")
            server.route("/r") { _ in .redirect(to: target) }
            let place = try Workplace()
            try place.write("machine localhost login me password sesame\n", to: ".netrc")
            let run = try await FerryProcess.run(
                [command, option, server.url("/r", host: "127.0.0.1")], in: place)
            #expect(run.code == 5)
            #expect(run.error.contains("localhost: it asks for credentials, but gets none"), "\(run.error)")
            #expect(run.error.contains("only over https"), "\(run.error)")
            #expect(!run.error.contains("--user USER"), "\(run.error)")
            #expect(server.requests.allSatisfy { $0.head["Authorization"] == nil })
        }
    }

    @Test("ferry get: cookies, headers, header files, User-Agent and Referer are sent")
    func fields() async throws {
        let cookie = "127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tabc\n"
        let cookies = try await Self.get(
            .requireCookie("session", "abc"), ["--load-cookies", "jar"],
            files: ["jar": "# Netscape HTTP Cookie File\n" + cookie])
        #expect(cookies.code == 0, "\(cookies.error)")
        let header = try await Self.get(.require("X-Key") { $0 == "k" }, ["--header", "X-Key: k"])
        #expect(header.code == 0, "\(header.error)")
        let file = try await Self.get(
            Behaviour.require("X-Key") { $0 == "k" }.and(.require("X-Two") { $0 == "2" }), ["--header", "@fields"],
            files: ["fields": "X-Key: k\nX-Two: 2\n"])
        #expect(file.code == 0, "\(file.error)")
        let names = try await Self.get(
            Behaviour.require("User-Agent") { $0 == "tester/1" }.and(.require("Referer") { $0 == "http://a/b" }),
            ["--user-agent", "tester/1", "--referer", "http://a/b"])
        #expect(names.code == 0, "\(names.error)")
        #expect(try await Self.get(.require("X-Key") { $0 == "k" }, []).code == 4)
    }

    @Test("ferry get --proxy: option and http_proxy are used with credentials, no_proxy and none go direct")
    func proxy() async throws {
        let proxy = try await ProxyServer.start(credentials: ("u", "p/w"))
        let url = proxy.url.replacing("http://", with: "http://u:p%2Fw@")
        let option = try await Self.get(.honest, ["--proxy", url])
        #expect(option.code == 0, "\(option.error)")
        let afterOption = proxy.requests.count
        #expect(afterOption > 0)
        let variable = try await Self.get(.honest, [], environment: ["http_proxy": url])
        #expect(variable.code == 0, "\(variable.error)")
        let afterVariable = proxy.requests.count
        #expect(afterVariable > afterOption)
        #expect(try await Self.get(.honest, [], environment: ["http_proxy": url, "no_proxy": "127.0.0.1"]).code == 0)
        #expect(try await Self.get(.honest, ["--proxy", "none"], environment: ["http_proxy": url]).code == 0)
        #expect(proxy.requests.count == afterVariable)
        let refused = try await Self.get(.honest, ["--proxy", proxy.url, "--retries", "0"])
        #expect(refused.code != 0)
        #expect(!refused.error.contains("p/w"))
        await proxy.shutdown()
    }

    @Test("ferry get: -4 fetches from an IPv4 server, and -6 fails with exit code 3")
    func families() async throws {
        #expect(try await Self.get(.honest, ["-4"]).code == 0)
        let other = try await Self.get(.honest, ["-6", "--retries", "0"])
        #expect(other.code == 3, "\(other.error)")
    }

    @Test("ferry get --proxy: https uses a tunnel, and the certificate is still verified")
    func tunnel() async throws {
        var configuration = OriginServer.Configuration()
        configuration.certificate = .good
        let proxy = try await ProxyServer.start(hosts: ["localhost": "127.0.0.1"])
        try await OriginServer.with(configuration) { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            try place.write(OriginServer.caPEM, to: "ca.pem")
            let arguments = ["get", "--no-progress", "--proxy", proxy.url, server.url("/f.bin")]
            let trusted = try await FerryProcess.run(arguments + ["--ca-file", "ca.pem"], in: place)
            #expect(trusted.code == 0, "\(trusted.error)")
            #expect(proxy.requests.first?.method == "CONNECT")
            #expect(try await FerryProcess.run(arguments + ["-o", "g"], in: place).code == 10)
        }
        await proxy.shutdown()
    }

    @Test(
        "ferry get: a bad certificate is exit code 10 without a retry",
        arguments: [
            (Certificate.wrongHost, "is for another name; write the name"),
            (.expired, "expired on 2002-01-01; its server"),
            (.selfSigned, "self-signed, not issued by an authority; if it is the server's own, give it"),
            (.early, "not valid before 2100-01-01; if the date"),
        ])
    func certificates(certificate: Certificate, words: String) async throws {
        var configuration = OriginServer.Configuration()
        configuration.certificate = certificate
        try await OriginServer.with(configuration) { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            try place.write(OriginServer.caPEM, to: "ca.pem")
            let outcome = try await FerryProcess.run(
                ["get", "--no-progress", "--ca-file", "ca.pem", server.url("/f.bin")], in: place)
            #expect(outcome.code == 10, "\(outcome.error)")
            #expect(outcome.error.split(separator: "\n").count == 1, "\(outcome.error)")
            #expect(outcome.error.contains(words), "\(outcome.error)")
            #expect(place.names == ["ca.pem"])
        }
    }

    @Test("ferry get: -6 reaches an IPv6-only server, and -4 fails with the reason")
    func onlyIPv6() async throws {
        var configuration = OriginServer.Configuration()
        configuration.addresses = ["::1"]
        try await OriginServer.with(configuration) { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let url = "http://[::1]:\(server.port)/f.bin"
            let six = try await FerryProcess.run(["get", "--no-progress", "-6", url], in: place)
            #expect(six.code == 0, "\(six.error)")
            #expect(Self.resource.source.compare(file: place.path("f.bin"), size: Self.resource.size) == .equal)
            let four = try await FerryProcess.run(
                ["get", "--no-progress", "-4", "--retries", "0", "-o", "g.bin", url], in: place)
            #expect(four.code == 3)
            #expect(four.error.contains("not an IPv4 address"), "\(four.error)")
        }
    }

    @Test("ferry get: --proxy and all_proxy use a SOCKS proxy, which resolves the host name", arguments: [false, true])
    func socks(byEnvironment: Bool) async throws {
        let proxy = try await SOCKSServer.start(hosts: ["files.test": "127.0.0.1"])
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let outcome = try await FerryProcess.run(
                ["get", "--no-progress", "http://files.test:\(server.port)/f.bin"]
                    + (byEnvironment ? [] : ["--proxy", proxy.url]),
                in: place, environment: byEnvironment ? ["all_proxy": proxy.url] : [:])
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(Set(proxy.targets) == ["files.test:\(server.port)"])
            #expect(Self.resource.source.compare(file: place.path("f.bin"), size: Self.resource.size) == .equal)
        }
        await proxy.shutdown()
    }

    @Test("ferry plan: a 401 is exit code 5, and a 404 is exit code 4", arguments: [(401, 5), (404, 4)])
    func plan(status: Int, code: Int32) async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.always("/f.bin", .status(status))
            let outcome = try await FerryProcess.run(["plan", server.url("/f.bin")], in: Workplace())
            #expect(outcome.code == code, "\(outcome.error)")
            #expect(outcome.error.contains("\(status)"))
            #expect(outcome.output.isEmpty)
        }
    }
}
