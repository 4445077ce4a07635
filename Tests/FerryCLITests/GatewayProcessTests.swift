import AsyncHTTPClient
import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import NIOCore
import Testing

@Suite("The binary: the cache of the gateway", .serialized, .timeLimit(.minutes(30))) struct GatewayProcessTests {
    @Test("ferry gateway: usage, list, verify and purge, in words and in JSON, and what each refuses")
    func cache() async throws {
        try await OriginServer.with { server in
            let wheel = Resource(size: 100_000, seed: 1)
            server.serve("/a-1.whl", wheel)
            server.route("/simple/a/") { _ in .page(200, "<a href=/a-1.whl#sha256=\(wheel.sha256)>a</a>") }
            let place = try Workplace()
            let environment = ServeProcess.environment(place)
            func ferry(_ arguments: String...) async throws -> FerryProcess.Outcome {
                try await FerryProcess.run(["gateway"] + arguments, in: place, environment: environment)
            }
            let daemon = try await ServeProcess.start(
                ["--gateway", "--gateway-port", "0", "--gateway-upstream", "pypi=" + server.url("/simple/")], in: place)
            let port = try #require(daemon.listening?.doors["gateway"])
            func fetch(_ path: String) async throws -> Data {
                let request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
                let response = try await HTTPClient.shared.execute(request, timeout: .minutes(5))
                return Data(try await response.body.collect(upTo: 1 << 20).readableBytesView)
            }
            #expect(try await ferry("list").error.contains("the cache of the gateway is empty"))
            let page = String(decoding: try await fetch("/gw/pypi/simple/a/"), as: UTF8.self)
            let path = String(try #require(page.firstMatch(of: /href="([^"#]*)/)?.1))
            #expect(try await fetch(path).count == 100_000)

            let usage = try await ferry()
            #expect(
                usage.code == 0 && usage.lines.first?.contains("100.0 KB of 20.0 GB in 1 files, 0 unfinished") == true)
            let list = try await ferry("list")
            #expect(
                list.lines.count == 1 && list.lines[0].contains("100.0 KB") && list.lines[0].contains("  a-1.whl  "))
            let listed = try await FerryProcess.run(
                ["list", "--session", "gateway"], in: place, environment: environment)
            #expect(listed.lines.last?.hasSuffix("  a-1.whl") == true, "\(listed.lines)")
            #expect(try await ferry("list", "--names").lines == ["a-1.whl"])
            let json = try await ferry("list", "--json")
            let entry = try JSONCoding.decode(GatewayEntry.self, from: Data(json.lines.joined().utf8))
            #expect(entry.name == "a-1.whl" && entry.checksum?.hasSuffix(wheel.sha256) == true)
            #expect(
                try await ferry("verify").lines == ["1 files are intact (100.0 KB), 0 were damaged, 0 have no digest"])

            let folder = place.path("state/gateway/pypi") + "/"
            let file = folder + (try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first))
            try Data(count: 100_000).write(to: URL(filePath: file))
            let damaged = try await ferry("verify")
            #expect(damaged.code == 7 && damaged.lines.first == "damaged: a-1.whl: removed", "\(damaged.lines)")
            #expect(try await fetch(path).count == 100_000)
            #expect(try await ferry("purge", "a-1.whl").lines == ["removed 1 files with 100.0 KB"])
            #expect(try await fetch(path).count == 100_000)
            #expect(try await ferry("purge", "--older-than", "1d").lines == ["removed 0 files with 0 B"])
            #expect(try await ferry("purge", "--all").lines == ["removed 1 files with 100.0 KB"])
            for (arguments, code, text) in [
                (["frob"], 2, "is not an action on the gateway"), (["purge"], 2, "needs one of names"),
                (["purge", "a", "--all"], 2, "needs one of names"), (["list", "a"], 2, "are for ferry gateway purge"),
                (["purge", "a-1.whl"], 2, "no file of the gateway's cache matches"),
            ] as [([String], Int32, String)] {
                let outcome = try await FerryProcess.run(["gateway"] + arguments, in: place, environment: environment)
                #expect(
                    outcome.code == code && outcome.error.contains(text),
                    "\(arguments): \(outcome.code) \(outcome.error)")
            }
            try await daemon.stop()
        }
    }

    @Test("ferry serve: SIGHUP does not end a daemon without a terminal, whose log is then written to a new file")
    func hangup() async throws {
        let place = try Workplace()
        let nowhere = try #require(FileHandle(forWritingAtPath: "/dev/null"))
        let daemon = try await ServeProcess.start(in: place, error: .handle(nowhere))
        let log = place.path("state/daemon.log")
        try FileManager.default.moveItem(atPath: log, toPath: log + ".old")
        daemon.process.signal(SIGHUP)
        daemon.process.signal(SIGHUP)
        _ = try await daemon.ask(.greeting)
        try await daemon.stop()
        let text = try String(contentsOfFile: log, encoding: .utf8)
        #expect(text.contains("the log was reopened") && text.contains("leaving"))
    }
}
