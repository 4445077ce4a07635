import FerryBrowser
import FerryCore
import FerryEngine
import FerryTesting
import FerryTerminal
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A host as a browser starts it, with the messages of an extension.
private final class StartedHost {
    let process: FerryProcess
    private let input: FileHandle
    private let output: FileHandle
    private var number = 0

    init(
        _ home: RemoteHome, caller: [String] = ["chrome-extension://nbaokfogiejebakdlejbefnonifigcef/"],
        environment: [String: String] = [:]
    ) throws {
        let fifo = home.place.path("messages-\(UUID().uuidString)")
        mkfifo(fifo, 0o600)
        // Open for reading too, so that this end need not wait for the other.
        let descriptor = open(fifo, O_RDWR | O_CLOEXEC)
        input = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let pipe = Pipe()
        output = pipe.fileHandleForReading
        process = try FerryProcess(
            caller, in: home.place, environment: home.environment.merging(environment) { $1 },
            output: .handle(pipe.fileHandleForWriting),
            shell: "exec \"$@\" <'\(fifo)'")
    }

    func send(_ message: [String: Any]) throws {
        number += 1
        let whole = message.merging(["version": 1, "number": number]) { $1 }
        let body = try JSONSerialization.data(withJSONObject: whole)
        try input.write(contentsOf: withUnsafeBytes(of: UInt32(body.count)) { Data($0) } + body)
    }

    /// The answer to the newest message, once all before are answered.
    func answer() throws -> [String: Any] {
        let head = try #require(try output.read(upToCount: 4))
        let length = head.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        var body = Data()
        while body.count < Int(length) {
            body += try #require(try output.read(upToCount: Int(length) - body.count))
        }
        let answer = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        #expect(answer["number"] as? Int == number)
        return answer
    }

    func ask(_ request: String, _ members: [String: Any] = [:]) throws -> [String: Any] {
        try send(members.merging(["request": request]) { $1 })
        return try answer()
    }

    /// Ends the stream of messages, as a browser does that closes. Returns what else was written.
    func end() async throws -> (outcome: FerryProcess.Outcome, rest: Data) {
        try input.close()
        let rest = try output.readToEnd() ?? Data()
        return (try await process.outcome(), rest)
    }
}

