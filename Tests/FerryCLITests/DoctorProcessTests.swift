import FerryTesting
import Foundation
import Testing

@Suite("The binary: doctor", .serialized, .timeLimit(.minutes(30))) struct DoctorProcessTests {
    @Test("ferry doctor: it passes in a sound environment, and reports a malformed proxy")
    func doctor() async throws {
        try await RemoteHome.run { home in
            try await home.run("add", "--paused", home.server.url("/a"))
            let report = try #require(try await home.objects("doctor").first)
            #expect(report["ok"] as? Bool == true)
            let checks = try #require(report["checks"] as? [[String: Any]])
            #expect(
                checks.compactMap { $0["name"] as? String }
                    == [
                        "open files", "downloads", "state", "settings", "socket", "daemon", "confinement", "proxy",
                        "certificates",
                    ])
            let chinese = try await home.ferry("doctor", environment: ["LC_ALL": "zh_CN.UTF-8"])
            // Neither the levels nor the names are English.
            #expect(chinese.lines.allSatisfy { $0.first?.isASCII == false || $0.first == " " }, "\(chinese.text)")
            #expect(chinese.text.contains("打开文件"), "\(chinese.text)")
            let broken = try await home.ferry("doctor", environment: ["https_proxy": "nonsense://x"])
            #expect(broken.code == 1)
            #expect(broken.lines.contains { $0.hasPrefix("problem  proxy") })
            let settings = try Workplace()
            try settings.write("[]", to: "ferry.json")
            let unusable = try await home.ferry("doctor", environment: ["FERRY_CONFIG": settings.path("ferry.json")])
            #expect(unusable.code == 1)
            #expect(unusable.lines.contains { $0.hasPrefix("problem  settings") }, "\(unusable.text)")
            try settings.write(#"{"maxConcurent": 3}"#, to: "ferry.json")
            let misspelt = try await home.ferry("doctor", environment: ["FERRY_CONFIG": settings.path("ferry.json")])
            #expect(misspelt.code == 0)
            let line = misspelt.lines.first { $0.hasPrefix("warning  settings") }
            #expect(line?.hasSuffix("unknown settings: maxConcurent") == true, "\(misspelt.text)")
        }
    }

    @Test("ferry doctor: it reports directories that cannot be created, and creates none")
    func nowhere() async throws {
        let place = try Workplace()
        try place.write("", to: "file")
        let outcome = try await FerryProcess.run(
            ["doctor"], in: place,
            environment: [
                "FERRY_STATE_DIR": place.path("file/below/state"), "FERRY_SOCKET": place.path("file/below/run/s"),
                "XDG_DOWNLOAD_DIR": place.path("file/below/Downloads"),
            ])
        #expect(outcome.code == 1)
        for name in ["downloads", "state", "socket"] {
            #expect(outcome.lines.contains { $0.hasPrefix("problem  " + name) }, "\(outcome.text)")
        }
        #expect(place.names == ["file"])
        // A daemon refuses to start with a socket in a directory that others may enter.
        let open = NSTemporaryDirectory() + "/ferry-open-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: open, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(atPath: open) }
        let refused = try await FerryProcess.run(
            ["doctor"], in: place,
            environment: ["FERRY_STATE_DIR": place.path("new/state"), "FERRY_SOCKET": open + "/s"])
        #expect(refused.code == 1)
        #expect(
            refused.lines.contains { $0.hasPrefix("problem  socket") && $0.hasSuffix("\(open) is open to others") },
            "\(refused.text)")
        let sound = try await FerryProcess.run(
            ["doctor", "--json"], in: place,
            environment: [
                "FERRY_STATE_DIR": place.path("new/state"), "FERRY_SOCKET": place.path("new/s"),
                "XDG_DOWNLOAD_DIR": place.path("new/Downloads"),
            ])
        let checks = try #require(try FerryCLITests.objects(sound.text).first?["checks"] as? [[String: Any]])
        for name in ["downloads", "state", "socket"] {
            #expect(checks.contains { $0["name"] as? String == name && $0["level"] as? String == "ok" })
        }
        #expect(place.names == ["file"])
    }
}
