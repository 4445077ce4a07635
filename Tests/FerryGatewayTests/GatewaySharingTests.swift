import FerryAPI
import FerryCore
import FerryServer
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryGateway

@Suite("What clients of the gateway share", .timeLimit(.minutes(30)))
struct GatewaySharingTests {
    private static let good = ["Authorization": "Basic Z29vZDpzZWNyZXQ="]

    /// Serves a page that names one file, and returns the gateway's link to it.
    private static func link(
        _ rig: DaemonRig, _ name: String, to url: String, digest: String?, headers: [String: String] = [:]
    ) async throws -> String {
        let fragment = digest.map { "#sha256=\($0)" } ?? ""
        rig.origin.route("/simple/\(name)/") { _ in .page(200, "<a href=\"\(url)\(fragment)\">x</a>") }
        let page = try await rig.gateway("/gw/pypi/simple/\(name)/", "GET", headers)
        return String(try #require(page.text.firstMatch(of: /href="([^"#]*)/)?.1))
    }

    @Test(
        "A server that is named with another's digest and drips neither sends its bytes nor holds up the other's clients"
    )
    func hostage() async throws {
        let (wheel, gate) = (Resource(size: 300_000, seed: 7), Gate())
        try await OriginServer.with { other in
            other.serve("/evil.whl", Resource(size: 300_000, seed: 8))
            other.always("/evil.whl", .hold(after: 1000, gate))
            let url = other.url("/evil.whl")
            try await DaemonRig.runWithGateway { rig in
                rig.origin.serve("/good.whl", wheel)
                let evil = try await Self.link(rig, "evil", to: url, digest: wheel.sha256)
                let honest = try await Self.link(rig, "good", to: rig.url("/good.whl"), digest: wheel.sha256)
                async let held = rig.gateway(evil)
                _ = try await other.waitFor { traffic in traffic.requests.contains { $0.head.method == "GET" } }
                #expect(try await rig.gateway(honest).data == Data(wheel.bytes(0..<300_000)))
                #expect(rig.origin.bodyBytes("/good.whl") == 300_000)
                gate.open()
                #expect((try? await held)?.data.count != 300_000)
                // Complete and verified, the bytes answer for the other server too, after its consent.
                #expect(try await rig.gateway(evil).data == Data(wheel.bytes(0..<300_000)))
            }
        }
    }

    @Test("A verified file answers for another URL with its digest, after the HEAD of that URL, also after a restart")
    func verified() async throws {
        let wheel = Resource(size: 200_000, seed: 3)
        @Sendable func fetch(_ rig: DaemonRig, _ name: String) async throws {
            rig.origin.serve("/\(name).whl", wheel)
            let path = try await Self.link(rig, name, to: rig.url("/\(name).whl"), digest: wheel.sha256)
            #expect(try await rig.gateway(path).data == Data(wheel.bytes(0..<200_000)))
        }
        try await DaemonRig.runWithGateway(then: { rig in
            try await fetch(rig, "c")
            #expect(rig.origin.bodyBytes("/c.whl") == 0)
        }) { rig in
            try await fetch(rig, "a")
            try await fetch(rig, "b")
            #expect(rig.origin.bodyBytes("/b.whl") == 0)
            #expect(rig.origin.requests.contains { $0.path == "/b.whl" && $0.head.method == "HEAD" })
        }
    }

    @Test("Private bytes are not given for a link to another server with their digest, whatever it consents to")
    func otherServer() async throws {
        let wheel = Resource(size: 400_000, seed: 3)
        try await OriginServer.with { other in
            other.serve("/x.whl", Resource(size: 400_000, seed: 9))
            let url = other.url("/x.whl")
            try await DaemonRig.runWithGateway { rig in
                rig.origin.serve("/six.whl", wheel)
                rig.origin.always(
                    "/six.whl",
                    .when({ $0["Authorization"] == Self.good["Authorization"] }, .honest, otherwise: .status(401)))
                let path = try await Self.link(
                    rig, "six", to: rig.url("/six.whl"), digest: wheel.sha256, headers: Self.good)
                #expect(try await rig.gateway(path, "GET", Self.good).data == Data(wheel.bytes(0..<400_000)))
                let link = try await Self.link(rig, "x", to: url, digest: wheel.sha256)
                let reply = try? await rig.gateway(link)
                #expect(reply?.data.starts(with: wheel.bytes(0..<64)) != true)
            }
        }
    }

    @Test(
        "A redirect of a stranger to another server is no consent, be it a sign-in page or as large as the file",
        arguments: [true, false])
    func signIn(isPage: Bool) async throws {
        let wheel = Resource(size: 400_000, seed: 3)
        let elsewhere = Resource(size: 400_000, seed: 1)
        try await OriginServer.with { other in
            if isPage {
                other.route("/in") { _ in .page(200, "sign in", contentType: "text/html") }
            } else {
                other.serve("/in", elsewhere)
            }
            let signIn = other.url("/in")
            try await DaemonRig.runWithGateway { rig in
                rig.origin.serve("/six.whl", wheel)
                rig.origin.always(
                    "/six.whl",
                    .when(
                        { $0["Authorization"] == Self.good["Authorization"] }, .honest,
                        otherwise: .redirect(to: signIn)))
                let path = try await Self.link(
                    rig, "six", to: rig.url("/six.whl"), digest: wheel.sha256, headers: Self.good)
                #expect(try await rig.gateway(path, "GET", Self.good).data == Data(wheel.bytes(0..<400_000)))
                let reply = try await rig.gateway(path)
                #expect(reply.data == (isPage ? Data("sign in".utf8) : Data(elsewhere.bytes(0..<400_000))))
            }
        }
    }

    @Test("A sign-in page in place of a file without a digest passes through, and is not kept")
    func pageForFile() async throws {
        try await DaemonRig.runWithGateway { rig in
            rig.origin.route("/x.zip") { _ in
                .page(200, "sign in", contentType: "text/html; charset=utf-8", fields: [Field("ETag", "\"1\"")])
            }
            let path = try await Self.link(rig, "x", to: rig.url("/x.zip"), digest: nil)
            #expect(try await rig.gateway(path).text == "sign in")
            #expect(try await rig.cached().isEmpty)
        }
    }

    @Test("What was begun with secrets stays private when a client without any goes on")
    func access() {
        let (open, one, other) = (GatewayFile.isOpen, ["origin": "https://a"], ["origin": "https://b"])
        for (earlier, new, access) in [(open, open, open), (open, one, one), (one, open, one), (one, other, other)] {
            #expect(GatewayFile.access(earlier, continuedWith: new) == access)
        }
        #expect(GatewayFile.access([:], continuedWith: open) == [:])
    }
}
