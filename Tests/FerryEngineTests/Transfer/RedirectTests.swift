import FerryCore
import FerryEngine
import FerryTesting
import HTTPTypes
import Testing

@Suite("Redirects", .timeLimit(.minutes(30)))
struct RedirectTests {
    @Test(
        "Redirects: a chain of each status leads to the file and lists its URLs", arguments: [301, 302, 303, 307, 308])
    func chain(status: Int) async throws {
        try await withOrigin { server, transport in
            let resource = Resource(size: 5000, seed: 3)
            server.serve("/f", resource)
            server.always("/f", .redirectChain(3, status: status))
            let response = try await transport.fetch(TransferRequest(url: server.downloadURL("/f")))
            #expect(response.head.status == 200)
            #expect(response.redirects.count == 3)
            #expect(response.url == response.redirects.last)
            #expect(try await response.body.collect() == resource.bytes(0..<5000))
            #expect(server.requests.allSatisfy { $0.head.method == "GET" && $0.head["Referer"] == nil })
            // The bodies of redirects are short: the connection is kept.
            #expect(server.traffic.acceptedConnections == 1)
        }
    }

    @Test("Redirects: a request that follows none gets the redirect; HEAD has no body, whatever its length says")
    func unfollowed() async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 5000, seed: 3))
            server.route("/r") { _ in .redirect(to: "/f", fields: [Field("X-A", "b")]) }
            var request = TransferRequest(url: try server.downloadURL("/r"))
            request.method = .head
            let followed = try await transport.fetch(request)
            #expect(followed.head.status == 200 && followed.head.single(.contentLength) == "5000")
            #expect(try await followed.body.collect().isEmpty)
            request.followsRedirects = false
            let response = try await transport.fetch(request)
            #expect(response.head.status == 302 && response.redirects.isEmpty)
            #expect(server.requests.map(\.head.method) == ["HEAD", "HEAD", "HEAD"])
        }
    }

    @Test("Redirects: loops, endless chains, blank and double Locations are permanent failures (A33)")
    func endless() async throws {
        try await withOrigin { server, transport in
            for path in ["/loop", "/long", "/blank", "/double"] { server.serve(path, Resource(size: 10, seed: 1)) }
            server.always("/loop", .redirectLoop)
            server.always("/long", .redirectChain(25))
            server.always("/blank", .redirect(to: " "))
            server.always("/double", .redirectTwice(to: "/a", and: "/b"))
            for path in ["/loop", "/long", "/blank", "/double"] {
                let failure = await transport.failure(of: TransferRequest(url: try server.downloadURL(path)))
                #expect(failure?.kind == .redirect, "\(path)")
                #expect(failure?.isTransient == false)
            }
            #expect(server.requests.filter { $0.path == "/long" }.count == 21)
        }
    }

    @Test(
        "Redirects: a Location with another scheme than http or https is refused (A34)",
        arguments: ["file:///etc/passwd", "ftp://a.test/", "data:,x"])
    func schemes(location: String) async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            server.always("/f", .redirect(to: location))
            let failure = await transport.failure(of: TransferRequest(url: try server.downloadURL("/f")))
            #expect(failure?.kind == .redirect)
        }
    }

    @Test("Redirects: a redirect from https to http is followed only when it is allowed (A34)")
    func downgrade() async throws {
        var configuration = OriginServer.Configuration()
        configuration.certificate = .good
        var settings = TransferSettings()
        settings.insecure = true
        try await OriginServer.with { plain in
            plain.serve("/f", Resource(size: 10, seed: 1))
            try await withOrigin(configuration, settings: settings) { server, transport in
                server.serve("/f", Resource(size: 10, seed: 1))
                server.always("/f", .redirect(to: plain.url("/f")))
                var request = TransferRequest(url: try server.downloadURL("/f"))
                #expect(await transport.failure(of: request)?.kind == .downgrade)
                #expect(plain.requests.isEmpty)
                request.allowsDowngrade = true
                #expect(await transport.failure(of: request) == nil)
            }
        }
    }

    @Test("Redirects: secrets are sent to their own origin alone, and Ferry's own fields to each (A35)")
    func secrets() async throws {
        try await OriginServer.with { elsewhere in
            try await withOrigin { server, transport in
                elsewhere.serve("/g", Resource(size: 10, seed: 1))
                server.serve("/f", Resource(size: 10, seed: 1))
                server.always("/f", .redirect(to: elsewhere.url("/g")).and(.basicAuth("u", "secret")))
                var fields = HTTPFields()
                fields[.range] = "bytes=2-4"
                var user = HTTPFields()
                user[.cookie] = "s=secret"
                user[HTTPField.Name("X-Token")!] = "secret"
                user[.referer] = "http://r.test/"
                let request = TransferRequest(
                    url: try server.downloadURL("/f"), fields: fields, userFields: user,
                    credentials: Credentials(user: "u", password: "secret"))
                let response = try await transport.fetch(request)
                #expect(response.head.status == 206)
                let first = try #require(server.requests.last).head
                #expect(first["X-Token"] == "secret")
                #expect(first["Cookie"] == "s=secret")
                #expect(first["Authorization"] == "Basic dTpzZWNyZXQ=")
                #expect(first["Range"] == "bytes=2-4")
                let second = try #require(elsewhere.requests.first).head
                #expect(second["Range"] == "bytes=2-4")
                #expect(!second.fields.contains { $0.value.contains("secret") || $0.value.contains("c2Vjcm") })
                #expect(second["Referer"] == nil)
            }
        }
    }

    @Test("Redirects: cookies are kept within one chain and not beyond it")
    func cookies() async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            server.route("/start") { _ in
                .redirect(to: "/f", fields: [Field("Set-Cookie", "id=7; Path=/")])
            }
            server.always("/f", .requireCookie("id", "7"))
            let response = try await transport.fetch(TransferRequest(url: try server.downloadURL("/start")))
            #expect(response.head.status == 200)
            let direct = try await transport.fetch(TransferRequest(url: try server.downloadURL("/f")))
            #expect(direct.head.status == 403)
        }
    }

    @Test("Redirects: a redirect to the same URL that sets a cookie is not a loop")
    func cookieGate() async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            server.always(
                "/f",
                .when(
                    { $0["Cookie"] == nil }, .redirect(to: "/f", setCookie: "seen=1")))
            let response = try await transport.fetch(TransferRequest(url: try server.downloadURL("/f")))
            #expect(response.head.status == 200)
            #expect(response.redirects.count == 1)
        }
    }

    @Test("Redirects: the cookies of the user and those that servers set go into one field; the user's win")
    func cookiesOfUser() async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            server.route("/start") { _ in
                .redirect(to: "/f", fields: ["id=7; Path=/", "seen=1; Path=/"].map { Field("Set-Cookie", $0) })
            }
            var user = HTTPFields()
            for cookies in ["id=mine; a=1", "b=2"] { user.append(HTTPField(name: .cookie, value: cookies)) }
            let request = TransferRequest(url: try server.downloadURL("/start"), userFields: user)
            _ = try await transport.fetch(request).body.collect()
            let fields = server.requests.map { $0.head.fields.filter { $0.name.lowercased() == "cookie" }.map(\.value) }
            #expect(fields == [["id=mine; a=1; b=2"], ["id=mine; a=1; b=2; seen=1"]])
        }
    }

    @Test("HTTPTransport: requests have the default fields, and a user replaces only some of them")
    func fields() async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            _ = try await transport.fetch(TransferRequest(url: try server.downloadURL("/f"))).body.collect()
            var user = HTTPFields()
            user[.userAgent] = "mine/1"
            user[.acceptEncoding] = "gzip"
            user[.range] = "bytes=0-1"
            user[.connection] = "close"
            user[HTTPField.Name("Host")!] = "virtual.test"
            let request = TransferRequest(url: try server.downloadURL("/f"), userFields: user)
            _ = try await transport.fetch(request).body.collect()
            try #require(server.requests.count == 2)
            let plain = server.requests[0].head
            #expect(plain["User-Agent"] == "ferry/\(FerryVersion.text)")
            #expect(plain["Accept"] == "*/*")
            #expect(plain["Accept-Encoding"] == "identity")
            #expect(plain["Host"] == "127.0.0.1:\(server.port)")
            #expect(plain["ferry-exchange"] == nil)
            let own = server.requests[1].head
            #expect(own["User-Agent"] == "mine/1")
            #expect(own["Accept-Encoding"] == "identity")
            #expect(own["Range"] == nil)
            #expect(own["Connection"] == nil)
            #expect(own["Host"] == "virtual.test")
        }
    }

    @Test(
        "HTTPTransport: the request target is sent byte for byte as in the URL",
        arguments: ["/a%2Fb;c=1/[x]", "/%E4%F6?a=b%20c&d=[e]|f", "/a//b"])
    func target(path: String) async throws {
        try await withOrigin { server, transport in
            let url = try server.downloadURL(path)
            _ = try await transport.fetch(TransferRequest(url: url))
            #expect(server.requests.first?.head.target == url.requestTarget)
        }
    }

    @Test("Request target: a query is sent as it was given, also after a redirect (A71)")
    func rawQuery() async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            let target = "/f?sig={a}|[0]^`%&b=%zz%2f%41%"
            server.route("/r") { _ in .redirect(to: target) }
            for path in [target, "/r"] {
                let response = try await transport.fetch(TransferRequest(url: try server.downloadURL(path)))
                #expect(response.head.status == 200)
                #expect(server.requests.last?.head.target == target)
            }
        }
    }

    @Test("Redirects: a raw byte of Latin-1 in Location is percent-encoded (A72)")
    func rawByte() async throws {
        try await withOrigin { server, transport in
            server.serve("/caf%E9", Resource(size: 10, seed: 1))
            let head = Array("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /caf".utf8) + [0xE9]
            server.serve("/r", Resource(size: 10, seed: 1))
            server.always("/r", .raw(bytes: head + Array("\r\n\r\n".utf8)))
            let response = try await transport.fetch(TransferRequest(url: try server.downloadURL("/r")))
            #expect(response.head.status == 200)
            #expect(server.requests.last?.head.target == "/caf%E9")
        }
    }
}
