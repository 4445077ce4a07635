import FerryAPI
import FerryCore
import FerryServer
import FerryTesting
import Foundation
import Testing

#if os(Linux)
    @Suite(
        "The binary: serve --confine", .timeLimit(.minutes(30)),
        .enabled(if: Landlock.version > 0, "no Landlock here"))
    struct ConfineProcessTests {
        /// Runs a confined daemon, which is stopped also after an error.
        private static func run(
            _ arguments: [String] = [], in place: Workplace,
            _ body: @Sendable (ServeProcess, OriginServer) async throws -> Void
        ) async throws {
            try await OriginServer.with { server in
                let serve = try await ServeProcess.start(["--confine"] + arguments, in: place)
                let result: Result<Void, any Error>
                do { result = .success(try await body(serve, server)) } catch { result = .failure(error) }
                try await serve.stop()
                try result.get()
            }
        }

        private static func doctor(_ place: Workplace) async throws -> [String: Any] {
            let outcome = try await FerryProcess.run(
                ["doctor", "--json"], in: place, environment: ServeProcess.environment(place))
            let report = try #require(try objects(outcome.text).first)
            let checks = try #require(report["checks"] as? [[String: Any]])
            return try #require(checks.first { $0["name"] as? String == "confinement" })
        }

        private static func request(_ url: String) throws -> DownloadRequest {
            DownloadRequest(sources: [try DownloadURL(url)], destination: .directory(""))
        }

        @Test("ferry serve --confine: it downloads to allowed directories, refuses others, and the doctor lists them")
        func confined() async throws {
            let place = try Workplace()
            try await Self.run(in: place) { serve, server in
                let added = try JSONCoding.decode(
                    ListedDownload.self,
                    from: try await serve.ask(.add, body: try Self.request(server.url("/file/3M/a.bin?seed=5"))))
                let ended = try #require(try await serve.end(of: added.id))
                #expect(ended.status.path == place.path("downloads/a.bin"))
                let size: Int64 = 3_000_000
                #expect(
                    DeterministicBytes(seed: 5).compare(file: place.path("downloads/a.bin"), size: size) == .equal)
                // A small file is published by a link.
                let small = try JSONCoding.decode(
                    ListedDownload.self,
                    from: try await serve.ask(.add, body: try Self.request(server.url("/file/10K/s.bin"))))
                #expect(try await serve.end(of: small.id)?.status.path == place.path("downloads/s.bin"))

                var outside = try Self.request(server.url("/file/1K/b.bin"))
                outside.destination = .directory(place.path("outside"))
                let (status, data) = try await serve.send(.add, body: outside)
                #expect(status == 400)
                #expect(String(decoding: data, as: UTF8.self).contains("this daemon is confined to"))
                #expect(!FileManager.default.fileExists(atPath: place.path("outside")))

                let check = try await Self.doctor(place)
                #expect(check["level"] as? String == "ok", "\(check)")
                let text = try #require(check["text"] as? String)
                for name in ["state", "run", "config", "downloads"] {
                    #expect(text.contains(place.path(name)), "\(text)")
                }
            }
        }

        @Test("ferry serve: for an unconfined daemon the doctor reports no confinement")
        func unconfined() async throws {
            let place = try Workplace()
            let serve = try await ServeProcess.start(in: place)
            let text = try await Self.doctor(place)["text"] as? String
            #expect(text == "none: the daemon may write wherever its user may")
            try await serve.stop()
        }

        @Test(
            "ferry serve --confine: a directory replaced by a link leading out is not written to, and the error says why"
        )
        func kernel() async throws {
            let place = try Workplace()
            let files = FileManager.default
            try files.createDirectory(atPath: place.path("downloads/sub"), withIntermediateDirectories: true)
            try files.createDirectory(atPath: place.path("outside"), withIntermediateDirectories: true)
            try await Self.run(in: place) { serve, server in
                var new = try Self.request(server.url("/file/3M/a.bin"))
                new.destination = .directory(place.path("downloads/sub"))
                new.startsPaused = true
                let added = try JSONCoding.decode(ListedDownload.self, from: try await serve.ask(.add, body: new))
                try FileManager.default.removeItem(atPath: place.path("downloads/sub"))
                try FileManager.default.createSymbolicLink(
                    atPath: place.path("downloads/sub"), withDestinationPath: place.path("outside"))
                // The directory was checked when the download was added: the kernel refuses now.
                _ = try await serve.ask(.resume, id: added.id.rawValue)
                let ended = try #require(try await serve.end(of: added.id))
                guard case .failed(let error) = ended.status.state else {
                    Issue.record("\(ended.status.state)")
                    return
                }
                #expect(error.message.hasPrefix("this daemon is confined to"), "\(error)")
                #expect(error.underlying?.contains("Permission denied") == true, "\(error)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: place.path("outside")) == [])
            }
        }

        @Test("ferry serve --confine: the program run after a download is not confined")
        func commands() async throws {
            let place = try Workplace()
            let pipe = place.path("told")
            #expect(mkfifo(pipe, 0o600) == 0)
            let script = "mkdir \"$1/made\" && printf %s \"$FERRY_PATH\" >\"$1/made/it\"; echo $? >\"$1/told\""
            let words = ["sh", "-c", script, "sh", place.url.path].flatMap { ["--on-complete", $0] }
            try await Self.run(words, in: place) { serve, server in
                _ = try await serve.ask(.add, body: try Self.request(server.url("/file/10K/a.bin")))
                let told = try await Self.text(of: pipe)
                #expect(told == "0\n")
                let path = try String(contentsOfFile: place.path("made/it"), encoding: .utf8)
                #expect(path == place.path("downloads/a.bin"))
            }
        }

        @Test("ferry serve --confine: the starter ignores SIGTERM and SIGINT, and ends when the daemon is killed")
        func starterEnds() async throws {
            let place = try Workplace()
            let serve = try await ServeProcess.start(["--confine"], in: place)
            let daemon = serve.process.id
            let children = try String(contentsOfFile: "/proc/\(daemon)/task/\(daemon)/children", encoding: .utf8)
            let starter = try #require(children.split(separator: " ").compactMap { Int32($0) }.first)
            let words = try String(contentsOfFile: "/proc/\(starter)/cmdline", encoding: .utf8)
            #expect(words.hasSuffix("start-commands\0"), "\(words)")
            // Ctrl-C and the end of a service do not end the starter.
            kill(starter, SIGTERM)
            kill(starter, SIGINT)
            let end = open("/proc/\(starter)", O_RDONLY | O_DIRECTORY)
            #expect(end >= 0)
            close(end)
            serve.process.signal(SIGKILL)
            _ = try await serve.process.outcome()
            try await eventually { !FileManager.default.fileExists(atPath: "/proc/\(starter)/exe") }
        }

        @Test("ferry serve --confine: an unfinished download in another directory can be resumed after a restart")
        func unfinished() async throws {
            let place = try Workplace()
            try await OriginServer.with { server in
                let first = try await ServeProcess.start(in: place)
                var new = try Self.request(server.url("/file/3M/a.bin"))
                new.destination = .directory(place.path("elsewhere"))
                new.startsPaused = true
                let added = try JSONCoding.decode(ListedDownload.self, from: try await first.ask(.add, body: new))
                first.process.signal(SIGKILL)
                _ = try await first.process.outcome()
                let second = try await ServeProcess.start(["--confine"], in: place)
                _ = try await second.ask(.resume, id: added.id.rawValue)
                #expect(try await second.end(of: added.id)?.status.path == place.path("elsewhere/a.bin"))
                try await second.stop()
            }
        }

        @Test("ferry serve --confine: a second confined daemon leaves with exit code 9")
        func second() async throws {
            let place = try Workplace()
            let first = try await ServeProcess.start(["--confine"], in: place)
            let second = try await ServeProcess.start(["--confine"], in: place)
            guard case .failed(let body) = second.line else {
                Issue.record("it listens")
                return
            }
            #expect(body.code == .conflict)
            #expect(try await second.process.outcome().code == 9)
            try await first.stop()
        }

        @Test(
            "ferry serve --confine: without Landlock in the kernel the start is refused with exit code 2",
            .enabled(if: Strace.canInject, "no strace here"))
        func withoutLandlock() async throws {
            let place = try Workplace()
            let outcome = try await FerryProcess.run(
                ["serve", "--confine", "--port", "0"], in: place, environment: ServeProcess.environment(place),
                shell: """
                    exec strace -f -qq -o /dev/null -e trace=landlock_create_ruleset \
                    -e inject=landlock_create_ruleset:error=EOPNOTSUPP "$@"
                    """)
            #expect(outcome.code == 2, "\(outcome.error)")
            #expect(outcome.error.contains("cannot be confined: this system has no Landlock"), "\(outcome.error)")
            #expect(place.names == [])
        }

        @Test("ferry serve --confine: a confinement descriptor given by hand is refused with exit code 2")
        func byHand() async throws {
            let place = try Workplace()
            let outcome = try await FerryProcess.run(
                ["serve", "--confine", "--confinement-fd", "0", "--port", "0"], in: place,
                environment: ServeProcess.environment(place), input: "{}")
            #expect(outcome.code == 2, "\(outcome.error)")
            #expect(place.names == [])
        }

        private static func text(of pipe: String) async throws -> String {
            let data: Data = try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(
                        with: Result { try FileHandle(forReadingFrom: URL(filePath: pipe)).readToEnd() ?? Data() })
                }
            }
            return String(decoding: data, as: UTF8.self)
        }
    }
#endif
