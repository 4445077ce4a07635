import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryGateway
@testable import FerryServer

@Suite("The gateway before an archive of Debian packages", .timeLimit(.minutes(30)))
struct GatewayArchiveTests {
    private static let package = Resource(size: 200_000, seed: 5)
    private static let place = "/debian/dists/stable/main/binary-amd64/"

    /// Serves an archive with one package; returns the path of its file through the gateway.
    private static func archive(_ rig: DaemonRig, of package: Resource = package, isCompressed: Bool = false) throws
        -> String
    {
        let text = "Package: a\nFilename: pool/a+b_1.deb\nSHA256: \(package.sha256)\n\n"
        let plain = Resource(text: text, contentType: "text/plain")
        rig.origin.serve(place + "Packages", plain)
        rig.origin.serve(place + "by-hash/SHA256/" + plain.sha256, plain)
        rig.origin.route("/debian/dists/stable/InRelease") { _ in
            .page(200, "Suite: stable\nSHA256:\n \(plain.sha256) 9 main/binary-amd64/Packages\n")
        }
        rig.origin.serve("/debian/pool/a%2bb_1.deb", package)
        return plain.sha256
    }

    private static func path(_ rig: DaemonRig, _ rest: String) -> String {
        "/gw/apt/" + rig.url("/debian/" + rest).dropFirst("http://".count)
    }

    private static func run(
        then again: (@Sendable (DaemonRig) async throws -> Void)? = nil,
        _ body: @escaping @Sendable (DaemonRig) async throws -> Void
    ) async throws { try await DaemonRig.runWithGateway(["apt=/debian/"], then: again, body) }

    @Test(
        "A package with a wrong byte never arrives whole and is not kept, once an index by digest has passed; the next request fetches it again, whole, also of who goes on",
        arguments: [true, false])
    func wrongByte(isByHash: Bool) async throws {
        try await Self.run { rig in
            let digest = try Self.archive(rig)
            if isByHash {
                #expect(
                    try await rig.gateway(Self.path(rig, "dists/stable/main/binary-amd64/by-hash/SHA256/" + digest))
                        .status == 200)
            } else {
                #expect(try await rig.gateway(Self.path(rig, "dists/stable/InRelease")).status == 200)
                #expect(try await rig.gateway(Self.path(rig, "dists/stable/main/binary-amd64/Packages")).status == 200)
            }
            rig.origin.script("/debian/pool/a%2bb_1.deb", [.honest, .corrupt(at: 100_000)])
            // apt encodes the plus.
            let path = Self.path(rig, "pool/a%2bb_1.deb")
            let wrong = try? await rig.gateway(path)
            #expect(wrong?.data.count != 200_000)
            await rig.log.wait(for: #""reason": damaged"#)
            #expect(try await rig.cached().allSatisfy { $0.status.state.kind == .completed })
            let left = try FileManager.default.contentsOfDirectory(atPath: rig.place.state + "/gateway/apt")
            #expect(left.count == (isByHash ? 1 : 0), "\(left)")
            let right = try await rig.gateway(path, "GET", ["Range": "bytes=150000-"])
            #expect(right.status == 200 && right.data == Data(Self.package.bytes(0..<200_000)))
            let sent = rig.origin.requests.count
            #expect(try await rig.gateway(path).data == Data(Self.package.bytes(0..<200_000)))
            // Complete, it is given without a request.
            #expect(rig.origin.requests.count == sent)
        }
    }

