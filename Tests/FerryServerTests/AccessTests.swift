import AsyncHTTPClient
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import FerryServer

@Suite("API over TCP: requests", .timeLimit(.minutes(30)))
struct AccessTests {
    private func port(_ rig: DaemonRig) throws -> Int { try #require(rig.addresses.port) }

    private func request(_ line: String, host: String, _ fields: [String] = [], body: String = "") -> String {
        var text = "\(line) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n"
        for field in fields { text += field + "\r\n" }
        if !body.isEmpty { text += "Content-Length: \(body.utf8.count)\r\n" }
        return text + "\r\n" + body
    }

    @Test("API over TCP: a DNS rebinding request gets 421 for every path, static files included")
    func rebinding() async throws {
        try await DaemonRig.run { rig in
            let port = try port(rig)
            let token = "Authorization: Bearer \(rig.token)"
            for target in ["/", "/index.html", "/api/v1", "/api/v1/downloads", "/nothing"] {
                for host in ["evil.example:\(port)", "evil.example", "", "127.0.0.1", "127.0.0.1:\(port) "]
                where host != "127.0.0.1:\(port) " {
                    let reply = await RawConnection.send(
                        request("GET \(target)", host: host, [token]), port: port)
                    #expect(reply.status == 421, "\(host) \(target)")
                    #expect(!reply.body.contains("<"), "\(host) \(target)")
                }
            }
            // A browser gets a page that says where to go, with nothing of the request in it.
            for (target, isPage) in [("/", true), ("/?<b>", true), ("/api/v1", false), ("/index.html", false)] {
                let reply = await RawConnection.send(
                    request("GET \(target)", host: "evil.example:\(port)", ["Accept: text/html,*/*"]), port: port)
                #expect(reply.status == 421)
                #expect(reply.body.contains("ssh -L \(port):127.0.0.1:\(port)") == isPage, "\(target)")
                #expect(!reply.body.contains("evil.example") && !reply.body.contains("<b>"), "\(target)")
            }
            let two = "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
            #expect([400, 421].contains(await RawConnection.send(two, port: port).status))
            let none = await RawConnection.send("GET / HTTP/1.0\r\n\r\n", port: port)
            #expect(none.status == 421)
            // A target may name a host too, other than the Host field.
            for target in ["http://127.0.0.1:\(port)/api/v1", "http://evil.example/api/v1", "*", "evil.example:80"] {
                let reply = await RawConnection.send(
                    request("GET \(target)", host: "127.0.0.1:\(port)", [token]), port: port)
                #expect(reply.status == 400, "\(target)")
            }
        }
    }

    @Test("API over TCP: the page and the API answer on the loopback addresses only")
    func loopbacks() async throws {
        try await DaemonRig.run { rig async throws in
            let port = try port(rig)
            #expect(rig.addresses.hosts.allSatisfy { ["127.0.0.1:\(port)", "[::1]:\(port)"].contains($0) })
            #expect(rig.addresses.hosts.contains("127.0.0.1:\(port)"))
            for host in rig.addresses.hosts {
                let page = try await rig.http.get(url: "http://\(host)/").get()
                #expect(page.status == .ok, "\(host)")
                let api = try await rig.http.get(url: "http://\(host)/api/v1").get()
                #expect(api.status == .unauthorized, "\(host)")
            }
        }
    }

    @Test("API over TCP: every route needs the token in its header, and the page needs none")
    func token() async throws {
        try await DaemonRig.run { rig in
            let port = try port(rig)
            let token = rig.token
            for route in Route.allCases where !route.isOpen {
                let reply = try await rig.send(
                    route.method.rawValue, route.path(id: "x", session: "x"),
                    headers: ["Content-Type": "application/json"], port: port)
                #expect(reply.status == 401, "\(route)")
                #expect(reply.headers["www-authenticate"] == "Bearer")
                #expect(!reply.text.contains(token))
            }
            let wrong = String(token.reversed())
            for value in ["Bearer \(wrong)", "Bearer", "Basic \(token)", token] {
                let reply = try await rig.send("GET", "/api/v1", headers: ["Authorization": value], port: port)
                #expect(reply.status == 401, "\(value)")
            }
            for query in ["token=\(token)", "access_token=\(token)"] {
                #expect(try await rig.send("GET", "/api/v1?\(query)", port: port).status == 401)
            }
            let good = ["Authorization": "Bearer \(token)"]
            for path in ["/api/v1", "/api/v1/"] {
                #expect(try await rig.send("GET", path, headers: good, port: port).status == 200, "\(path)")
            }
            #expect(try await rig.send("GET", "/", port: port).status == 200)
        }
    }

    @Test("API over TCP: foreign origins, sites and content types are refused even with the token")
    func others() async throws {
        try await DaemonRig.run { rig in
            let port = try port(rig)
            let own = ["Authorization": "Bearer \(rig.token)", "Content-Type": "application/json"]
            func status(_ more: [String: String]) async throws -> Int {
                try await rig.send(
                    "POST", Route.plan.path(), headers: own.merging(more) { $1 }, body: Data("{}".utf8), port: port
                ).status
            }
            // The request is admitted, and refused for its missing URL.
            #expect(try await status([:]) == 400)
            #expect(try await status(["Origin": "http://127.0.0.1:\(port)"]) == 400)
            #expect(try await status(["Origin": "http://evil.example"]) == 403)
            #expect(try await status(["Origin": "null"]) == 403)
            #expect(try await status(["Sec-Fetch-Site": "cross-site"]) == 403)
            #expect(try await status(["Sec-Fetch-Site": "same-site"]) == 403)
            #expect(try await status(["Content-Type": "text/plain"]) == 415)
        }
    }

    @Test("API over TCP: no CORS header is sent, and framing and foreign scripts are forbidden")
    func headers() async throws {
        try await DaemonRig.run { rig in
            let port = try port(rig)
            let preflight = request(
                "OPTIONS /api/v1/downloads", host: "127.0.0.1:\(port)",
                ["Origin: http://127.0.0.1:\(port)", "Access-Control-Request-Method: POST"])
            let answered = await RawConnection.send(preflight, port: port)
            #expect((answered.status ?? 0) >= 400)
            for path in ["/", "/api/v1", "/nothing", "/api/v1/downloads?callback=x"] {
                let reply = try await rig.send(
                    "GET", path, headers: ["Authorization": "Bearer \(rig.token)"], port: port)
                #expect(reply.headers.keys.allSatisfy { !$0.hasPrefix("access-control-") })
                #expect(reply.headers["x-content-type-options"] == "nosniff")
                #expect(reply.headers["referrer-policy"] == "no-referrer")
                #expect(reply.headers["x-frame-options"] == "DENY")
                let policy = reply.headers["content-security-policy"] ?? ""
                #expect(policy.contains("frame-ancestors 'none'"), "\(path)")
                #expect(policy.contains("default-src 'none'"))
                #expect(!policy.contains("unsafe"))
            }
        }
    }

    @Test(
        "API over TCP: a path that leads out of the page's files gets no file",
        arguments: [
            "/../token", "/..%2ftoken", "/%2e%2e/token", "/..\\token", "//etc/passwd", "/./index.html", "/index.html/",
            "/index.html%00.js", "/Assets/index.html", "/%69ndex.html", "/index.html/../../../etc/passwd",
            "/api/../index.html", "/api/v1/../../state/token", "/apiary",
        ])
    func traversal(path: String) async throws {
        try await DaemonRig.run { rig in
            let port = try port(rig)
            let reply = await RawConnection.send(request("GET \(path)", host: "127.0.0.1:\(port)"), port: port)
            #expect([400, 401, 404].contains(reply.status), "\(reply.status ?? 0)")
            #expect(!reply.body.contains("<html"))
            #expect(!reply.body.contains("root:"))
        }
    }

    @Test("API over TCP: the page is served whole, revalidated by its ETag, and read-only")
    func page() async throws {
        try await DaemonRig.run { rig in
            let port = try port(rig)
            let reply = try await rig.send("GET", "/", port: port)
            #expect(reply.headers["content-type"] == "text/html; charset=utf-8")
            #expect(reply.headers["vary"] == "Accept-Encoding")
            #expect(reply.headers["content-encoding"] == nil)
            let index = try String(contentsOfFile: Self.assets + "/index.html", encoding: .utf8)
            #expect(reply.text == index)
            let tag = try #require(reply.headers["etag"])
            #expect(try await rig.send("GET", "/", headers: ["If-None-Match": tag], port: port).status == 304)
            let head = try await rig.send("HEAD", "/index.html", port: port)
            #expect(head.status == 200)
            #expect(head.data.isEmpty)
            let json = ["Content-Type": "application/json"]
            #expect(try await rig.send("POST", "/", headers: json, port: port).status == 405)
        }
    }

    private static let assets = Repository.url("Sources/FerryServer/Page/Assets").path

    @Test("PageAssets: every file of the page's folder is compiled in")
    func assets() throws {
        let files = FileManager.default.enumerator(atPath: Self.assets)?.compactMap { $0 as? String } ?? []
        var found: Set<String> = []
        for file in files {
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: Self.assets + "/" + file, isDirectory: &isDirectory)
            if !isDirectory.boolValue { found.insert("/" + file) }
        }
        #expect(found == Set(PageAssets.files.keys))
    }

