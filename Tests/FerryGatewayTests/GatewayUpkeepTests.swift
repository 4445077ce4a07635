import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryGateway
@testable import FerryMetrics
@testable import FerryServer

@Suite("The upkeep of the gateway: usage, purge, verify, metrics and log", .timeLimit(.minutes(30)))
struct GatewayUpkeepTests {
    /// Fetches files with digests, and returns the gateway's links to them.
    private static func fetch(_ rig: DaemonRig, _ names: [String]) async throws -> [String] {
        let files = names.map { ($0, Resource(size: 100_000, seed: UInt64($0.utf8.first ?? 0))) }
        for (name, file) in files { rig.origin.serve("/\(name).whl", file) }
        let links = files.map { "<a href=/\($0.0).whl?token=s3cret#sha256=\($0.1.sha256)>x</a>" }.joined()
        rig.origin.route("/simple/x/") { _ in .page(200, links) }
        let paths = try await rig.gateway("/gw/pypi/simple/x/").text.matches(of: /href="([^"#]*)/).map { String($0.1) }
        for path in paths { #expect(try await rig.gateway(path).data.count == 100_000) }
        return paths
    }

    private static func entries(_ rig: DaemonRig) async throws -> [GatewayEntry] {
        try await rig.ask(.gatewayFiles).shape(GatewayItems.self).items
    }

    private static func files(_ rig: DaemonRig) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: rig.place.state + "/gateway/pypi").map {
            rig.place.state + "/gateway/pypi/" + $0
        }
    }

