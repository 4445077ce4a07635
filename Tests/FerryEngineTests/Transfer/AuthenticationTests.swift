import FerryCore
import FerryEngine
import FerryTesting
import HTTPTypes
import Synchronization
import Testing

@Suite("Authentication", .timeLimit(.minutes(30)))
struct AuthenticationTests {
    private let alice = Credentials(user: "alice", password: "pa:ss wörd")

    @Test("Basic authentication: over https the first request carries the credentials")
    func basic() async throws {
        var configuration = OriginServer.Configuration()
        configuration.certificate = .good
        var settings = TransferSettings()
        settings.insecure = true
        try await withOrigin(configuration, settings: settings) { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            server.always("/f", .basicAuth("alice", "pa:ss wörd"))
            let request = TransferRequest(url: try server.downloadURL("/f"), credentials: alice)
            #expect(try await transport.fetch(request).head.status == 200)
            #expect(server.requests.count == 1)
        }
    }

    @Test("Basic authentication: over http the credentials are sent only after a 401, and remembered then")
    func basicInClear() async throws {
        try await withOrigin { server, transport in
            server.serve("/open", Resource(size: 10, seed: 1))
            server.serve("/f", Resource(size: 10, seed: 1))
            server.always("/f", .basicAuth("alice", "pa:ss wörd"))
            let open = TransferRequest(url: try server.downloadURL("/open"), credentials: alice)
            #expect(try await transport.fetch(open).head.status == 200)
            #expect(server.requests.map { $0.head["Authorization"] } == [nil])
            let request = TransferRequest(url: try server.downloadURL("/f"), credentials: alice)
            for _ in 0..<2 { #expect(try await transport.fetch(request).head.status == 200) }
            let sent = server.requests.filter { $0.path == "/f" }.map { $0.head["Authorization"] != nil }
            #expect(sent == [false, true, true])
        }
    }

    @Test("Basic authentication: over http concurrent requests that are refused at first all succeed")
    func basicAtOnce() async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            server.always("/f", .basicAuth("alice", "pa:ss wörd"))
            let request = TransferRequest(url: try server.downloadURL("/f"), credentials: alice)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try await transport.fetch(request).head.status } }
                for try await status in group { #expect(status == 200) }
            }
        }
    }

    @Test("Authorization header: a user's own header is sent unchanged over http")
    func bearerInClear() async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            var user = HTTPFields()
            user[.authorization] = "Bearer t"
            let request = TransferRequest(url: try server.downloadURL("/f"), userFields: user)
            #expect(try await transport.fetch(request).head.status == 200)
            #expect(server.requests.map { $0.head["Authorization"] } == ["Bearer t"])
        }
    }

    @Test("URL user info: it authenticates at its origin and is left out of the request target")
    func userInfo() async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            server.always("/f", .basicAuth("bob", "x"))
            let url = try DownloadURL("http://bob:x@127.0.0.1:\(server.port)/f")
            let response = try await transport.fetch(TransferRequest(url: url, credentials: alice))
            #expect(response.head.status == 200)
            #expect(server.requests.first?.head.target == "/f")
        }
    }

    @Test(
        "Digest authentication: a challenge is answered once, and later requests count up",
        arguments: ["MD5", "SHA-256"])
    func digest(algorithm: String) async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            let kind = try #require(Behaviour.DigestAlgorithm(rawValue: algorithm))
            server.always("/f", .digestAuth("alice", "pa:ss wörd", algorithm: kind))
            let request = TransferRequest(url: try server.downloadURL("/f?q=1"), credentials: alice)
            for _ in 0..<3 { #expect(try await transport.fetch(request).head.status == 200) }
            let sent = server.requests.map { $0.head["Authorization"] ?? "" }
            try #require(sent.count == 4)
            #expect(sent[0] == "")
            #expect(sent[1].contains("nc=00000001"))
            #expect(sent[2].contains("nc=00000002"))
            #expect(sent[3].contains("nc=00000003"))
        }
    }

    @Test("Authentication: a wrong password gives the 401 after two requests")
    func wrongPassword() async throws {
        try await withOrigin { server, transport in
            server.serve("/basic", Resource(size: 10, seed: 1))
            server.serve("/digest", Resource(size: 10, seed: 1))
            server.always("/basic", .basicAuth("alice", "right"))
            server.always("/digest", .digestAuth("alice", "right"))
            for (path, count) in [("/basic", 2), ("/digest", 2)] {
                let request = TransferRequest(url: try server.downloadURL(path), credentials: alice)
                #expect(try await transport.fetch(request).head.status == 401)
                #expect(server.requests.filter { $0.path == path }.count == count)
            }
        }
    }

    @Test("Digest authentication: a stale nonce is answered once more")
    func stale() async throws {
        try await withOrigin { server, transport in
            let hits = Mutex(0)
            server.route("/f") { request in
                let hit = hits.withLock { count in
                    count += 1
                    return count
                }
                guard hit < 3 else { return .page(200, "in") }
                let stale = hit == 2 ? ", stale=true" : ""
                let field = "Digest realm=\"r\", qop=\"auth\", nonce=\"n\(hit)\"\(stale)"
                return .page(401, "no", fields: [Field("WWW-Authenticate", field)])
            }
            let request = TransferRequest(url: try server.downloadURL("/f"), credentials: alice)
            #expect(try await transport.fetch(request).head.status == 200)
            #expect(server.requests.last?.head["Authorization"]?.contains("nonce=\"n2\"") == true)
        }
    }

    @Test("Authentication: without credentials the 401 is returned, and a user's Authorization is never replaced")
    func none() async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            server.always("/f", .digestAuth("alice", "right"))
            #expect(try await transport.fetch(TransferRequest(url: try server.downloadURL("/f"))).head.status == 401)
            var user = HTTPFields()
            user[.authorization] = "Bearer t"
            let request = TransferRequest(url: try server.downloadURL("/f"), userFields: user, credentials: alice)
            #expect(try await transport.fetch(request).head.status == 401)
            #expect(server.requests.count == 2)
            #expect(server.requests.last?.head["Authorization"] == "Bearer t")
        }
    }

    @Test("netrc: a redirect's host gets the credentials of the entry that names it, and no others (A74)")
    func netrc() async throws {
        try await withNetrc(isTLS: true, "machine localhost login a password w default login d password d") {
            server, transport in
            let named = server.url("/f", host: "localhost")
            server.route("/to-named") { _ in .redirect(to: named) }
            let other = server.url("/f", host: "127.0.0.1")
            server.route("/to-other") { _ in .redirect(to: other) }
            let request = TransferRequest(url: try server.downloadURL("/to-named", host: "127.0.0.1"))
            #expect(try await transport.fetch(request).head.status == 200)
            #expect(server.requests.map { $0.head["Authorization"] != nil } == [false, true])
            let another = TransferRequest(url: try server.downloadURL("/to-other", host: "localhost"))
            #expect(try await transport.fetch(another).head.status == 401)
            #expect(server.requests.last?.head["Authorization"] == nil)
        }
    }

    @Test("netrc: a URL that the user did not give, as of a mirror or a journal, leads to no entry")
    func netrcOfOthers() async throws {
        try await withNetrc(isTLS: true, "machine localhost login a password w") { server, transport in
            let named = server.url("/f", host: "localhost")
            server.route("/r") { _ in .redirect(to: named) }
            let url = try server.downloadURL("/r", host: "127.0.0.1")
            for home in [nil, Origin(of: try DownloadURL("https://h.test/"))] {
                let secrets = SecretScope(home: home, headers: HTTPFields(), credentials: nil, source: url)
                let request = TransferRequest(url: url, secrets: secrets)
                #expect(try await transport.fetch(request).head.status == 401)
            }
            // Without a redirect the planner decides.
            let direct = TransferRequest(url: try server.downloadURL("/f", host: "localhost"))
            #expect(try await transport.fetch(direct).head.status == 401)
            #expect(server.requests.allSatisfy { $0.head["Authorization"] == nil })
        }
    }

    @Test("netrc: over http no redirect leads to an entry, as anybody on the way can make one")
    func netrcInClear() async throws {
        try await withNetrc(isTLS: false, "machine localhost login a password w") { server, transport in
            let named = server.url("/f", host: "localhost")
            server.route("/r") { _ in .redirect(to: named) }
            let request = TransferRequest(url: try server.downloadURL("/r"))
            #expect(try await transport.fetch(request).head.status == 401)
            #expect(server.requests.allSatisfy { $0.head["Authorization"] == nil })
        }
    }

    /// Runs a body with a server whose `/f` needs the user `a` with the password `w`.
    private func withNetrc(
        isTLS: Bool, _ text: String, _ body: (OriginServer, HTTPTransport) async throws -> Void
    ) async throws {
        var configuration = OriginServer.Configuration()
        if isTLS { configuration.certificate = .good }
        var settings = TransferSettings()
        settings.insecure = true
        settings.netrc = try Netrc(text)
        try await withOrigin(configuration, settings: settings) { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            server.always("/f", .basicAuth("a", "w"))
            try await body(server, transport)
        }
    }
}
