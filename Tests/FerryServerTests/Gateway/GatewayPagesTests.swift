import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import Testing

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
        try await DaemonRig.runWithGateway(configure: { $0.limits.pageIdle = .milliseconds(100) }) { rig in
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
            let port = try #require(rig.addresses.gatewayPort)
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
}
