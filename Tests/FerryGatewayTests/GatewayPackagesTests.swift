import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryGateway
@testable import FerryServer

@Suite("The gateway before an index of packages", .timeLimit(.minutes(30)))
struct GatewayPackagesTests {
    /// Serves a page with one file, and returns the gateway's link to it.
    private static func link(
        _ rig: DaemonRig, _ wheel: Resource = Resource(size: 300_000, seed: 7), digest: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> String {
        rig.origin.serve("/files/six-1.whl", wheel)
        let fragment = "#sha256=\(digest ?? wheel.sha256)"
        rig.origin.route("/simple/six/") { _ in .page(200, "<a href=\"../../files/six-1.whl\(fragment)\">six</a>") }
        let page = try await rig.gateway("/gw/pypi/simple/six/", "GET", headers)
        #expect(page.status == 200)
        let path = try #require(page.text.firstMatch(of: /href="([^"#]*)#sha256=/)?.1)
        return String(path)
    }

    @Test(
        "A file is fetched once for all who ask at once, later ones, and after a restart; it is compared with the digest"
    )
    func shared() async throws {
        let wheel = Resource(size: 300_000, seed: 7)
        try await DaemonRig.runWithGateway(then: { rig in
            let path = try await Self.link(rig, wheel)
            #expect(try await rig.gateway(path).data == Data(wheel.bytes(0..<wheel.size)))
            #expect(rig.origin.bodyBytes("/files/six-1.whl") == wheel.size)
        }) { rig in
            let path = try await Self.link(rig, wheel)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let reply = try await rig.gateway(path)
                        #expect(reply.status == 200 && reply.data == Data(wheel.bytes(0..<wheel.size)))
                        #expect(reply.headers["content-length"] == "300000")
                    }
                }
                try await group.waitForAll()
            }
            #expect(rig.origin.bodyBytes("/files/six-1.whl") == wheel.size)
            let cached = try await rig.cached()
            #expect(cached.map(\.status.state) == [.completed(.digest)])
            #expect(try await rig.ask(.list).shape(DownloadPage.self).items.isEmpty)
            let part = try await rig.gateway(path, "GET", ["Range": "bytes=100-199"])
            #expect(part.status == 206 && part.data == Data(wheel.bytes(100..<200)))
            #expect(part.headers["content-range"] == "bytes 100-199/300000")
            #expect(try await rig.gateway(path, "GET", ["Range": "bytes=300000-"]).status == 416)
            let head = try await rig.gateway(path, "HEAD")
            #expect(head.status == 200 && head.headers["content-length"] == "300000" && head.data.isEmpty)
            #expect(rig.origin.bodyBytes("/files/six-1.whl") == wheel.size)
        }
    }

    @Test("A file with another digest never arrives whole")
    func wrongDigest() async throws {
        try await DaemonRig.runWithGateway { rig in
            let path = try await Self.link(rig, digest: String(repeating: "0", count: 64))
            let reply = try? await rig.gateway(path)
            #expect(reply == nil || reply?.status != 200)
            // The next request says why.
            let again = try await rig.gateway(path)
            #expect(again.status == 502 && again.problem?.code == "checksum" && !again.text.contains("--checksum"))
            // Also when its bytes are gone.
            await rig.log.wait(for: #""reason": damaged"#)
            #expect(try await rig.cached().isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: rig.place.state + "/gateway/pypi").isEmpty)
            let third = try await rig.gateway(path)
            #expect(third.status == 502 && third.problem?.code == "checksum")
            #expect(rig.origin.bodyBytes("/files/six-1.whl") == 300_000)
            #expect(rig.log.text.contains("the gateway refused a request"))
        }
    }

    @Test("Pages are asked for each time; what a client has is not sent again; errors of the index pass through")
    func pages() async throws {
        try await DaemonRig.runWithGateway { rig in
            rig.origin.route("/simple/") { request in
                request["If-None-Match"] == "\"1\""
                    ? Answer(304, fields: [Field("ETag", "\"1\"")])
                    : .page(
                        200, #"{"files": [], "meta": {}}"#, contentType: "application/vnd.pypi.simple.v1+json",
                        fields: [Field("ETag", "\"1\""), Field("Set-Cookie", "a=b"), Field("X-Evil", "x")])
            }
            let page = try await rig.gateway("/gw/pypi/simple/", "GET", ["Accept": "application/json"])
            #expect(page.headers["etag"] == "W/\"1\"" && page.headers["content-type"]?.contains("json") == true)
            #expect(page.headers["set-cookie"] == nil && page.headers["x-evil"] == nil)
            #expect(page.headers["content-security-policy"]?.contains("default-src 'none'") == true)
            #expect(try await rig.gateway("/gw/pypi/simple/", "GET", ["If-None-Match": "\"1\""]).status == 304)
            #expect(try await rig.gateway("/gw/pypi/simple/none/").status == 404)
            #expect(rig.origin.requests.map { $0.head["Accept"] }.first == "application/json")
            #expect(rig.origin.requests.count == 3)
        }
    }

    @Test("A kind without an upstream names the option; a link of nobody, another method and another Host are refused")
    func refusals() async throws {
        try await DaemonRig.runWithGateway(["pypi=/simple/"]) { rig in
            let none = try await rig.gateway("/gw/hf/api/models/x")
            #expect(none.status == 404 && none.text.contains("--gateway-upstream hf=URL"))
            #expect(try await rig.gateway("/gw/pypi/file/x/-/aHR0cDovLzEyNy4wLjAuMS8/y").status == 404)
            #expect(try await rig.gateway("/gw/pypi/simple/", "POST").status == 405)
            #expect(try await rig.gateway("/gw/pypi/simple/..%2f..%2fx").status == 400)
            #expect(try await rig.gateway("/gw/pypi/simple/", "GET", ["Host": "evil.example"]).status == 421)
            #expect(try await rig.gateway("/gw/pypi/simple/", "GET", ["Origin": "http://127.0.0.1"]).status == 403)
            for path in ["/", "/api/v1", "/api/v1/downloads", "/gw", "/index.html"] {
                #expect(try await rig.gateway(path).status == 404, "\(path)")
            }
            #expect(rig.origin.requests.isEmpty)
            let port = try #require(rig.addresses.port)
            #expect(try await rig.send("GET", "/gw/pypi/simple/", port: port).status == 404)
        }
    }

    @Test("Off unless asked for")
    func off() async throws {
        try await DaemonRig.run { rig in
            #expect(rig.addresses.doors["gateway"] == nil && rig.daemon.gateway == nil)
            #expect(!FileManager.default.fileExists(atPath: rig.place.state + "/gateway"))
        }
    }

    @Test("Private bytes: each client's own credentials are asked about; they are in no journal, list or log")
    func credentials() async throws {
        try await DaemonRig.runWithGateway { rig in
            let good = ["Authorization": "Basic Z29vZDpzZWNyZXQ=", "Cookie": "session=c00kie"]
            let needed: Behaviour = .when(
                { $0["Authorization"] == good["Authorization"] }, .honest, otherwise: .status(401))
            let wheel = Resource(size: 400_000, seed: 3)
            let path = try await Self.link(rig, wheel, headers: good)
            rig.origin.always("/files/six-1.whl", needed)
            #expect(try await rig.gateway(path).status == 401)
            #expect(try await rig.gateway(path, "GET", good).data.count == 400_000)
            #expect(try await rig.gateway(path).status == 401)
            #expect(try await rig.gateway(path, "GET", ["Authorization": "Basic eDp5"]).status == 401)
            // The server has said yes to these a moment ago.
            let before = rig.origin.requests.count
            #expect(try await rig.gateway(path, "GET", good).status == 200)
            #expect(rig.origin.requests.count == before)
            let shown = try await rig.ask(.list, session: "gateway").text
            for secret in ["Z29vZDpzZWNyZXQ=", "c00kie"] {
                #expect(!shown.contains(secret) && !rig.log.text.contains(secret))
                for case let name as String in FileManager.default.enumerator(atPath: rig.place.state) ?? .init() {
                    let data = FileManager.default.contents(atPath: rig.place.state + "/" + name) ?? Data()
                    #expect(data.firstRange(of: Data(secret.utf8)) == nil, "\(name)")
                }
            }
        }
    }

    @Test("Credentials are not sent to another origin that a page names")
    func otherOrigin() async throws {
        try await OriginServer.with { other in
            other.serve("/x-1.whl", Resource(size: 1000, seed: 2))
            let link = other.url("/x-1.whl")
            try await DaemonRig.runWithGateway { rig in
                rig.origin.route("/simple/x/") { _ in .page(200, "<a href=\"\(link)\">x</a>") }
                let headers = ["Authorization": "Basic eDp5", "Cookie": "a=b"]
                let page = try await rig.gateway("/gw/pypi/simple/x/", "GET", headers)
                let path = try #require(page.text.firstMatch(of: /href="([^"]*)"/)?.1)
                #expect(try await rig.gateway(String(path), "GET", headers).data.count == 1000)
                #expect(other.requests.count == 2)
                for request in other.requests {
                    #expect(request.head["Authorization"] == nil && request.head["Cookie"] == nil)
                }
            }
        }
    }

    @Test("A file without a digest is told apart by its validators")
    func changed() async throws {
        try await DaemonRig.runWithGateway { rig in
            rig.origin.route("/simple/x/") { _ in .page(200, "<a href=/files/x-1.zip>x</a>") }
            let page = try await rig.gateway("/gw/pypi/simple/x/")
            let path = String(try #require(page.text.firstMatch(of: /href="([^"]*)"/)?.1))
            for seed in [1, 2] as [UInt64] {
                let file = Resource(size: 5000, seed: seed)
                rig.origin.serve("/files/x-1.zip", file)
                for _ in 0..<2 { #expect(try await rig.gateway(path).data == Data(file.bytes(0..<5000))) }
            }
            #expect(rig.origin.bodyBytes("/files/x-1.zip") == 10_000)
        }
    }

    @Test(
        "Cache: the least recently used files are removed beyond the size, all beyond the age, none that a client holds"
    )
    func removal() async throws {
        try await DaemonRig.runWithGateway(configure: { $0.flags[.gatewaySize] = .whole(3500) }) { rig in
            rig.origin.route("/simple/x/") { _ in
                .page(200, (1...4).map { "<a href=/f/\($0).zip>\($0)</a>" }.joined())
            }
            for number in 1...4 { rig.origin.serve("/f/\(number).zip", Resource(size: 1000, seed: UInt64(number))) }
            let page = try await rig.gateway("/gw/pypi/simple/x/")
            let paths = page.text.matches(of: /href="([^"]*)"/).map { String($0.1) }
            for path in paths[..<3] + paths[..<1] + paths[3...] {
                #expect(try await rig.gateway(path).data.count == 1000)
            }
            let cache = try #require(rig.daemon.gateway?.cache)
            try await cache.sweep()
            let labels = try await rig.cached().compactMap(\.label)
            #expect(labels.sorted() == ["1.zip", "3.zip", "4.zip"])
            #expect(try await rig.gateway(paths[0]).data.count == 1000)
            #expect(rig.origin.bodyBytes("/f/1.zip") == 1000)
            #expect(try await rig.gateway(paths[1]).data.count == 1000)
            #expect(rig.origin.bodyBytes("/f/2.zip") == 2000)
        }
    }
}