@Suite("The binary: host of the browser's extension", .serialized, .timeLimit(.minutes(30))) struct BrowserHostTests {
    private static let resource = Resource(size: 300_000, seed: 5)

    private func download(_ home: RemoteHome, _ path: String) -> [String: Any] {
        [
            "download": [
                "url": home.server.url(path), "name": "taken.bin", "referer": home.server.url("/page"),
                "userAgent": "Mozilla/5.0 (test)", "page": home.server.url("/page"),
                "cookies": "127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tcanary-7",
            ]
        ]
    }

    private func state(_ answer: [String: Any]) -> String? {
        (answer["download"] as? [String: Any])?["state"] as? String
    }

    private func id(_ answer: [String: Any]) throws -> String {
        try #require((answer["download"] as? [String: Any])?["id"] as? String)
    }

    @Test("Browser host: a taken download is stored before the answer, runs after resume with the request's cookies")
    func take() async throws {
        try await RemoteHome.run { home in
            home.server.serve("/a.bin", Self.resource)
            home.server.always("/a.bin", .requireCookie("session", "canary-7"))
            let host = try StartedHost(home)
            // The daemon does not run yet: showing downloads starts none.
            #expect(try host.ask("list")["statistics"] == nil)
            #expect(home.daemon == nil)
            let taken = try host.ask("take", download(home, "/a.bin"))
            #expect(state(taken) == "paused", "\(taken)")
            // The server was asked, and nothing is downloaded yet.
            #expect(home.server.requests.allSatisfy { $0.head["Cookie"] == "session=canary-7" })
            let identifier = try id(taken)
            #expect(try await home.objects("list").map { $0["id"] as? String } == [identifier])
            _ = try host.ask("resume", ["id": identifier])
            _ = try await home.ferry("watch", identifier)
            let request = try #require(home.server.requests.first?.head)
            #expect(request["Cookie"] == "session=canary-7")
            #expect(request["Referer"] == home.server.url("/page"))
            #expect(request["User-Agent"] == "Mozilla/5.0 (test)")
            #expect(Self.resource.source.compare(file: home.path("taken.bin"), size: Self.resource.size) == .equal)
            let list = try host.ask("list")
            #expect((list["downloads"] as? [[String: Any]])?.map { $0["state"] as? String } == ["completed"])
            #expect((list["statistics"] as? [String: Any])?["completed"] as? Int == 1)
            // Downloaded again, as a browser does, beside the first.
            let again = try host.ask("take", download(home, "/a.bin"))
            #expect(state(again) == "paused")
            #expect(try id(again) != identifier)
            let (outcome, rest) = try await host.end()
            #expect(outcome.code == 0 && outcome.error == "" && rest.isEmpty)
            let stored = try Data(contentsOf: URL(filePath: home.root + "/state/sessions/daemon/catalogue.sqlite"))
            #expect(stored.firstRange(of: Data("canary-7".utf8)) == nil)
        }
    }

    @Test("Browser host: what the server does not give to Ferry, or gives as another file, stays with the browser")
    func left() async throws {
        try await RemoteHome.run { home in
            for name in ["/once.bin", "/locked.bin", "/size.bin", "/type.bin"] {
                home.server.serve(name, Self.resource)
            }
            home.server.always("/once.bin", .status(403))
            home.server.always("/locked.bin", .basicAuth("me", "sesame"))
            let host = try StartedHost(home)
            let seen: [(String, [String: Any])] = [
                ("/once.bin", [:]), ("/locked.bin", [:]), ("/size.bin", ["totalBytes": 299_999]),
                ("/type.bin", ["type": "text/plain"]),
            ]
            for (path, members) in seen {
                let link = try #require(download(home, path)["download"] as? [String: Any])
                let answer = try host.ask("take", ["download": link.merging(members) { $1 }])
                #expect(answer["download"] == nil && answer["error"] == nil, "\(path): \(answer)")
            }
            #expect(try await home.objects("list").isEmpty)
            let link = try #require(download(home, "/size.bin")["download"] as? [String: Any])
            let same = link.merging(["totalBytes": 300_000, "type": "application/octet-stream"]) { $1 }
            #expect(state(try host.ask("take", ["download": same])) == "paused")
            _ = try await host.end()
        }
    }

    @Test(
        "Browser host: a link that is good for two more requests is taken over, as Ferry sends one before the download")
    func fewRequests() async throws {
        try await RemoteHome.run { home in
            home.server.serve("/two.bin", Self.resource)
            let count = Mutex(0)
            home.server.always(
                "/two.bin",
                .when(
                    { _ in
                        count.withLock { count in
                            count += 1
                            return count > 2
                        }
                    }, .status(403)))
            let host = try StartedHost(home)
            let taken = try host.ask("take", download(home, "/two.bin"))
            #expect(state(taken) == "paused")
            let identifier = try id(taken)
            _ = try host.ask("resume", ["id": identifier])
            _ = try await home.ferry("watch", identifier)
            #expect(Self.resource.source.compare(file: home.path("taken.bin"), size: Self.resource.size) == .equal)
            #expect(home.server.requests.count == 2)
            _ = try await host.end()
        }
    }

    /// The answer of a host that is told whether the origin on loopback is public.
    private func ask(_ request: String, _ members: [String: Any], isPublic: Bool, _ home: RemoteHome) async throws
        -> [String: Any]
    {
        var place = DaemonAddress(identifier: "default", directory: home.root)
        place.socket = home.root + "/run/s"
        place.patience = .seconds(3600)
        let link = DaemonLink(place, clock: SystemClock())
        let host = BrowserHost(link: link, starter: link, isPrivate: { _ in !isPublic }, open: { _ in false })
        let message = members.merging(["version": 1, "number": 1, "request": request]) { $1 }
        let answer = await host.answer(to: try JSONSerialization.data(withJSONObject: message))
        return try #require(JSONSerialization.jsonObject(with: JSONEncoder().encode(answer)) as? [String: Any])
    }

    @Test("Browser host: a public page's link into the user's network is not requested, and stays with the browser")
    func network() async throws {
        try await RemoteHome.run { home in
            for name in ["/first.bin", "/a.bin", "/b.bin"] { home.server.serve(name, Self.resource) }
            // Starts the daemon.
            try await home.run("add", home.server.url("/first.bin"), "--paused")
            let before = home.server.requests.count
            let left = try await ask("take", download(home, "/a.bin"), isPublic: true, home)
            #expect(left["download"] == nil && left["error"] == nil, "\(left)")
            #expect(try await home.objects("list").count == 1)
            // A link of a menu is listed, and its download is refused.
            let link = try #require(download(home, "/b.bin")["download"])
            let added = try await ask("add", ["downloads": [link]], isPublic: true, home)
            let item = try #require((added["downloads"] as? [[String: Any]])?.first)
            let identifier = try #require(item["id"] as? String)
            #expect(try await home.ferry("watch", identifier).code != 0)
            let listed = try #require(try await home.objects("show", identifier).first)
            #expect(listed["state"] as? String == "failed" && listed["allowsPrivate"] as? Bool == false, "\(listed)")
            #expect(home.server.requests.count == before)
            // What is known to be of the user's network leads there.
            let taken = try await ask("take", download(home, "/a.bin"), isPublic: false, home)
            #expect(state(taken) == "paused", "\(taken)")
            #expect(home.server.requests.count > before)
        }
    }

    @Test("Browser host: when the browser dies, what was taken runs; what was dropped is gone")
    func ends() async throws {
        try await RemoteHome.run { home in
            for name in ["/a.bin", "/b.bin"] { home.server.serve(name, Self.resource) }
            let host = try StartedHost(
                home, caller: ["/h/.mozilla/native-messaging-hosts/ferry.browser.json", "browser@ferry.invalid"])
            let kept = try id(try host.ask("take", download(home, "/a.bin")))
            let dropped = try id(try host.ask("take", download(home, "/b.bin")))
            let asked = home.server.requests.filter { $0.head.target == "/b.bin" }.count
            #expect(try host.ask("drop", ["id": dropped])["error"] == nil)
            // One that was not taken here is not removed.
            let listed = try await home.run("add", home.server.url("/b.bin"), "--paused").text.prefix { $0 != " " }
            #expect(try host.ask("drop", ["id": String(listed)])["error"] == nil)
            #expect(try await host.end().outcome.code == 0)
            _ = try await home.ferry("watch", kept)
            let states = try await home.objects("list").map { [$0["id"] as? String, $0["state"] as? String] }
            #expect(Set(states) == [[kept, "completed"], [String(listed), "paused"]])
            #expect(home.server.requests.filter { $0.head.target == "/b.bin" }.count == asked)
        }
    }

    @Test("Browser host: a new link for a download that waits for one resumes it, and its bytes are not fetched again")
    func renewal() async throws {
        try await RemoteHome.run { home in
            let large = Resource(size: 2_500_000, seed: 6)
            for name in ["/old", "/new"] { home.server.serve(name, large) }
            // The whole is asked for before the browser gives its own up.
            home.server.script("/old", [.honest, .cut(after: 1_500_000)], then: .status(403))
            let host = try StartedHost(home)
            let identifier = try id(try host.ask("take", download(home, "/old")))
            _ = try host.ask("resume", ["id": identifier])
            try await eventually {
                let listed = try host.ask("list")["downloads"] as? [[String: Any]]
                return listed?.first?["waitReason"] as? String == "freshLink"
            }
            let renewed = try host.ask("take", download(home, "/new"))
            #expect(renewed["isRenewed"] as? Bool == true, "\(renewed)")
            #expect(try id(renewed) == identifier)
            _ = try await home.ferry("watch", identifier)
            #expect(large.source.compare(file: home.path("taken.bin"), size: large.size) == .equal)
            let ranges = home.server.requests.filter { $0.head.target == "/new" }.map { $0.head["Range"] }
            #expect(ranges.count > 1 && !ranges.dropFirst().contains(nil), "\(ranges)")
            #expect(try await home.objects("list").count == 1)
            _ = try await host.end()
        }
    }

    @Test("Browser host: the directory of a completed file is opened, for nothing else is anything started")
    func folder() async throws {
        try await RemoteHome.run { home in
            home.server.serve("/a.bin", Self.resource)
            let bin = home.place.path("bin")
            try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
            let script = "#!/bin/sh\nprintf '%s\\n' \"$@\" >> '\(home.place.path("opened"))'\n"
            try Executable.write(script, to: bin + "/xdg-open")
            let host = try StartedHost(home, environment: ["PATH": bin + ":/usr/bin:/bin", "DISPLAY": ":0"])
            let identifier = try id(try host.ask("take", download(home, "/a.bin")))
            for refused in [identifier, "nosuch", "../../settings", "/etc"] {
                #expect(try host.ask("open", ["id": refused])["error"] != nil)
            }
            #expect(!home.place.names.contains("opened"))
            _ = try host.ask("resume", ["id": identifier])
            _ = try await home.ferry("watch", identifier)
            #expect(try host.ask("open", ["id": identifier])["error"] == nil)
            #expect(
                try String(decoding: home.place.data("opened"), as: UTF8.self)
                    == "file://\(home.place.path("Downloads"))/\n")
            _ = try await host.end()
        }
    }

    @Test("Browser host: an unknown extension is refused, and what is no message ends the host")
    func refused() async throws {
        try await RemoteHome.run { home in
            for caller in [
                ["chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"], ["/h/ferry.browser.json", "other@a.example"],
            ] {
                let outcome = try await FerryProcess.run(caller, in: home.place, environment: home.environment)
                #expect(outcome.code == 2 && outcome.output.isEmpty)
                #expect(outcome.error.contains("is not Ferry's extension"))
            }
            // As four bytes: 0x74736574, more than a message may have.
            let outcome = try await home.ferry("browser-host", "browser@ferry.invalid", input: "test")
            #expect(outcome.code == 2 && outcome.output.isEmpty)
            #expect(home.daemon == nil)
        }
    }

    @Test("ferry browser: the manifests of the browsers of this user are written, shown and removed")
    func manifests() async throws {
        try await RemoteHome.run { home in
            let none = try await home.ferry("browser", "install")
            #expect(none.code == 2 && none.error.contains("no browser of this user was found"))
            try FileManager.default.createDirectory(
                atPath: home.place.path(".mozilla"), withIntermediateDirectories: true)
            #expect(try await home.ferry("browser", "status").code == 1)
            let installed = try await home.ferry("browser", "install")
            #expect(installed.code == 0 && installed.text.hasPrefix("Firefox: installed ("), "\(installed)")
            let lines = try objects(try await home.ferry("browser", "status", "firefox", "brave", "--json").text)
            #expect(lines.map { $0["status"] as? String } == ["installed", "absent"])
            #expect(try await home.ferry("browser", "uninstall").text == "Firefox: not installed\n")
            #expect(try await home.ferry("browser", "install", "opera").code == 2)
        }
    }
}
