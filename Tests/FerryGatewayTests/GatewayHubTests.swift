import Ferry
import FerryAPI
import FerryCore
import FerryServer
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryGateway

@Suite("The gateway before a hub and a registry", .timeLimit(.minutes(30)))
struct GatewayHubTests {
    private static let commit = String(repeating: "0b", count: 20)

    @Test(
        "Hub: a stored file has its fields without the redirect, is verified by its digest, and ranges of it are served"
    )
    func stored() async throws {
        try await DaemonRig.runWithGateway { rig in
            let file = Resource(size: 500_000, seed: 9)
            rig.origin.serve("/cdn/blob", file)
            for revision in ["main", Self.commit] {
                rig.origin.route("/hub/a/b/resolve/\(revision)/model.bin") { _ in
                    .redirect(
                        to: "/cdn/blob?signature=1",
                        fields: [
                            Field("X-Repo-Commit", Self.commit), Field("X-Linked-Etag", "\"\(file.sha256)\""),
                            Field("X-Linked-Size", "500000"), Field("ETag", "\"other\""), Field("X-Xet-Hash", "x"),
                        ])
                }
            }
            let path = "/gw/hf/a/b/resolve/main/model.bin"
            let head = try await rig.gateway(path, "HEAD", ["Authorization": "Bearer t0ken"])
            #expect(head.status == 200 && head.headers["location"] == nil && head.headers["x-xet-hash"] == nil)
            #expect(head.headers["x-repo-commit"] == Self.commit && head.headers["content-length"] == "500000")
            #expect(
                head.headers["x-linked-etag"] == "\"\(file.sha256)\"" && head.headers["etag"] == "\"\(file.sha256)\"")
            #expect(rig.origin.bodyBytes("/cdn/blob") == 0)
            let part = try await rig.gateway(path, "GET", ["Authorization": "Bearer t0ken", "Range": "bytes=499000-"])
            #expect(part.status == 206 && part.data == Data(file.bytes(499_000..<500_000)))
            #expect(try await rig.gateway(path).data == Data(file.bytes(0..<500_000)))
            #expect(rig.origin.bodyBytes("/cdn/blob") == 500_000)
            #expect(try await rig.cached().map(\.status.state) == [.completed(.digest)])
            // The revision may move; its commit may not.
            #expect(rig.origin.requests.contains { $0.path.contains(Self.commit) })
        }
    }

    @Test("Hub: a small file, a renamed repository, errors with their fields, and the API")
    func others() async throws {
        try await DaemonRig.runWithGateway { rig in
            let file = Resource(size: 700, seed: 5, etag: "\"0123456789abcdef0123456789abcdef01234567\"")
            rig.origin.serve("/hub/new/name/resolve/main/config.json", file)
            rig.origin.route("/hub/old/name/resolve/main/config.json") { _ in
                .redirect(to: "/hub/new/name/resolve/main/config.json", status: 307)
            }
            let reply = try await rig.gateway("/gw/hf/old/name/resolve/main/config.json")
            #expect(reply.data == Data(file.bytes(0..<700)) && reply.headers["etag"] == file.etag)
            rig.origin.route("/hub/no/repo/resolve/main/x") { _ in
                .page(404, "{}", contentType: "application/json", fields: [Field("X-Error-Code", "RepoNotFound")])
            }
            let none = try await rig.gateway("/gw/hf/no/repo/resolve/main/x")
            #expect(none.status == 404 && none.headers["x-error-code"] == "RepoNotFound")
            rig.origin.route("/hub/api/models/a/b/tree/main") { request in
                .page(
                    200, #"[{"path": "\#(request["Authorization"] ?? "")", "xetHash": "x"}]"#,
                    contentType: "application/json",
                    fields: [Field("Link", "</hub/api/models/a/b/tree/main?cursor=2>; rel=\"next\"")])
            }
            let tree = try await rig.gateway(
                "/gw/hf/api/models/a/b/tree/main?recursive=1", "GET", ["Authorization": "Bearer t"])
            #expect(tree.text == #"[{"path":"Bearer t"}]"#)
            #expect(tree.headers["link"] == "</gw/hf/api/models/a/b/tree/main?cursor=2>; rel=\"next\"")
            for path in [
                "models/a/b/commit/main", "repos/create?x=/paths-info/", "models/a/b/commit/x?/tree/paths-info/main",
                "repos/a/b/paths-info/main",
            ] { #expect(try await rig.gateway("/gw/hf/api/\(path)", "POST").status == 405, "\(path)") }
        }
    }

    @Test("Registry: challenge and manifests pass through, blobs are verified, with and without the mirror's prefix")
    func registry() async throws {
        try await DaemonRig.runWithGateway { rig in
            let blob = Resource(size: 200_000, seed: 4)
            let challenge = "Bearer realm=\"https://auth.example/token\",service=\"s\""
            let refusal = Answer.page(401, fields: [Field("WWW-Authenticate", challenge)])
            let needed: Behaviour = .when(
                { $0["Authorization"] == "Bearer t" }, .honest,
                otherwise: .init { answer, _, _ in answer = refusal })
            rig.origin.route("/v2/") { $0["Authorization"] == nil ? nil : .page(200, "{}") }
            rig.origin.always("/v2/", .init { answer, _, _ in answer = refusal })
            let path = "/v2/a/b/blobs/sha256:\(blob.sha256)"
            rig.origin.serve(path, blob)
            rig.origin.always(path, needed)
            let manifest = "/v2/a/b/manifests/latest"
            rig.origin.route(manifest) { _ in
                .page(
                    200, "{}", contentType: "application/vnd.oci.image.manifest.v1+json",
                    fields: [Field("Docker-Content-Digest", "sha256:x")])
            }
            let ping = try await rig.gateway("/v2/")
            #expect(ping.status == 401 && ping.headers["www-authenticate"] == challenge)
            let said = try await rig.gateway(manifest, "HEAD")
            #expect(said.status == 200 && said.headers["docker-content-digest"] == "sha256:x")
            let refused = try await rig.gateway(path)
            #expect(refused.status == 401 && refused.headers["www-authenticate"] == challenge)
            for prefix in ["/v2/", "/v2/gw/oci/"] {
                let mirrored = path.replacing("/v2/", with: prefix)
                let reply = try await rig.gateway(mirrored, "GET", ["Authorization": "Bearer t"])
                #expect(reply.data == Data(blob.bytes(0..<200_000)), "\(prefix)")
                #expect(reply.headers["docker-content-digest"] == "sha256:\(blob.sha256)")
            }
            #expect(rig.origin.bodyBytes(path) == 200_000)
            #expect(try await rig.gateway("/v2/a/b/blobs/uploads/", "POST").status == 405)
        }
    }

    @Test("Archives: packages are downloads, indexes pass through, others are refused, also when asked as a proxy")
    func archives() async throws {
        try await DaemonRig.runWithGateway(["apt=/debian/"]) { rig in
            var package = Resource(text: String(repeating: "x", count: 60_000))
            package.etag = "\"1\""
            rig.origin.serve("/debian/pool/x.deb", package)
            rig.origin.serve("/debian/dists/stable/InRelease", Resource(text: "index"))
            let index = Resource(text: "by hash")
            let name = "/debian/dists/stable/main/by-hash/SHA256/\(index.sha256)"
            rig.origin.serve(name, index)
            let (host, port) = (rig.origin.url("").dropFirst(7), try #require(rig.addresses.doors["gateway"]))
            func get(_ target: String, host: String) async -> RawConnection.Reply {
                await RawConnection.send(
                    "GET \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n", port: port)
            }
            for (base, named) in [("/gw/apt/\(host)", "127.0.0.1:\(port)"), ("http://\(host)", String(host))] {
                for _ in 0..<2 {
                    #expect(await get(base + "/debian/pool/x.deb", host: named).body.utf8.count == 60_000)
                }
                #expect(await get(base + name, host: named).body == "by hash")
                #expect(await get(base + "/debian/dists/stable/InRelease", host: named).body == "index")
                for path in ["/other/x.deb", "/debian/../x.deb", "/debian/%2e%2e/x.deb"] {
                    #expect(await get(base + path, host: named).status == 404, "\(base)\(path)")
                }
            }
            #expect(rig.origin.bodyBytes("/debian/pool/x.deb") == 60_000)
            #expect(try await rig.cached().count == 2)
            let own = "127.0.0.1:\(port)"
            #expect(await get("https://\(host)/debian/pool/x.deb", host: own).status == 404)
            #expect(await get("/gw/apt/\(host)/debian/pool/x.deb", host: String(host)).status == 421)
        }
    }

    @Test("An upstream's redirect to another host's private address is refused, unless the upstream itself is private")
    func privateAddresses() async throws {
        try await DaemonRig.runWithGateway { rig in
            // This upstream is private, so its redirects may be.
            rig.origin.route("/v2/a/manifests/x") { _ in .redirect(to: "/other") }
            rig.origin.serve("/other", Resource(text: "yes"))
            #expect(try await rig.gateway("/v2/a/manifests/x").text == "yes")
            var request = UpstreamRequest(try DownloadURL(rig.url("/other")))
            request.allowsPrivate = false
            await #expect(throws: DownloadError.self) { _ = try await rig.daemon.manager.exchange(request) }
        }
    }

    @Test("Hub: a web page in place of a file passes through, and is not kept as the file")
    func signIn() async throws {
        try await DaemonRig.runWithGateway { rig in
            rig.origin.route("/hub/a/b/resolve/main/model.bin") { _ in
                .page(200, "<html>sign in", fields: [Field("ETag", "\"1\"")])
            }
            let reply = try await rig.gateway("/gw/hf/a/b/resolve/main/model.bin")
            #expect(reply.status == 200 && reply.text == "<html>sign in")
            #expect(try await rig.cached().isEmpty)
            rig.origin.route("/hub/a/b/resolve/main/page.html") { _ in
                .page(200, "<html>model card", fields: [Field("ETag", "\"2\"")])
            }
            #expect(try await rig.gateway("/gw/hf/a/b/resolve/main/page.html").text == "<html>model card")
            #expect(try await rig.cached().count == 1)
        }
    }

    @Test(
        "Hub: while it is down, a complete file is sent to the credentials to which the hub has described it, to no others"
    )
    func down() async throws {
        try await DaemonRig.runWithGateway(then: { rig in
            // Also after a restart.
            try await rig.origin.setListening(false)
            let reply = try await rig.gateway("/gw/hf/a/b/resolve/main/small.txt", "GET", ["Authorization": "Bearer t"])
            #expect(reply.text == "text" && reply.headers["warning"] == GatewayAnswer.stale)
            try await rig.origin.setListening(true)
        }) { rig in
            let file = Resource(size: 500_000, seed: 9)
            rig.origin.serve("/cdn/blob", file)
            for revision in ["main", Self.commit] {
                rig.origin.route("/hub/a/b/resolve/\(revision)/model.bin") { request in
                    request["Authorization"] == "Bearer t"
                        ? Answer.redirect(
                            to: "/cdn/blob",
                            fields: [
                                Field("X-Repo-Commit", Self.commit), Field("X-Linked-Etag", "\"\(file.sha256)\""),
                                Field("X-Linked-Size", "500000"),
                            ]) : Answer.page(401)
                }
            }
            rig.origin.route("/hub/a/b/resolve/main/small.txt") { _ in
                .page(200, "text", contentType: "text/plain", fields: [Field("ETag", "\"3\"")])
            }
            let path = "/gw/hf/a/b/resolve/main/model.bin"
            let good = ["Authorization": "Bearer t"]
            #expect(try await rig.gateway(path, "GET", good).data.count == 500_000)
            #expect(try await rig.gateway("/gw/hf/a/b/resolve/main/small.txt", "GET", good).text == "text")
            try await rig.origin.setListening(false)
            await rig.origin.dropConnections()
            let stale = try await rig.gateway(path, "GET", good)
            #expect(stale.data == Data(file.bytes(0..<500_000)) && stale.headers["warning"] == GatewayAnswer.stale)
            #expect(stale.headers["x-repo-commit"] == Self.commit)
            #expect(try await rig.gateway(path, "HEAD", good).headers["content-length"] == "500000")
            #expect(try await rig.gateway(path, "GET", ["Authorization": "Bearer other"]).status == 502)
            #expect(try await rig.gateway(path).status == 502)
            try await rig.origin.setListening(true)
            // Down in another way.
            for revision in ["main", Self.commit] {
                rig.origin.route("/hub/a/b/resolve/\(revision)/model.bin") { _ in .page(503, "down") }
            }
            #expect(try await rig.gateway(path, "GET", good).status == 200)
            #expect(try await rig.gateway(path, "GET", ["Authorization": "Bearer other"]).status == 503)
        }
    }
}
