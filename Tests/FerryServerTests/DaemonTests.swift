import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import Logging
import Testing

@testable import FerryServer

@Suite("Daemon", .timeLimit(.minutes(30)))
struct DaemonTests {
    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    #if os(Linux)
        @Test("DaemonLock: it is released although a child process has a copy of the descriptor")
        func lockWithChild() throws {
            let path = FileManager.default.temporaryDirectory.path + "/ferry-lock-" + UUID().uuidString
            defer { try? FileManager.default.removeItem(atPath: path) }
            var lock: DaemonLock? = try DaemonLock.take(path)
            let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
            let own = numbers.filter {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
            }
            let copies = own.map { fcntl($0, F_DUPFD_CLOEXEC, 3) }
            defer { for copy in copies { close(copy) } }
            #expect(copies.count == 1)
            #expect(throws: DownloadError.self) { try DaemonLock.take(path) }
            withExtendedLifetime(lock) {}
            lock = nil
            _ = try DaemonLock.take(path)
        }

        /// `ferry status` named the log of a daemon before it as that of one that `ferry serve` had started.
        @Test("DaemonControl: the log file is only of a daemon without standard error", arguments: [true, false])
        func logFile(isWithout: Bool) throws {
            let state = FileManager.default.temporaryDirectory.path + "/ferry-control-" + UUID().uuidString
            try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: state) }
            let daemon = Process()
            daemon.executableURL = URL(filePath: "/bin/cat")
            let input = Pipe()
            daemon.standardInput = input
            try Data().write(to: URL(filePath: state + "/error"))
            let error = try #require(FileHandle(forWritingAtPath: state + "/error"))
            daemon.standardError = isWithout ? FileHandle.nullDevice : error
            try daemon.run()
            let place = DaemonPaths(state: state, socket: "/s", settings: "/c", downloads: "/d")
            let process = Int(daemon.processIdentifier)
            try PrivateFile(place.lock, most: 1 << 20).write("\(process)\n")
            let holder = open(place.lock, O_RDWR)
            #expect(flock(holder, LOCK_EX) == 0)
            let control = DaemonControl(place, environment: [:])
            #expect(control.logsToFile(process) == isWithout)
            #expect(!control.logsToFile(process + 1))
            close(holder)
            #expect(!control.logsToFile(process))
            try input.fileHandleForWriting.close()
            daemon.waitUntilExit()
        }
    #endif

    @Test(
        "DaemonLock: the owner is read from the first line and named in the refusal of a second lock",
        arguments: [("77\n", 77), ("77", 77), ("77\n78\n", 77), ("", nil), ("x\n", nil)] as [(String, Int?)])
    func lockOwner(text: String, process: Int?) throws {
        let path = FileManager.default.temporaryDirectory.path + "/ferry-lock-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        try PrivateFile(path, most: 1 << 20).write(text)
        #expect(DaemonLock.owner(of: path) == process)
        let holder = open(path, O_RDWR)
        defer { close(holder) }
        #expect(flock(holder, LOCK_EX) == 0)
        let error = try #require(throws: DownloadError.self) { try DaemonLock.take(path) }
        #expect(error.code == .conflict)
        let named = process.map { "another daemon is running (process \($0)) with \(path)" }
        #expect(error.message == named ?? "another daemon is running with \(path)")
        #expect(DaemonLock.owner(of: path) == process)
    }

    @Test("Daemon: the greeting has its versions, and its socket and files are for its user alone")
    func greeting() async throws {
        try await DaemonRig.run { rig in
            let reply = try await rig.ask(.greeting)
            #expect(reply.status == 200)
            #expect(reply.headers["ferry-version"] == "2")
            let greeting = try reply.shape(Greeting.self)
            #expect(greeting.api == 2)
            #expect(greeting.session == "default")
            #expect(greeting.pid == Int(ProcessInfo.processInfo.processIdentifier))
            let place = rig.place
            #expect(try mode(place.socket) == 0o600)
            #expect(try mode(place.tokens) == 0o600)
            #expect(try mode(place.lock) == 0o600)
            #expect(try mode(place.state) == 0o700)
            #expect(try mode(String(place.socket.dropLast(2))) == 0o700)
        }
    }

    /// Each kill while the sets were written left a copy of them in the state directory for ever.
    @Test("Daemon: what killed writes of its files have left is removed at the next start, and other files stay")
    func unfinishedWrites() async throws {
        let left = "sets.json.new-cdc158d8bfa859f0"
        let others = ["sets.json.new-cdc158d8bfa859f", "x.new-CDC158D8BFA859F0", ".new", "cdc158d8bfa859f0"]
        try await DaemonRig.run { rig in
            let state = rig.directory + "/again/state"
            try FileManager.default.createDirectory(
                atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            for name in [left] + others { try Data("x".utf8).write(to: URL(filePath: state + "/" + name)) }
            try await DaemonRig.serve(rig.directory + "/again", rig.origin) { _ in
                let exist = ([left] + others).filter { FileManager.default.fileExists(atPath: state + "/" + $0) }
                #expect(exist == others)
            }
        }
    }

    @Test("Daemon: a second daemon on the same state is refused and leaves the first one's socket alone")
    func second() async throws {
        try await DaemonRig.run { rig async throws in
            var other = DaemonRig.place(in: rig.directory)
            other.socket = rig.directory + "/other"
            #expect {
                _ = try Daemon(other, logger: Logger(label: "second"))
            } throws: { error in
                let error = error as? DownloadError
                return error?.code == .conflict
                    && error?.message.contains("\(ProcessInfo.processInfo.processIdentifier)") == true
            }
            #expect(!FileManager.default.fileExists(atPath: other.socket))
            #expect(try await rig.ask(.greeting).status == 200)
        }
    }

    @Test("Daemon: a daemon with another state is refused at the socket of a running one, which stays")
    func servedSocket() async throws {
        try await DaemonRig.run { rig async throws in
            var other = DaemonRig.place(in: rig.directory + "/other")
            other.socket = rig.place.socket
            try FileManager.default.createDirectory(atPath: other.downloads, withIntermediateDirectories: true)
            let second = try Daemon(other, logger: Logger(label: "second"))
            await #expect { try await second.run() } throws: { error in
                (error as? DownloadError)?.code == .conflict
                    && (error as? DownloadError)?.message.contains(other.socket) == true
            }
            #expect(try await rig.ask(.greeting).status == 200)
        }
    }

    @Test("Daemon: a port of the settings that is in use is replaced by one of the next, a port of an option is not")
    func otherPort() async throws {
        let directory = "/tmp/fy-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        try FileManager.default.createDirectory(atPath: directory + "/downloads", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await OriginServer.with { origin in
            let change: @Sendable (inout Daemon.Options) -> Void = {
                $0.flags[.port] = nil
                $0.environment["FERRY_PORT"] = "\(origin.port)"
            }
            try await DaemonRig.serve(directory, origin, change) { rig async throws in
                let port = try #require(rig.addresses.port)
                #expect(port != origin.port)
                #expect(try await rig.ask(.greeting).status == 200)
            }
        }
    }

    @Test("Daemon: a port of an option that is in use fails the start before the list is opened")
    func takenPort() async throws {
        let directory = "/tmp/fy-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        try FileManager.default.createDirectory(atPath: directory + "/downloads", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await OriginServer.with { origin in
            do {
                try await DaemonRig.serve(directory, origin, { $0.flags[.port] = .whole(origin.port) }) { _ in
                    Issue.record("it listens")
                }
            } catch {
                let error = error as? DownloadError
                #expect(error?.code == .conflict)
                #expect(error?.message.contains("\(origin.port)") == true)
            }
            // Without a catalogue no download can have started.
            #expect(!FileManager.default.fileExists(atPath: DaemonRig.place(in: directory).catalogue))
        }
    }

    @Test("Daemon: a stale socket is replaced, and a file under its name that is no socket stays")
    func staleSocket() async throws {
        let directory = "/tmp/fy-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        try FileManager.default.createDirectory(atPath: directory + "/downloads", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await OriginServer.with { origin in
            // The socket is left behind, as after kill -9.
            try await DaemonRig.serve(directory, origin) { rig async throws in
                #expect(try await rig.ask(.greeting).status == 200)
            }
            try await DaemonRig.serve(directory, origin) { rig async throws in
                #expect(try await rig.ask(.greeting).status == 200)
            }
            let socket = DaemonRig.place(in: directory).socket
            try? FileManager.default.removeItem(atPath: socket)
            try "mine".write(toFile: socket, atomically: false, encoding: .utf8)
            await #expect(throws: DownloadError.self) {
                try await DaemonRig.serve(directory, origin) { _ in Issue.record("it listens") }
            }
            #expect(try String(contentsOfFile: socket, encoding: .utf8) == "mine")
        }
    }

    @Test("Daemon: a socket directory that other users can enter is refused and stays as it is")
    func openDirectory() async throws {
        let directory = "/tmp/fy-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        try FileManager.default.createDirectory(atPath: directory + "/run", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory + "/run")
        _ = try await OriginServer.with { origin in
            await #expect(throws: DownloadError.self) {
                try await DaemonRig.serve(directory, origin) { _ in Issue.record("it listens") }
            }
        }
        #expect(try mode(directory + "/run") == 0o755)
    }

    @Test("Daemon: a peer of another user gets no response through the Unix socket")
    func otherUser() async throws {
        // The peer is this process; the daemon is configured to expect another user.
        try await DaemonRig.run {
            $0.user = PeerCheck.ownUser &+ 1
        } _: { rig in
            await #expect(throws: (any Error).self) { try await rig.ask(.greeting) }
        }
    }

    @Test("Daemon: a stop saves the progress and ends the streams, and the next daemon resumes")
    func gracefulStop() async throws {
        let directory = "/tmp/fy-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        try FileManager.default.createDirectory(atPath: directory + "/downloads", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await OriginServer.with { origin in
            let resource = Resource(size: 8 << 20, seed: 5)
            origin.serve("/a.bin", resource)
            origin.script("/a.bin", [.stall(after: 3 << 20)])
            let id = try await runToTheMiddle(directory, origin)
            origin.always("/a.bin", .honest)
            try await DaemonRig.serve(directory, origin) { rig in
                let done = try await rig.reach("completed", id)
                #expect(done.status.state.kind == .completed)
                let history = try await rig.ask(.history, id: id.rawValue).shape(EventItems.self).items
                let resumed = history.contains { if case .resumed = $0.event.kind { true } else { false } }
                #expect(resumed)
                #expect(resource.source.compare(file: rig.downloads + "/a.bin", size: resource.size) == .equal)
            }
        }
    }

    private func runToTheMiddle(_ directory: String, _ origin: OriginServer) async throws -> DownloadID {
        let found = Guarded<DownloadID?>(nil)
        try await DaemonRig.serve(directory, origin) { rig in
            try await rig.follow { events in
                _ = try await events.catchUp()
                var new = RawRequest(urls: [rig.url("/a.bin")])
                new.maxConnections = 1
                let listed = try await rig.add(new)
                found.value = listed.id
                _ = try await events.next { event in
                    if case .progress(let batch, _) = event,
                        batch.contains(where: { $0.progress.completedBytes >= 2 << 20 })
                    {
                        return true
                    }
                    return nil
                }
                // The stream is open while the daemon stops.
                await rig.daemon.stop()
                while try await events.next() != nil {}
            }
        }
        return try #require(found.value)
    }

    @Test("Settings: flags override environment variables, and these the file")
    func settingsOrder() async throws {
        let file = #"{"maxConcurrentDownloads": 5, "rateLimit": 1000, "connectionsPerHost": 4}"#
        try await DaemonRig.run(settings: file) {
            $0.environment = ["FERRY_RATE_LIMIT": "2000", "FERRY_CONNECTIONS_PER_HOST": "6"]
            $0.flags[.connectionsPerHost] = .whole(8)
        } _: { rig in
            let settings = try await rig.ask(.settings).shape(SettingsBody.self)
            #expect(settings.maxConcurrentDownloads == 5)
            #expect(settings.rateLimit == 2000)
            #expect(settings.connectionsPerHost == 8)
            #expect(rig.daemon.manager.configuration.maxConcurrentDownloads == 5)
            #expect(rig.daemon.manager.configuration.rateLimit == 2000)
        }
    }

    @Test("Settings: a changed file applies at once, and an invalid one changes nothing")
    func reload() async throws {
        try await DaemonRig.run(settings: #"{"maxConcurrentDownloads": 2}"#) { rig in
            try await rig.follow { events in
                _ = try await events.catchUp()
                try #"{"maxConcurrentDownloads": true, "rateLimit": 9}"#.write(
                    toFile: rig.place.settings, atomically: true, encoding: .utf8)
                await rig.log.wait(for: "the settings were left as they are")
                #expect(rig.daemon.settings.current.rateLimit == nil)
                try #"{"maxConcurrentDownloads": 7}"#.write(
                    toFile: rig.place.settings, atomically: true, encoding: .utf8)
                let new: SettingsBody = try await events.next { if case .settings(let new) = $0 { new } else { nil } }
                #expect(new.maxConcurrentDownloads == 7)
            }
            #expect(rig.daemon.manager.configuration.maxConcurrentDownloads == 7)
        }
    }

    @Test("Settings: a change through the API is written to the file beside its other members")
    func changedSettings() async throws {
        try await DaemonRig.run(settings: #"{"port": 0, "mine": [1], "rateLimit": 9}"#) { rig in
            var change = SettingsChange()
            change.maxConcurrentDownloads = .set(9)
            change.rateLimit = .set(nil)
            let reply = try await rig.ask(.changeSettings, body: change)
            #expect(reply.status == 200, "\(reply.text)")
            let settings = try reply.shape(SettingsBody.self)
            #expect(settings.maxConcurrentDownloads == 9)
            #expect(settings.rateLimit == nil)
            let data = try Data(contentsOf: URL(fileURLWithPath: rig.place.settings))
            let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            #expect(object["maxConcurrentDownloads"] as? Int == 9)
            #expect(object["mine"] as? [Int] == [1])
            #expect(object["rateLimit"] == nil)
            var bad = SettingsChange()
            bad.maxConcurrentDownloads = .set(0)
            #expect(try await rig.ask(.changeSettings, body: bad).status == 400)
        }
    }

    @Test("Settings: a change through the API outlasts a reload of the file, over flags and environment")
    func changedOverFlags() async throws {
        try await DaemonRig.run {
            $0.flags[.maxConcurrentDownloads] = .whole(5)
            $0.environment = ["FERRY_CONNECTIONS_PER_HOST": "6"]
        } _: { rig in
            try await rig.follow { events in
                _ = try await events.catchUp()
                var change = SettingsChange()
                change.maxConcurrentDownloads = .set(2)
                change.connectionsPerHost = .set(nil)
                change.rateLimit = .set(1_000_000)
                #expect(try await rig.ask(.changeSettings, body: change).status == 200)
                // Edited by hand: a new value in the file counts, also where the API changed it before.
                try #"{"maxConcurrentDownloads": 2, "rateLimit": 2000000, "retriesFailedAfter": 30}"#.write(
                    toFile: rig.place.settings, atomically: true, encoding: .utf8)
                let told: SettingsBody = try await events.next { event in
                    if case .settings(let new) = event, new.retriesFailedAfter == 30 { new } else { nil }
                }
                #expect(told.maxConcurrentDownloads == 2)
                #expect(told.connectionsPerHost == 16)
                #expect(told.rateLimit == 2_000_000)
            }
            #expect(rig.daemon.manager.configuration.maxConcurrentDownloads == 2)
        }
    }

    @Test(
        "Settings: an invalid file or variable fails the start of the daemon",
        arguments: [
            (#"{"maxConcurrentDownloads": -1}"#, [:]), (#"{"networkAssumption": "dear"}"#, [:]),
            (#"{"directory": "relative"}"#, [:]), (#"{"retriesFailedAfter": "soon"}"#, [:]),
            (#"{"onComplete": 5}"#, [:]), ("{}", ["FERRY_RATE_LIMIT": "much"]),
        ] as [(String, [String: String])])
    func badSettings(settings: String, environment: [String: String]) async {
        await #expect(throws: DownloadError.self) {
            try await DaemonRig.run(settings: settings) {
                $0.environment.merge(environment) { $1 }
            } _: { _ in
                Issue.record("it listens")
            }
        }
    }

    @Test(
        "Settings: a file that is not a JSON object is reported at the start and to an API change",
        arguments: ["[]", "{", ""])
    func noObject(text: String) async throws {
        await #expect {
            try await DaemonRig.run(settings: text) { _ in Issue.record("it listens") }
        } throws: { error in
            let error = error as? DownloadError
            return error?.code == .invalidRequest
                && error?.description.hasSuffix("ferry.json is not a JSON object") == true
        }
        try await DaemonRig.run(settings: #"{"maxConcurrentDownloads": 2}"#) { rig in
            try text.write(toFile: rig.place.settings, atomically: true, encoding: .utf8)
            var change = SettingsChange()
            change.rateLimit = .set(9)
            let reply = try await rig.ask(.changeSettings, body: change)
            #expect(reply.status >= 400)
            #expect(reply.text.contains("is not a JSON object"), "\(reply.text)")
            #expect(!reply.text.contains("NSCocoaErrorDomain"))
            #expect(try String(contentsOfFile: rig.place.settings, encoding: .utf8) == text)
        }
    }

    @Test("Settings: the log reports a changed file that is not a JSON object, and unknown members")
    func saidInLog() async throws {
        try await DaemonRig.run(settings: #"{"maxConcurrentDownloads": 2}"#) { rig in
            try #"{"maxConcurrentDownloads": 7"#.write(toFile: rig.place.settings, atomically: true, encoding: .utf8)
            await rig.log.wait(for: "ferry.json is not a JSON object")
            #expect(try await rig.ask(.settings).shape(SettingsBody.self).maxConcurrentDownloads == 2)
            try #"{"nonsense": 3, "rateLimit": 9, "more": {}}"#.write(
                toFile: rig.place.settings, atomically: true, encoding: .utf8)
            await rig.log.wait(for: "members that are not known")
            #expect(rig.log.text.contains("more, nonsense"))
        }
        try await DaemonRig.run(settings: #"{"nonsense": 3}"#) { rig in
            #expect(rig.log.text.contains("members that are not known"))
        }
        let ofDoors = Daemon.Options().kinds.flatMap(\.settings).map(\.name)
        let all = (Setting.allCases.map(\.rawValue) + ofDoors).map { "\"\($0)\": null" }.joined(separator: ", ")
        try await DaemonRig.run(settings: "{\(all)}") { rig in
            #expect(!rig.log.text.contains("members that are not known"))
        }
    }

    @Test("Settings: a whole number of seconds, a lone program and an empty variable are accepted")
    func plainSettings() async throws {
        let file = #"{"retriesFailedAfter": 30, "onComplete": "/bin/true", "rateLimit": 9}"#
        try await DaemonRig.run(settings: file) {
            $0.environment = ["FERRY_MAX_CONCURRENT_DOWNLOADS": ""]
        } _: { rig in
            let settings = try await rig.ask(.settings).shape(SettingsBody.self)
            #expect(settings.retriesFailedAfter == 30)
            #expect(settings.rateLimit == 9)
            #expect(settings.maxConcurrentDownloads == 3)
            #expect(rig.daemon.settings.current.onComplete == ["/bin/true"])
        }
    }
}