    @Test("API over TCP: files are placed below the session's directory, and nowhere else")
    func destinations() async throws {
        try await DaemonRig.run { rig in
            let port = try port(rig)
            let headers = ["Authorization": "Bearer \(rig.token)", "Content-Type": "application/json"]
            func add(_ change: (inout RawRequest) -> Void) async throws -> DaemonRig.Reply {
                var new = RawRequest(urls: [rig.url("/file/1k")])
                new.startsPaused = true
                change(&new)
                return try await rig.send(
                    "POST", Route.add.path(), headers: headers, body: try JSONCoding.encode(new), port: port)
            }
            #expect(try await add { $0.directory = "music" }.status == 201)
            let outside = rig.directory
            let refused: [(inout RawRequest) -> Void] = [
                { $0.directory = ".." }, { $0.directory = "/etc" }, { $0.path = "/etc/x" },
                { $0.path = outside + "/downloads/x" }, { $0.name = "../x" }, { $0.name = ".profile" },
                { $0.part = outside + "/downloads/x.part" }, { $0.directory = outside },
            ]
            for change in refused {
                let reply = try await add(change)
                #expect(reply.status == 400, "\(reply.text)")
            }
            var directory = SettingsChange()
            directory.directory = "/etc"
            let moved = try await rig.send(
                "PATCH", Route.changeSettings.path(), headers: headers, body: try JSONCoding.encode(directory),
                port: port)
            #expect(moved.status == 403)
        }
    }

