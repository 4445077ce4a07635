import FerryAPI
import FerryCore
import FerryServer
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryGateway

@Suite("The gateway while an upstream fails", .timeLimit(.minutes(30)))
struct GatewayDownTests {
    private static let good = ["Authorization": "Basic Z29vZDpzZWNyZXQ="]

    @Test(
        "Pages and manifests that were sent are sent again while the upstream is down, to the same credentials, and say so"
    )
    func pages() async throws {
        try await DaemonRig.runWithGateway(then: { rig in
            try await rig.origin.setListening(false)
            await rig.origin.dropConnections()
            let page = try await rig.gateway("/gw/pypi/simple/x/")
            #expect(page.status == 200 && page.text.contains("/gw/pypi/file/"))
            #expect(page.headers["warning"] == GatewayAnswer.stale && page.headers["age"] != nil)
            #expect(rig.log.text.contains("an earlier page is sent while its server is down"))
            let tag = try await rig.gateway("/v2/a/manifests/latest", "GET", ["Accept": "a/b"])
            #expect(tag.text == "manifest" && tag.headers["docker-content-digest"] == "sha256:x")
            let head = try await rig.gateway("/v2/a/manifests/latest", "HEAD", ["Accept": "a/b"])
            #expect(head.status == 200 && head.headers["content-length"] == "8" && head.data.isEmpty)
            #expect(try await rig.gateway("/v2/a/manifests/latest", "GET", ["Accept": "c/d"]).status == 502)
            #expect(try await rig.gateway("/gw/pypi/simple/private/", "GET", Self.good).text.contains("secret"))
            #expect(try await rig.gateway("/gw/pypi/simple/private/").status == 502)
            #expect(try await rig.gateway("/gw/pypi/simple/private/", "GET", ["Authorization": "x"]).status == 502)
            try await rig.origin.setListening(true)
        }) { rig in
            rig.origin.route("/simple/x/") { _ in .page(200, "<a href=/x-1.zip>x</a>", fields: [Field("ETag", "\"1\"")])
            }
            rig.origin.route("/simple/private/") { request in
                request["Authorization"] == Self.good["Authorization"] ? .page(200, "secret") : .page(401)
            }
            rig.origin.route("/v2/a/manifests/latest") { _ in
                .page(200, "manifest", contentType: "a/b", fields: [Field("Docker-Content-Digest", "sha256:x")])
            }
            let page = try await rig.gateway("/gw/pypi/simple/x/")
            #expect(page.status == 200 && page.headers["warning"] == nil)
            #expect(try await rig.gateway("/v2/a/manifests/latest", "GET", ["Accept": "a/b"]).status == 200)
            #expect(try await rig.gateway("/gw/pypi/simple/private/", "GET", Self.good).status == 200)
            // A server that says so is as one that cannot be reached; another error is its answer.
            rig.origin.route("/simple/x/") { _ in .page(503, "down") }
            #expect(try await rig.gateway("/gw/pypi/simple/x/").headers["warning"] == GatewayAnswer.stale)
            rig.origin.route("/simple/x/") { _ in .page(404, "gone") }
            #expect(try await rig.gateway("/gw/pypi/simple/x/").status == 404)
        }
    }

    @Test("A manifest by digest that everybody may have is asked for once")
    func immutable() async throws {
        try await DaemonRig.runWithGateway { rig in
            let path = "/v2/a/manifests/sha256:" + Self.digest
            rig.origin.route(path) { _ in .page(200, "manifest", contentType: "a/b") }
            for _ in 0..<2 {
                let reply = try await rig.gateway(path)
                #expect(reply.text == "manifest" && reply.headers["warning"] == nil)
            }
            #expect(rig.origin.requests.count == 1)
            #expect(try await rig.gateway(path, "GET", Self.good).text == "manifest")
            #expect(rig.origin.requests.count == 2)
        }
    }

    /// Of "manifest".
    private static let digest = Resource(text: "manifest").sha256