    @Test("Digests of an index survive the daemon; an index that no Release has named is not believed")
    func kept() async throws {
        try await Self.run(then: { rig in
            _ = try Self.archive(rig)
            rig.origin.script("/debian/pool/a%2bb_1.deb", [.honest, .corrupt(at: 100_000)])
            let wrong = try? await rig.gateway(Self.path(rig, "pool/a%2bb_1.deb"))
            #expect(wrong?.data.count != 200_000)
        }) { rig in
            _ = try Self.archive(rig, of: Resource(size: 9, seed: 1))
            let packages = Self.path(rig, "dists/stable/main/binary-amd64/Packages")
            #expect(try await rig.gateway(packages).status == 200)
            rig.origin.serve("/debian/pool/a%2bb_1.deb", Self.package)
            // The index is wrong, but nobody has vouched for it.
            #expect(try await rig.gateway(Self.path(rig, "pool/a%2bb_1.deb")).data.count == 200_000)
            _ = try Self.archive(rig)
            #expect(try await rig.gateway(Self.path(rig, "dists/stable/InRelease")).status == 200)
            #expect(try await rig.gateway(packages).status == 200)
            await rig.log.wait(for: "info an index of an archive is read")
            let url = try DownloadURL(rig.url("/debian/pool/a+b_1.deb"))
            #expect(await rig.daemon.gateway?.digests.digest(of: url)?.hex == Self.package.sha256)
        }
    }

    @Test("A package that its archive has replaced is passed on, and not kept, for a client that wants no earlier one")
    func replaced() async throws {
        try await Self.run { rig in
            let digest = try Self.archive(rig)
            _ = try await rig.gateway(Self.path(rig, "dists/stable/main/binary-amd64/by-hash/SHA256/" + digest))
            let other = Resource(size: 1000, seed: 9)
            rig.origin.serve("/debian/pool/a%2bb_1.deb", other)
            let path = Self.path(rig, "pool/a%2bb_1.deb")
            #expect((try? await rig.gateway(path))?.status != 200)
            #expect(
                try await rig.gateway(path, "GET", ["Cache-Control": "no-cache"]).data == Data(other.bytes(0..<1000)))
        }
    }

    @Test("A file with a query is a download of its own URL, with ranges; below dists it passes through")
    func query() async throws {
        try await Self.run { rig in
            _ = try Self.archive(rig)
            let path = Self.path(rig, "pool/a%2bb_1.deb?token=s3cret")
            #expect(try await rig.gateway(path).data == Data(Self.package.bytes(0..<200_000)))
            let fetched = rig.origin.bodyBytes("/debian/pool/a%2bb_1.deb")
            let part = try await rig.gateway(path, "GET", ["Range": "bytes=1000-1999"])
            #expect(part.status == 206 && part.data == Data(Self.package.bytes(1000..<2000)))
            #expect(rig.origin.bodyBytes("/debian/pool/a%2bb_1.deb") == fetched)
            #expect(try await rig.cached().count == 1)
            #expect(try await rig.gateway(Self.path(rig, "dists/stable/main/binary-amd64/Packages?x=y")).status == 200)
            #expect(try await rig.cached().count == 1)
        }
    }

    @Test("An archive that is not below the upstream is refused, and the reason does not deny that there is one")
    func otherArchive() async throws {
        try await Self.run { rig in
            for path in [
                "/gw/apt/archive.example/ubuntu/pool/a.deb", "/gw/apt/" + rig.url("/other/a.deb").dropFirst(7),
            ] {
                let reply = try await rig.gateway(path)
                #expect(reply.status == 404 && reply.text.contains("is not below an upstream of this gateway for apt"))
                #expect(reply.text.contains("--gateway-upstream apt=URL") && !reply.text.contains("has no upstream"))
            }
            #expect(rig.origin.requests.isEmpty)
        }
    }

    @Test("An index of 17 MiB that passes is not read, and the log says so")
    func largeIndex() async throws {
        try await Self.run { rig in
            let plain = Resource(text: String(repeating: "x", count: 17 << 20), contentType: "text/plain")
            rig.origin.serve(Self.place + "Packages", plain)
            let path = Self.path(rig, "dists/stable/main/binary-amd64/Packages")
            let reply = try await rig.gateway(path)
            #expect(reply.data.count == Int(plain.size))
            await rig.log.wait(for: "an index of an archive is not read: it is larger than 16 MiB")
        }
    }
}