    @Test("Usage and list say what the cache holds, with names, without queries; the file that was used last is first")
    func listed() async throws {
        try await DaemonRig.runWithGateway { rig in
            let paths = try await Self.fetch(rig, ["a", "b"])
            #expect(try await rig.gateway(paths[0]).status == 200)
            let usage = try await rig.ask(.gateway).shape(GatewayUsage.self)
            #expect(usage.files == 2 && usage.bytes == 200_000 && usage.unfinished == 0)
            #expect(
                usage.limitBytes == 20_000_000_000 && usage.directory == rig.place.state + "/gateway"
                    && (usage.freeBytes ?? 0) > 0
            )
            let entries = try await Self.entries(rig)
            #expect(entries.map(\.name) == ["a.whl", "b.whl"])
            #expect(entries.allSatisfy { $0.state == "completed" && $0.bytes == 100_000 && $0.checksum != nil })
            #expect(!entries.contains { $0.url.contains("s3cret") })
        }
    }

    @Test("Purge removes files by name, by the beginning of an identifier, by age, or all; other words remove nothing")
    func purged() async throws {
        try await DaemonRig.runWithGateway { rig in
            let paths = try await Self.fetch(rig, ["a", "b", "c", "d"])
            func purge(_ body: PurgeBody) async throws -> DaemonRig.Reply {
                try await rig.ask(.purgeGateway, body: body)
            }
            func names(_ reply: DaemonRig.Reply) throws -> Set<String> {
                Set(try reply.shape(PurgeReport.self).removed.map(\.name))
            }
            #expect(try await purge(PurgeBody(words: ["a.whl", "none"])).status == 404)
            #expect(try await purge(PurgeBody()).status == 400)
            #expect(try await purge(PurgeBody(words: ["a.whl"], all: true)).status == 400)
            #expect(try await purge(PurgeBody(olderThan: -1)).status == 400)
            #expect(try await purge(PurgeBody(words: ["gateway-"])).status == 400)
            #expect(try await Self.entries(rig).count == 4)
            #expect(try names(try await purge(PurgeBody(words: ["a.whl"]))) == ["a.whl"])
            let id = try #require(try await Self.entries(rig).first { $0.name == "b.whl" }?.id)
            #expect(try names(try await purge(PurgeBody(words: [String(id.dropFirst(8).prefix(16))]))) == ["b.whl"])
            #expect(try names(try await purge(PurgeBody(olderThan: 3600))).isEmpty)
            #expect(try names(try await purge(PurgeBody(all: true))) == ["c.whl", "d.whl"])
            #expect(try Self.files(rig).isEmpty)
            #expect(try await rig.gateway(paths[0]).data.count == 100_000)
            #expect(rig.origin.bodyBytes("/a.whl") == 200_000)
            #expect(rig.log.text.contains(#""reason": purged"#))
        }
    }

    /// apt encodes the characters + and ~.
    @Test("List and purge name a file by its decoded name, which is also its label")
    func decodedNames() async throws {
        try await DaemonRig.runWithGateway { rig in
            let name = "del+ta_2.0~rc1.whl"
            rig.origin.serve("/del%2bta_2.0%7erc1.whl", Resource(size: 1000, seed: 1))
            rig.origin.route("/simple/x/") { _ in .page(200, "<a href=/del%2bta_2.0%7erc1.whl>x</a>") }
            let page = try await rig.gateway("/gw/pypi/simple/x/").text
            let path = String(try #require(page.firstMatch(of: /href="([^"#]*)/)?.1))
            #expect(try await rig.gateway(path).data.count == 1000)
            #expect(try await Self.entries(rig).map(\.name) == [name])
            #expect(try await rig.cached().map(\.label) == [name])
            let reply = try await rig.ask(.purgeGateway, body: PurgeBody(words: [name]))
            #expect(try reply.shape(PurgeReport.self).removed.map(\.name) == [name])
        }
    }

    @Test(
        "GatewayFile: its name is decoded, but not to control characters or invalid UTF-8",
        arguments: [
            ("a%2Bb%7e.deb", "a+b~.deb"), ("%E5%8C%85.deb", "包.deb"), ("a%0Ab.deb", "a%0Ab.deb"),
            ("a%FFb%2b", "a%FFb%2b"),
            ("a%zz", "a%zz"),
        ])
    func name(segment: String, name: String) throws {
        #expect(GatewayFile.name(of: try DownloadURL("http://a.example/pool/" + segment)) == name)
    }

    @Test("A file that a client reads stays when all are purged")
    func inUse() async throws {
        try await DaemonRig.runWithGateway { rig in
            let gate = Gate()
            rig.origin.serve("/x.whl", Resource(size: 300_000, seed: 7))
            rig.origin.always("/x.whl", .hold(after: 1000, gate))
            rig.origin.route("/simple/x/") { _ in .page(200, "<a href=/x.whl>x</a>") }
            let page = try await rig.gateway("/gw/pypi/simple/x/").text
            let path = String(try #require(page.firstMatch(of: /href="([^"#]*)/)?.1))
            async let reply = rig.gateway(path)
            _ = try await rig.origin.waitFor { traffic in
                traffic.requests.contains { $0.head.method == "GET" && $0.path == "/x.whl" }
            }
            let report = try await rig.ask(.purgeGateway, body: PurgeBody(all: true)).shape(PurgeReport.self)
            #expect(
                report.kept.map(\.name) == ["x.whl"] && report.kept.first?.isInUse == true && report.removed.isEmpty)
            gate.open()
            #expect(try await reply.data.count == 300_000)
        }
    }

    @Test("Verify finds files with other bytes and files that are gone, and removes them; the others stay")
    func verified() async throws {
        try await DaemonRig.runWithGateway { rig in
            let paths = try await Self.fetch(rig, ["a", "b", "c"])
            let files = try Self.files(rig).sorted()
            var report = try await rig.ask(.verifyGateway).shape(VerifyReport.self)
            #expect(report.intact == 3 && report.intactBytes == 300_000 && report.damaged.isEmpty)
            // A bit that the disk has changed: date and inode are as they were.
            let date = try FileManager.default.attributesOfItem(atPath: files[0])[.modificationDate]
            let handle = try FileHandle(forWritingTo: URL(filePath: files[0]))
            try handle.seek(toOffset: 5)
            try handle.write(contentsOf: Data([1, 2, 3]))
            try handle.close()
            try FileManager.default.setAttributes([.modificationDate: date as Any], ofItemAtPath: files[0])
            try FileManager.default.removeItem(atPath: files[1])
            report = try await rig.ask(.verifyGateway).shape(VerifyReport.self)
            #expect(report.intact == 1 && report.damaged.count == 2)
            #expect(try await Self.entries(rig).count == 1)
            for path in paths { #expect(try await rig.gateway(path).data.count == 100_000) }
            #expect(try await rig.ask(.verifyGateway).shape(VerifyReport.self).intact == 3)
        }
    }

    @Test("Without a gateway each of these says how to serve one")
    func off() async throws {
        try await DaemonRig.run {
            $0.doors = [.gateway]
        } _: { rig in
            for route in [Route.gateway, .gatewayFiles, .verifyGateway] {
                let reply = try await rig.ask(route)
                #expect(reply.status == 404 && reply.text.contains("ferry serve --gateway"), "\(route)")
            }
        }
    }

    @Test("Without a gateway its metrics are there, with their types and without values")
    func metricsWithoutGateway() async throws {
        try await DaemonRig.run {
            $0.doors = [.gateway]
        } _: { rig in
            let lines = try await rig.send("GET", "/metrics").text.split(separator: "\n")
            for metric in Metric.ofGateway {
                #expect(lines.contains("# TYPE \(metric.name) \(metric.kind.rawValue)"), "\(metric)")
            }
            #expect(!lines.contains { $0.hasPrefix("ferry_gateway_") })
        }
    }

    /// Each kill while the uses were written left a copy of them in the cache for ever.
    @Test("What killed writes of the uses have left is removed at the next start, and other files stay")
    func unfinishedWrites() async throws {
        let names = ["uses.json.new-0123456789abcdef", "uses.json.new-0123456789abcde"]
        try await DaemonRig.runWithGateway(then: { rig in
            let exist = names.filter { FileManager.default.fileExists(atPath: rig.place.state + "/gateway/" + $0) }
            #expect(exist == names.suffix(1))
        }) { rig in
            for name in names { try Data("x".utf8).write(to: URL(filePath: rig.place.state + "/gateway/" + name)) }
        }
    }

    @Test("Metrics count requests by result, refusals by reason, bytes that were saved, and what the cache holds")
    func metrics() async throws {
        try await DaemonRig.runWithGateway { rig in
            let paths = try await Self.fetch(rig, ["a", "b"])
            for _ in 0..<2 { #expect(try await rig.gateway(paths[0]).status == 200) }
            #expect(try await rig.gateway("/nowhere").status == 404)
            try await rig.origin.setListening(false)
            await rig.origin.dropConnections()
            #expect(try await rig.gateway("/gw/pypi/simple/x/").status == 200)
            try await rig.origin.setListening(true)
            await rig.log.wait(for: #""result": stale"#)
            _ = try await rig.ask(.purgeGateway, body: PurgeBody(words: ["b.whl"]))
            try await rig.daemon.gateway?.cache.sweep()
            let text = try await rig.send("GET", "/metrics").text
            for line in [
                #"ferry_gateway_requests_total{kind="pypi",result="miss"} 2"#,
                #"ferry_gateway_requests_total{kind="pypi",result="hit"} 2"#,
                #"ferry_gateway_requests_total{kind="pypi",result="passed"} 1"#,
                #"ferry_gateway_requests_total{kind="pypi",result="stale"} 1"#,
                #"ferry_gateway_requests_total{kind="none",result="refused"} 1"#,
                #"ferry_gateway_refused_total{reason="noSuchPath"} 1"#,
                #"ferry_gateway_evictions_total{reason="purged"} 1"#, #"ferry_gateway_evictions_total{reason="age"} 0"#,
                "ferry_gateway_cached_files 1", "ferry_gateway_cached_bytes 100000",
                "ferry_gateway_limit_bytes 20000000000",
            ] { #expect(text.contains(line + "\n"), "\(line)\n\(text)") }
            let saved = try #require(text.firstMatch(of: /\nferry_gateway_saved_bytes_total (\d+)\n/)?.1)
            #expect(Int(saved) ?? 0 > 200_000 && Int(saved) ?? 0 < 210_000)
        }
    }

    @Test(
        "The access log has a line for each request with user, name, status, bytes and result, and no query or control character"
    )
    func log() async throws {
        try await DaemonRig.runWithGateway(configure: { $0.flags[.gatewayLog] = .flag(true) }) { rig in
            let path = try await Self.fetch(rig, ["a"])[0]
            #expect(try await rig.gateway(path).status == 200)
            #expect(try await rig.gateway("/gw/none%0d%0ax?token=s3cret").status == 404)
            for result in ["passed", "miss", "hit", "refused"] { await rig.log.wait(for: #""result": \#(result)"#) }
            let lines = rig.log.text.split(separator: "\n").filter { $0.contains(#""result": "#) }
            #expect(lines.count == 4 && lines.allSatisfy { $0.hasPrefix("info gateway ") })
            let user = SystemAccounts().name(of: PeerCheck.ownUser) ?? "\(PeerCheck.ownUser)"
            func has(_ line: Substring, _ words: String...) -> Bool {
                words.allSatisfy { line.contains($0 + ",") || line.contains($0 + "]") }
            }
            #expect(lines.allSatisfy { has($0, #""user": \#(user)"#, #""method": GET"#) }, "\(lines)")
            let file = #""path": /gw/pypi/file/.../a.whl"#
            for result in ["miss", "hit"] {
                #expect(
                    lines.contains { has($0, #""bytes": 100000"#, #""result": \#(result)"#, #""status": 200"#, file) },
                    "\(lines)")
            }
            #expect(lines.contains { has($0, #""reason": noSuchPath"#, #""status": 404"#) })
            #expect(!rig.log.text.contains("s3cret"))
        }
    }

    @Test("Without the option the log has no line for an ordinary request, but with -v")
    func quiet() async throws {
        try await DaemonRig.runWithGateway { rig in
            _ = try await Self.fetch(rig, ["a"])
            await rig.log.wait(for: #""result": miss"#)
            let lines = rig.log.text.split(separator: "\n").filter { $0.contains(#""result": "#) }
            #expect(lines.allSatisfy { $0.hasPrefix("debug ") })
        }
    }

    @Test(
        "GatewayText: paths in the log have no query, no user info and no encoded URL",
        arguments: [
            ("/gw/pypi/simple/x/?a=b", "/gw/pypi/simple/x/"),
            ("/gw/pypi/file/1/-/aHR0cA/x.whl", "/gw/pypi/file/.../x.whl"),
            ("/gw/apt/me:pw@host/x?y", "/gw/apt/host/x"), ("/gw/apt/host/a@b", "/gw/apt/host/a@b"), ("", ""),
        ])
    func paths(target: String, expected: String) { #expect(GatewayText.path(target[...]) == expected) }

    @Test("GatewayText: what is not visible ASCII is a question mark, and long texts are cut")
    func visible() {
        #expect(GatewayText.visible("a\r\n\u{1B}[0mä b") == "a???[0m?? b")
        #expect(GatewayText.visible(String(repeating: "x", count: 300)).utf8.count == 200)
    }
}
