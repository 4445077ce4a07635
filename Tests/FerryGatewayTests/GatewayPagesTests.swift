import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryGateway
@testable import FerryServer

@Suite("Pages of the gateway", .timeLimit(.minutes(30)))
struct GatewayPagesTests {
    @Test("Index page: what is made of links is counted while it is made, in HTML and in JSON")
    func amplified() throws {
        let base = "http://index.example/" + String(repeating: "d/", count: 2000)
        let page = "<base href=\"\(base)\">" + String(repeating: "<a href=x>", count: 2000)
        let index = IndexPage(try DownloadURL("http://index.example/"), most: 1 << 20) { target, _ in target.text }
        #expect(throws: IndexPage.TooLarge.self) { try index.rewriting(Array(page.utf8)) }
        let long = IndexPage(try DownloadURL(base), most: 1 << 20) { target, _ in target.text }
        let files = JSONValue.list(Array(repeating: ["url": "x"], count: 2000))
        #expect(throws: IndexPage.TooLarge.self) { try long.rewriting(["files": files]) }
        #expect(throws: IndexPage.TooLarge.self) {
            try IndexPage(try DownloadURL(base), most: 10) { _, _ in nil }.rewriting(Array("no links at all".utf8))
        }
    }

    @Test("A page that grows beyond its bound, or has too many values, is refused with the reason, and holds no memory")
    func refused() async throws {
        try await DaemonRig.runWithGateway { rig in
            let base = rig.url("/") + String(repeating: "d/", count: 4000)
            let html = "<base href=\"\(base)\">" + String(repeating: "<a href=x>", count: 20_000)
            rig.origin.route("/simple/html/") { _ in .page(200, html) }
            let json = "{\"files\":[" + String(repeating: "0,", count: 1 << 20) + "0]}"
            rig.origin.route("/simple/json/") { _ in .page(200, json, contentType: "application/json") }
            rig.origin.route("/hub/api/models/a/tree/main") { _ in .page(200, json, contentType: "application/json") }
            for path in ["pypi/simple/html/", "pypi/simple/json/", "hf/api/models/a/tree/main"] {
                let reply = try await rig.gateway("/gw/" + path)
                #expect(reply.status == 502 && reply.problem?.code == "tooLarge", "\(path)")
            }
            #expect(rig.daemon.gateway?.pageBytes == 0)
        }
    }

    @Test("A page whose upstream stops is given up after a time, with the reason")
    func stalled() async throws {
        try await DaemonRig.runWithGateway(limits: { $0.pageIdle = .milliseconds(100) }) { rig in
            rig.origin.serve("/simple/x/", Resource(text: String(repeating: "x", count: 50_000)))
            rig.origin.always("/simple/x/", .all(.field("Content-Type", "text/html"), .stall(after: 20_000)))
            let reply = try await rig.gateway("/gw/pypi/simple/x/")
            #expect(reply.status == 504 && reply.problem?.title == "Upstream too slow")
            #expect(rig.daemon.gateway?.pageBytes == 0)
        }
    }

    @Test("A page whose client has gone gives its memory back, although the upstream does not go on")
    func gone() async throws {
        try await DaemonRig.runWithGateway { rig in
            let gate = Gate()
            rig.origin.serve("/simple/x/", Resource(text: String(repeating: "x", count: 50_000)))
            rig.origin.always("/simple/x/", .all(.field("Content-Type", "text/html"), .hold(after: 20_000, gate)))
            let port = try #require(rig.addresses.doors["gateway"])
            let client = try #require(
                await RawConnection.begin(
                    "GET /gw/pypi/simple/x/ HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n", port: port))
            await gate.arrived()
            close(client)
            await rig.log.wait(for: "a client of the gateway has gone")
            #expect(rig.daemon.gateway?.pageBytes == 0)
            gate.open()
        }
    }

    /// What passes was copied without a share: each client that stopped reading held 16 MiB.
    @Test(
        "Pages that pass, and those that were kept, take from the budget of all pages, and pass without a copy beyond it"
    )
    func passed() async throws {
        try await DaemonRig.runWithGateway(limits: { $0.pageBudget = 1 << 20 }) { rig in
            let gate = Gate()
            let manifest = Resource(text: String(repeating: "x", count: 600_000))
            let paths = (0..<4).map { "/v2/a\($0)/manifests/latest" }
            for path in paths {
                rig.origin.serve(path, manifest)
                rig.origin.script(path, [.hold(after: 500_000, gate)])
            }
            let replies = try await withThrowingTaskGroup(of: Int.self) { group in
                for path in paths { group.addTask { try await rig.gateway(path).data.count } }
                await gate.arrived(4)
                // Each has passed on what came. The budget has room for one or two copies; the others were given up.
                try await eventually { rig.daemon.gateway?.pageBytes ?? 0 >= 490_000 }
                #expect(rig.daemon.gateway?.pageBytes ?? .max <= 1 << 20)
                gate.open()
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(replies == Array(repeating: 600_000, count: 4))
            #expect(rig.daemon.gateway?.pageBytes == 0)
            // A kept page for which there is no room is refused.
            rig.origin.serve("/v2/a/manifests/kept", manifest)
            #expect(try await rig.gateway("/v2/a/manifests/kept").status == 200)
            var share = try #require(rig.daemon.gateway).budget.share()
            let isTaken = share.take(600_000)
            #expect(isTaken)
            let holder = GatewayResponder.Holder(share: share)
            try await rig.origin.setListening(false)
            await rig.origin.dropConnections()
            let refused = try await rig.gateway("/v2/a/manifests/kept")
            #expect(refused.status == 503 && refused.problem?.code == "busy")
            withExtendedLifetime(holder) {}
            try await rig.origin.setListening(true)
        }
    }

    @Test("A page that drips is copied for the time of a page alone, and passes whole")
    func dripping() async throws {
        try await DaemonRig.runWithGateway(limits: { $0.pageTime = .zero }) { rig in
            rig.origin.serve("/v2/a/manifests/x", Resource(text: String(repeating: "x", count: 50_000)))
            let reply = try await rig.gateway("/v2/a/manifests/x")
            #expect(reply.data.count == 50_000)
            let names = try FileManager.default.contentsOfDirectory(atPath: rig.directory + "/state/gateway/pages")
            #expect(names.isEmpty)
        }
    }

    @Test("A reader of a file whose client has gone gives its place back, although the server says nothing")
    func goneReader() async throws {
        try await DaemonRig.runWithGateway { rig in
            let gate = Gate()
            let blob = Resource(size: 100_000, seed: 3)
            let path = "/v2/a/blobs/sha256:\(blob.sha256)"
            rig.origin.serve(path, blob)
            rig.origin.always(path, .when({ $0.method == "HEAD" }, .contentLength(nil), otherwise: .hold(gate)))
            let port = try #require(rig.addresses.doors["gateway"])
            let client = try #require(
                await RawConnection.begin("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n", port: port))
            await gate.arrived()
            #expect(rig.daemon.gateway?.host.seats.held == 1)
            close(client)
            try await eventually { rig.daemon.gateway?.host.seats.held == 0 }
            gate.open()
        }
    }
}
