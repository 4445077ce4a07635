import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import HTTPTypes
import Testing

@testable import FerryGateway
@testable import FerryServer

@Suite("The cache of the gateway", .timeLimit(.minutes(30)))
struct GatewayCacheTests {
    /// Serves files of 1000 bytes without digests; returns the gateway's links to them.
    private static func links(_ rig: DaemonRig, _ count: Int, size: Int64 = 1000) async throws -> [String] {
        rig.origin.route("/simple/x/") { _ in .page(200, (1...count).map { "<a href=/f/\($0).zip>x</a>" }.joined()) }
        for number in 1...count { rig.origin.serve("/f/\(number).zip", Resource(size: size, seed: UInt64(number))) }
        return try await rig.gateway("/gw/pypi/simple/x/").text.matches(of: /href="([^"]*)"/).map { String($0.1) }
    }

    private static func files(in directory: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory + "/pypi")) ?? []
        return names.map { directory + "/pypi/" + $0 }
    }

    @Test(
        "A file whose date or inode has changed is served if it has its digest; with other bytes, or gone, it is fetched again"
    )
    func changed() async throws {
        try await DaemonRig.runWithGateway { rig in
            let path = try await Self.wheelLink(rig)
            func isServed(_ fetched: Int64) async throws {
                #expect(try await rig.gateway(path).data == Data(Self.wheel.bytes(0..<200_000)))
                #expect(rig.origin.bodyBytes("/six.whl") == fetched)
            }
            try await isServed(200_000)
            let files = FileManager.default
            let file = try #require(Self.files(in: rig.place.state + "/gateway").first)
            try files.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: file)
            try await isServed(200_000)
            try files.copyItem(atPath: file, toPath: file + ".copy")
            try files.removeItem(atPath: file)
            try files.moveItem(atPath: file + ".copy", toPath: file)
            try await isServed(200_000)
            try Data(count: 200_000).write(to: URL(fileURLWithPath: file))
            try await isServed(400_000)
            try files.removeItem(atPath: file)
            try await isServed(600_000)
        }
    }

    private static let wheel = Resource(size: 200_000, seed: 7)

    /// Serves a wheel; returns the gateway's link to it.
    private static func wheelLink(_ rig: DaemonRig) async throws -> String {
        rig.origin.serve("/six.whl", wheel)
        rig.origin.route("/simple/six/") { _ in .page(200, "<a href=/six.whl#sha256=\(wheel.sha256)>x</a>") }
        let page = try await rig.gateway("/gw/pypi/simple/six/").text
        return String(try #require(page.firstMatch(of: /href="([^"#]*)/)?.1))
    }

    /// `ferry list` advised to drop the checksum of a package with a wrong byte; the gateway then served the wrong bytes for good.
    @Test("What a download of the gateway fetches cannot be changed, alone or among others; its limits can")
    func fixed() async throws {
        try await DaemonRig.runWithGateway { rig in
            let path = try await Self.links(rig, 1)[0]
            rig.origin.always("/f/1.zip", .when({ $0.method == "GET" }, .status(404)))
            #expect(try await rig.gateway(path).status != 200)
            let id = try #require(try await rig.cached().first?.id.rawValue)
            var changes = Array(repeating: RequestChange(), count: 5)
            changes[0].set(.checksum, \.checksum, nil)
            changes[1].set(.urls, \.sources, [try DownloadURL(rig.url("/f/2.zip"))])
            changes[2].set(Credentials(user: "u", password: "p"))
            changes[3].set(.userInfo, \.userInfo, GatewayFile.isOpen)
            changes[4].set(.rateLimit, \.rateLimit, 1_000_000)
            for (index, change) in changes.enumerated() {
                let reply = try await rig.ask(.change, id: id, body: change)
                #expect(reply.status == (index == 4 ? 200 : 400), "\(reply.text)")
                #expect(reply.text.contains("downloads of the session gateway keep") == (index != 4), "\(reply.text)")
                for body in [ChangeBody([id], change: change), ChangeBody(words: ["all"], change: change)] {
                    let reply = try await rig.ask(.changeMany, query: "session=gateway", body: body)
                    let failed = try reply.shape(ActionCount.self).failures?.map(\.id)
                    #expect(failed == (index == 4 ? nil : [id]), "\(reply.text)")
                }
            }
        }
    }

    @Test(
        "A download whose request is not that of its file, as left by an earlier version, is replaced",
        arguments: [true, false])
    func replaced(isRunning: Bool) async throws {
        try await DaemonRig.runWithGateway { rig in
            let path = try await Self.wheelLink(rig)
            let file = GatewayFile(
                kind: .pypi, url: try DownloadURL(rig.url("/six.whl")),
                checksum: try Checksum(parsing: "sha256:" + Self.wheel.sha256), headers: HTTPFields(),
                allowsPrivate: true)
            var request = file.request(in: rig.place.state + "/gateway")
            request.checksum = nil
            let gate = Gate()
            rig.origin.always("/six.whl", isRunning ? .hold(after: 1000, gate) : .corrupt(at: 100_000))
            let manager = try #require(rig.daemon.gateway?.manager)
            let wrong = try #require(try await manager.add([request], for: GatewayCache.session).first?.download)
            if isRunning {
                _ = try await rig.origin.waitFor { $0.requests.contains { $0.path == "/six.whl" } }
            } else {
                _ = try await wrong.finished()
            }
            rig.origin.always("/six.whl", .honest)
            #expect(try await rig.gateway(path).data == Data(Self.wheel.bytes(0..<200_000)))
            gate.open()
            #expect(try await rig.cached().map(\.status.state) == [.completed(.digest)])
        }
    }

    @Test("The end of a file is not sent if its checksum was dropped while a client reads it")
    func dropped() async throws {
        try await DaemonRig.runWithGateway { rig in
            let path = try await Self.wheelLink(rig)
            let gate = Gate()
            rig.origin.script("/six.whl", [.honest, .hold(after: 1000, gate)], then: .corrupt(at: 100_000))
            async let reply = try? rig.gateway(path)
            _ = try await rig.origin.waitFor {
                $0.requests.contains { $0.head.method == "GET" && $0.path == "/six.whl" }
            }
            let manager = try #require(rig.daemon.gateway?.manager)
            let id = try #require(try await rig.cached().first?.id)
            let download = try #require(try await manager.download(id: id))
            var change = RequestChange()
            change.set(.checksum, \.checksum, nil)
            try await download.change { [change] in change.apply(to: &$0) }
            gate.open()
            #expect(await reply?.data.count != 200_000)
            rig.origin.always("/six.whl", .honest)
            #expect(try await rig.gateway(path).data == Data(Self.wheel.bytes(0..<200_000)))
        }
    }

    @Test("A file without a digest whose date has changed is fetched again")
    func undigested() async throws {
        try await DaemonRig.runWithGateway { rig in
            let path = try await Self.links(rig, 1)[0]
            #expect(try await rig.gateway(path).data.count == 1000)
            let file = try #require(Self.files(in: rig.place.state + "/gateway").first)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: file)
            #expect(try await rig.gateway(path).data.count == 1000)
            #expect(rig.origin.bodyBytes("/f/1.zip") == 2000)
        }
    }

    @Test(
        "A file without a digest is fetched again for a client that wants no earlier one, so that wrong bytes do not stay"
    )
    func fresh() async throws {
        try await DaemonRig.runWithGateway { rig in
            let path = try await Self.links(rig, 1)[0]
            let right = Resource(size: 1000, seed: 1)
            rig.origin.script("/f/1.zip", [.honest, .corrupt(at: 500)])
            #expect(try await rig.gateway(path).data != Data(right.bytes(0..<1000)))
            #expect(try await rig.gateway(path).data != Data(right.bytes(0..<1000)))
            let reply = try await rig.gateway(path, "GET", ["Cache-Control": "no-cache"])
            #expect(reply.data == Data(right.bytes(0..<1000)))
            #expect(try await rig.gateway(path).data == Data(right.bytes(0..<1000)))
            #expect(rig.origin.bodyBytes("/f/1.zip") == 2000)
        }
    }

    @Test("A file that is asked for while it leaves the cache is fetched again")
    func leaving() async throws {
        // A cache for two of eight files.
        try await DaemonRig.runWithGateway(configure: { $0.flags[.gatewaySize] = .whole(2000) }) { rig in
            let paths = try await Self.links(rig, 8)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in 0..<4 {
                    group.addTask {
                        for round in 0..<60 {
                            let number = (3 * client + 5 * round + round / 8) % paths.count
                            let reply = try await rig.gateway(paths[number])
                            let file = Resource(size: 1000, seed: UInt64(number + 1))
                            #expect(reply.status == 200 && reply.data == Data(file.bytes(0..<1000)), "\(reply)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(rig.log.text.contains("the gateway has removed a file"))
        }
    }

    @Test(
        "Clients that ask at once for a file that had failed all get it, though it be whole before the last has its turn"
    )
    func together() async throws {
        try await DaemonRig.runWithGateway { rig in
            for (index, path) in try await Self.links(rig, 8).enumerated() {
                let file = "/f/\(index + 1).zip"
                rig.origin.always(file, .when({ $0.method == "GET" }, .status(404)))
                #expect(try await rig.gateway(path).status != 200)
                rig.origin.always(file, .honest)
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<12 { group.addTask { try await rig.gateway(path).status } }
                    for try await status in group { #expect(status == 200) }
                }
            }
        }
    }

    @Test(
        "On a full disk the least recently used files make room; a file for which there is none gets 507 with the reason"
    )
    func full() async throws {
        try await DaemonRig.runWithGateway(limits: { limits in
            // A disk with room for two of the files.
            limits.space = { directory in
                let used = Self.files(in: directory).reduce(ByteCount(0)) { sum, path in
                    let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber
                    return sum + (size?.int64Value ?? 0)
                }
                return (free: 2600 - used, reserve: 100)
            }
        }) { rig in
            let paths = try await Self.links(rig, 3)
            for path in paths { #expect(try await rig.gateway(path).data.count == 1000) }
            #expect(Set(try await rig.cached().compactMap(\.label)) == ["2.zip", "3.zip"])
            rig.origin.serve("/f/3.zip", Resource(size: 5000, seed: 9))
            let reply = try await rig.gateway(paths[2])
            #expect(reply.status == 507 && reply.problem?.code == "diskFull")
            #expect(rig.log.text.contains("the gateway has no room for a file"))
            // In vain nothing leaves.
            #expect(Set(try await rig.cached().compactMap(\.label)) == ["2.zip", "3.zip"])
        }
    }

    @Test("A download that waits for space ends its clients with 507 at once, and goes on when one asks again")
    func waiting() async throws {
        try await DaemonRig.runWithGateway(
            limits: { $0.space = { _ in nil } },
            configure: { options in
                let configure = options.configure
                options.configure = {
                    configure(&$0)
                    $0.minFreeBytes = 1 << 60
                }
            }
        ) { rig in
            let path = try await Self.links(rig, 1, size: 3 << 20)[0]
            for _ in 0..<2 {
                let reply = try await rig.gateway(path)
                #expect(reply.status == 507 && reply.problem?.code == "diskFull")
            }
        }
    }

    @Test(
        "A file whose server states no size, and may send it without end, is refused beyond the size of the cache",
        arguments: [Behaviour.endlessBody(), .chunked()])
    func unstatedSize(behaviour: Behaviour) async throws {
        try await DaemonRig.runWithGateway(configure: { $0.flags[.gatewaySize] = .whole(1_000_000) }) { rig in
            let paths = try await Self.links(rig, 2, size: 3_000_000)
            rig.origin.always("/f/1.zip", behaviour)
            // Broken off, or refused if the limit was reached before the first byte was sent.
            let reply = try? await rig.gateway(paths[0])
            #expect(reply == nil || reply?.status == 502)
            #expect(rig.log.text.split(separator: "\n").contains { $0.contains("failed") && $0.contains("tooLarge") })
            // What there is of it stays, unless a sweep has found it larger than the cache.
            if case .failed(let error)? = try await rig.cached().first?.status.state {
                #expect(error.code == .tooLarge)
            } else {
                #expect(rig.log.text.contains("the gateway has removed a file"))
            }
            // With a size it is sent, although the cache does not keep it.
            #expect(try await rig.gateway(paths[1]).data.count == 3_000_000)
        }
    }
}