    /// One wrong answer was sent to everybody from then on, and while the registry was down.
    @Test("A manifest that does not have the digest of its URL is passed on, and not kept")
    func wrongManifest() async throws {
        try await DaemonRig.runWithGateway { rig in
            let path = "/v2/a/manifests/sha256:" + Self.digest
            rig.origin.route(path) { _ in .page(200, "mbnifest", contentType: "a/b") }
            #expect(try await rig.gateway(path).text == "mbnifest")
            rig.origin.route(path) { _ in .page(503, "down") }
            #expect(try await rig.gateway(path).status == 503)
            rig.origin.route(path) { _ in .page(200, "manifest", contentType: "a/b") }
            #expect(try await rig.gateway(path).text == "manifest")
            // One that has changed on the disk is asked for again.
            let pages = rig.directory + "/state/gateway/pages"
            let names = try FileManager.default.contentsOfDirectory(atPath: pages)
            let file = URL(filePath: pages + "/" + (try #require(names.first)))
            var bytes = try Data(contentsOf: file)
            bytes[bytes.count - 1] ^= 1
            try bytes.write(to: file)
            let before = rig.origin.requests.count
            #expect(try await rig.gateway(path).text == "manifest")
            #expect(rig.origin.requests.count == before + 1)
        }
    }

    @Test(
        "Complete files are sent while their server is down, with and without a digest; private ones to whom it had said yes"
    )
    func files() async throws {
        try await DaemonRig.runWithGateway { rig in
            let wheel = Resource(size: 100_000, seed: 7)
            rig.origin.serve("/x-1.zip", wheel)
            rig.origin.serve("/p-1.zip", wheel)
            rig.origin.always(
                "/p-1.zip",
                .when({ $0["Authorization"] == Self.good["Authorization"] }, .honest, otherwise: .status(401)))
            rig.origin.route("/simple/x/") { _ in
                .page(200, "<a href=/x-1.zip>x</a><a href=/p-1.zip#sha256=\(wheel.sha256)>p</a>")
            }
            let page = try await rig.gateway("/gw/pypi/simple/x/", "GET", Self.good).text
            let paths = page.matches(of: /href="([^"#]*)/).map { String($0.1) }
            #expect(try await rig.gateway(paths[0]).status == 200)
            #expect(try await rig.gateway(paths[1], "GET", Self.good).status == 200)
            try await rig.origin.setListening(false)
            await rig.origin.dropConnections()
            let file = try await rig.gateway(paths[0])
            #expect(file.data == Data(wheel.bytes(0..<100_000)) && file.headers["warning"] == GatewayAnswer.stale)
            #expect(file.headers["etag"] == wheel.etag)
            #expect(try await rig.gateway(paths[0], "HEAD").headers["content-length"] == "100000")
            #expect(try await rig.gateway(paths[1], "GET", Self.good).data.count == 100_000)
            #expect(try await rig.gateway(paths[1]).status == 502)
            try await rig.origin.setListening(true)
        }
    }

    @Test("A server's error in place of the first bytes is the client's response at once")
    func refused() async throws {
        try await DaemonRig.runWithGateway { rig in
            rig.origin.serve("/x-1.zip", Resource(size: 100_000, seed: 7))
            rig.origin.always("/x-1.zip", .when({ $0.method == "GET" }, .status(503)))
            rig.origin.route("/simple/x/") { _ in .page(200, "<a href=/x-1.zip>x</a>") }
            let page = try await rig.gateway("/gw/pypi/simple/x/").text
            let path = String(try #require(page.firstMatch(of: /href="([^"]*)"/)?.1))
            #expect(try await rig.gateway(path).status == 503)
        }
    }

    @Test(
        "Names of files with blanks and backslashes are fetched; those that lead elsewhere by backslashes are refused")
    func names() async throws {
        try await DaemonRig.runWithGateway { rig in
            for name in ["a%20b.txt", "a%5Cb.txt", "%20.txt"] {
                rig.origin.route("/hub/m/n/resolve/main/\(name)") { _ in
                    .page(200, "text", contentType: "text/plain", fields: [Field("ETag", "\"1\"")])
                }
                let reply = try await rig.gateway("/gw/hf/m/n/resolve/main/\(name)")
                #expect(reply.text == "text", "\(name)")
            }
            for name in ["..%5C..%5Cx", "a%5C..%5Cx", "a%255C..%255Cx", "a%00b", "a%0Ab", "%5C.."] {
                #expect(try await rig.gateway("/gw/hf/m/n/resolve/main/\(name)").status == 400, "\(name)")
            }
        }
    }

    @Test("The reason of a refusal is in the status line, for clients that show no content")
    func reason() async throws {
        try await DaemonRig.runWithGateway(["pypi=/simple/"]) { rig in
            let port = try #require(rig.addresses.doors["gateway"])
            let reply = await RawConnection.send(
                "GET /gw/hf/x HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n", port: port)
            #expect(reply.line.contains(" 404 Path not found: This gateway has no upstream for hf"))
            #expect(reply.headers["ferry-reason"] == nil)
        }
    }
}
