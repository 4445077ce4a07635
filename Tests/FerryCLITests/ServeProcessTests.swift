import AsyncHTTPClient
import CFerry
import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@Suite("The binary: serve", .timeLimit(.minutes(30))) struct ServeProcessTests {
    /// A connection over loopback that does not wait for a peer that has stopped reading.
    private static func connection(_ port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, ferry_SOCK_STREAM, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        try #require(connected == 0)
        return descriptor
    }

    private static func send(_ text: String, _ descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }

    /// The resident memory of a process, in bytes.
    private static func residentBytes(_ process: Int) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(Int(line.filter(\.isNumber))) << 10
    }

    @Test(
        "ferry serve --aria2-rpc: the port is reported, the token is in a private file or given, and in no process list"
    )
    func aria2() async throws {
        let place = try Workplace()
        func start(_ arguments: String...) async throws -> (serve: ServeProcess, port: Int) {
            let serve = try await ServeProcess.start(["--aria2-rpc", "0"] + arguments, in: place)
            return (serve, try #require(serve.listening?.doors["aria2"]))
        }
        func status(_ token: String, _ port: Int) async throws -> UInt {
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/jsonrpc")
            request.method = .POST
            request.body = .bytes(
                ByteBuffer(string: #"{"id":1,"method":"aria2.getVersion","params":["token:\#(token)"]}"#))
            return try await HTTPClient.shared.execute(request, timeout: .minutes(8)).status.code
        }
        var (serve, port) = try await start()
        let kept = place.path("state/aria2-secret")
        let made = try String(contentsOfFile: kept, encoding: .utf8).trimmingCharacters(in: .newlines)
        #expect(made.utf8.count == 32)
        #expect(try FileManager.default.attributesOfItem(atPath: kept)[.posixPermissions] as? Int == 0o600)
        #expect(try await status(made, port) == 200)
        #expect(try await status("wrong", port) == 400)
        serve.process.signal(SIGTERM)
        var outcome = try await serve.process.outcome()
        #expect(outcome.lines.last == "aria2 http://127.0.0.1:\(port)/jsonrpc")
        #expect(!outcome.error.contains(made))
        (serve, port) = try await start()
        #expect(try await status(made, port) == 200)
        try await serve.stop()
        (serve, port) = try await start("--aria2-secret", "cAnArY")
        #expect(try await status("cAnArY", port) == 200)
        #expect(try await status(made, port) == 400)
        let arguments = try String(contentsOfFile: "/proc/\(serve.process.id)/cmdline", encoding: .utf8)
        #expect(arguments.contains("--aria2-secret") && !arguments.contains("cAnArY"))
        serve.process.signal(SIGTERM)
        outcome = try await serve.process.outcome()
        #expect(!outcome.error.contains("cAnArY") && !outcome.text.contains("cAnArY"))
        (serve, port) = try await start("--aria2-secret", "@" + kept)
        #expect(try await status(made, port) == 200)
        try await serve.stop()
    }

    @Test(
        "ferry serve: 24 unfinished bodies from clients without a token add less than 5 MiB",
        .disabled(if: FerryProcess.isSanitized, "the thread sanitizer's own memory would be measured"),
        arguments: [true, false])
    func unfinishedBodies(declared: Bool) async throws {
        let place = try Workplace()
        let serve = try await ServeProcess.start(in: place)
        let listening = try #require(serve.listening)
        let port = try #require(listening.port)
        let length = declared ? "Content-Length: \(16 << 20)" : "Transfer-Encoding: chunked"
        let piece = String(repeating: " ", count: 64 << 10)
        let chunk = declared ? piece : "10000\r\n\(piece)\r\n"
        func attack() throws -> [Int32] {
            try (0..<24).map { index in
                let descriptor = try Self.connection(port)
                let route = index % 2 == 0 ? Route.login : .add
                Self.send(
                    "POST \(route.path()) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
                        + "Content-Type: application/json\r\n\(length)\r\n\r\n", descriptor)
                for _ in 0..<64 { Self.send(chunk, descriptor) }
                return descriptor
            }
        }
        /// The number of responses; each comes before its body is complete.
        func answers(_ descriptors: [Int32]) -> Int {
            var count = 0
            for descriptor in descriptors {
                var byte: UInt8 = 0
                if recv(descriptor, &byte, 1, 0) == 1 { count += 1 }
            }
            return count
        }
        // Memory that the first requests allocate stays.
        let first = try attack()
        _ = answers(first)
        for descriptor in first { close(descriptor) }
        _ = try await serve.ask(.greeting)
        let before = try Self.residentBytes(listening.pid)
        let held = try attack()
        let count = answers(held)
        let after = try Self.residentBytes(listening.pid)
        for descriptor in held { close(descriptor) }
        #expect(after - before < 5 << 20, "\(after - before) bytes")
        #expect(count == 24)
        _ = try await serve.ask(.greeting)
        serve.process.signal(SIGTERM)
        #expect(try await serve.process.outcome().code == 0)
    }

    @Test("ferry serve: it reports its addresses when it listens, answers there, and ends in order at SIGTERM")
    func ready() async throws {
        let place = try Workplace()
        let serve = try await ServeProcess.start(in: place)
        let listening = try #require(serve.listening)
        #expect(listening.pid == Int(serve.process.id))
        #expect(listening.socket == place.path("run/s"))
        let port = try #require(listening.port)
        #expect(listening.addresses.contains("127.0.0.1:\(port)"))
        #expect(listening.addresses.allSatisfy { $0.hasSuffix(":\(port)") })
        let greeting = try JSONCoding.decode(Greeting.self, from: try await serve.ask(.greeting))
        #expect(greeting.pid == listening.pid)
        #expect(greeting.version == listening.version)
        serve.process.signal(SIGTERM)
        let outcome = try await serve.process.outcome()
        #expect(outcome.code == 0, "\(outcome.error)")
        #expect(outcome.lines == ["http://127.0.0.1:\(port)/"])
        #expect(!FileManager.default.fileExists(atPath: listening.socket))
    }

    @Test("ferry serve: a second daemon reports the conflict and leaves with exit code 9; the first stays (B9)")
    func second() async throws {
        let place = try Workplace()
        let first = try await ServeProcess.start(in: place)
        let second = try await ServeProcess.start(in: place)
        guard case .failed(let body) = second.line else {
            Issue.record("it listens")
            return
        }
        #expect(body.code == .conflict)
        #expect(body.message.contains("\(first.process.id)"))
        #expect(try await second.process.outcome().code == 9)
        _ = try await first.ask(.greeting)
        first.process.signal(SIGINT)
        #expect(try await first.process.outcome().code == 0)
    }

    @Test("ferry serve --ready-fd: a descriptor that is not open is exit code 2, and nothing is served")
    func closedDescriptor() async throws {
        let place = try Workplace()
        let outcome = try await FerryProcess.run(
            ["serve", "--port", "0", "--ready-fd", "93"], in: place,
            environment: ["FERRY_STATE_DIR": place.path("state"), "FERRY_SOCKET": place.path("run/s")])
        #expect(outcome.code == 2, "\(outcome.error)")
        #expect(outcome.error.contains("descriptor 93"))
        #expect(place.names == [])
    }

    @Test("ferry serve --on-complete: a program that cannot be run is exit code 2 at the start")
    func unusableProgram() async throws {
        let place = try Workplace()
        let outcome = try await FerryProcess.run(
            ["serve", "--port", "0", "--on-complete", "true done", "--on-complete", "-c"], in: place,
            environment: ["FERRY_STATE_DIR": place.path("state"), "FERRY_SOCKET": place.path("run/s")])
        #expect(outcome.code == 2, "\(outcome.error)")
        #expect(outcome.error.contains("onComplete: true done is no program that can be run"), "\(outcome.error)")
        let serve = try await ServeProcess.start(["--on-complete", "true", "--on-complete", "-c"], in: place)
        #expect(serve.listening != nil)
        serve.process.signal(SIGTERM)
        #expect(try await serve.process.outcome().code == 0)
    }

    @Test("ferry serve: after kill -9 the next daemon resumes the download and completes it")
    func killed() async throws {
        let place = try Workplace()
        let resource = Resource(size: 80 << 20, seed: 3)
        try await OriginServer.with { server async throws -> Void in
            server.serve("/a.bin", resource)
            // More than is ever unsynced: the journal claims some of it by then.
            server.script("/a.bin", [.stall(after: 72 << 20)])
            let id = try await begin(server.url("/a.bin"), bytes: 70 << 20, in: place)
            server.always("/a.bin", .honest)
            let second = try await ServeProcess.start(in: place)
            let path = try await second.end(of: id)?.status.path
            #expect(path == place.path("downloads/a.bin"))
            let data = try await second.ask(.history, id: id.rawValue)
            let kinds = try JSONCoding.decode(EventItems.self, from: data).items.map(\.event.kind)
            let resumed = kinds.contains { kind in if case .resumed = kind { true } else { false } }
            #expect(resumed)
            second.process.signal(SIGTERM)
            let outcome = try await second.process.outcome()
            #expect(outcome.code == 0)
        }
        let comparison = resource.source.compare(file: place.path("downloads/a.bin"), size: resource.size)
        #expect(comparison == .equal)
    }

    /// Starts a daemon, and kills it once so many bytes of a download are there.
    private func begin(_ url: String, bytes: Int64, in place: Workplace) async throws -> DownloadID {
        let first = try await ServeProcess.start(in: place)
        var new = DownloadRequest(sources: [try DownloadURL(url)], destination: .directory(""))
        new.maxConnections = 1
        let data = try await first.ask(.add, body: new)
        _ = try await first.follow { (event: StreamEvent) -> Bool? in
            guard case .progress(let batch, _) = event else { return nil }
            return batch.contains { $0.progress.completedBytes >= bytes } ? true : nil
        }
        first.process.signal(SIGKILL)
        _ = try await first.process.outcome()
        return try JSONCoding.decode(ListedDownload.self, from: data).id
    }
}