    @Test("API over TCP: heads that are too large or have too many fields are refused")
    func limits() async throws {
        try await DaemonRig.run { rig in
            let port = try port(rig)
            let host = "127.0.0.1:\(port)"
            let long = request("GET /", host: host, ["X-Long: " + String(repeating: "a", count: 40_000)])
            #expect(await RawConnection.send(long, port: port).status != 200)
            let many = request("GET /", host: host, (0..<200).map { "X-\($0): a" })
            #expect(await RawConnection.send(many, port: port).status != 200)
            let target = request("GET /" + String(repeating: "a", count: 100_000), host: host)
            #expect(await RawConnection.send(target, port: port).status != 200)
            #expect(await RawConnection.send(request("GET /", host: host), port: port).status == 200)
        }
    }

    @Test("API over TCP: connections beyond the limit wait until others have closed")
    func connections() async throws {
        try await DaemonRig.run({ $0.mostConnections = 3 }) { rig in
            let port = try port(rig)
            let asking = "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
            var held: [Int32] = []
            for _ in 0..<3 { held.append(try #require(await RawConnection.hold(asking, port: port))) }
            let answered = Atomic(false)
            async let last = {
                defer { answered.store(true, ordering: .relaxed) }
                return await RawConnection.send(request("GET /", host: "127.0.0.1:\(port)"), port: port)
            }()
            // The Unix socket is not affected by the limit over TCP.
            for _ in 0..<20 { #expect(try await rig.ask(.greeting).status == 200) }
            let isAnswered = answered.load(ordering: .relaxed)
            #expect(!isAnswered)
            for descriptor in held { close(descriptor) }
            #expect(await last.status == 200)
        }
    }
}
