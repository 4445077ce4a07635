import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import Logging
import Testing

@testable import FerryServer

@Suite("Confinement", .timeLimit(.minutes(30)))
struct ConfinementTests {
    private static var silent: Logger { Logger(label: "ferry") { _ in SwiftLogNoOpLogHandler() } }

    private static func directory() throws -> String {
        let path = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    @Test(
        "LandlockRights: each version handles what it supports and reports its gaps",
        arguments: [
            (0, nil, 0, []), (1, 0x1FF2, 0, [.truncation, .devices, .signals]),
            (2, 0x3FF2, 0, [.truncation, .devices, .signals]), (3, 0x7FF2, 0, [.devices, .signals]),
            (4, 0x7FF2, 0, [.devices, .signals]), (5, 0xFFF2, 0, [.signals]), (6, 0xFFF2, 3, []), (7, 0xFFF2, 3, []),
            (99, 0xFFF2, 3, []),
        ] as [(Int, UInt64?, UInt64, [ConfinementBody.Gap])])
    func rights(version: Int, handled: UInt64?, scopes: UInt64, gaps: [ConfinementBody.Gap]) throws {
        let rights = LandlockRights(version: version)
        #expect(rights?.handled.rawValue == handled)
        guard let rights else { return }
        #expect(rights.scopes.rawValue == scopes)
        #expect(rights.gaps == gaps)
        // A rule may not allow unhandled rights: the kernel would refuse it.
        #expect(rights.handled.isSuperset(of: rights.belowDirectory))
        #expect(rights.handled.isSuperset(of: rights.onNull))
        let never: LandlockRights.Access = [.makeCharacterDevice, .makeBlockDevice, .controlDevice, .makeLink]
        #expect(rights.belowDirectory.isDisjoint(with: never))
    }

    @Test("ConfinementPlan: it has the daemon's paths, and the directories of settings, sessions and downloads")
    func plan() {
        let place = DaemonPaths(state: "/s", socket: "/run/f/sock", settings: "/c/ferry.json", downloads: "/d")
        var settings = DaemonSettings(directory: "/d")
        settings.allowedDirectories = ["/a"]
        let plan = ConfinementPlan(place, settings, doors: ["/g"], sessions: ["/x"], unfinished: ["/u"])
        #expect(plan.required == ["/s", "/run/f"])
        #expect(plan.others == ["/c", "/d", "/g", "/a", "/x", "/u"])
        #expect(ConfinementPlan.roots(of: ["/b", "/a/b", "/a", "/ab", "/a", "/b/c/d"]) == ["/a", "/ab", "/b"])
        #expect(ConfinementPlan.roots(of: ["/", "/a"]) == ["/"])
    }

    @Test("SessionStore: directories of old downloads are used only when the list is lost")
    func sessions() async throws {
        let root = try Self.directory()
        defer { try? FileManager.default.removeItem(atPath: root) }
        let book = SessionStore(root + "/sessions.json")
        try await book.register(SessionRegistration(identifier: "app", directory: "/app"))
        try await book.note(["/once"], of: "app")
        #expect(book.directories(everUsed: false) == ["/app"])
        #expect(book.directories(everUsed: true) == ["/app", "/once"])
    }

    @Test("Confinement: paths below an allowed directory pass, and siblings, parents and links that lead out do not")
    func places() throws {
        let root = try Self.directory()
        defer { try? FileManager.default.removeItem(atPath: root) }
        for name in ["in/sub", "inside", "out"] {
            try FileManager.default.createDirectory(atPath: root + "/" + name, withIntermediateDirectories: true)
        }
        try FileManager.default.createSymbolicLink(atPath: root + "/in/link", withDestinationPath: root + "/out")
        try FileManager.default.createSymbolicLink(atPath: root + "/door", withDestinationPath: root + "/in")
        let confinement = Confinement(directories: [root + "/in"])
        for path in ["in", "in/", "in/sub", "in/new/deeper", "in/../in/sub", "out/../in/x", "door", "door/new"] {
            #expect(confinement.refusal(of: root + "/" + path) == nil, "\(path)")
        }
        for path in [
            "", "inside", "out", "in/..", "in/../out", "in/new/../../out", "in/link", "in/link/new", "i", "door/link",
        ] {
            #expect(confinement.refusal(of: root + "/" + path) != nil, "\(path)")
        }
        #expect(confinement.refusal(of: "/") != nil)
        #expect(Confinement(directories: ["/"]).refusal(of: root + "/out") == nil)
    }

    @Test("Confinement: a refusal names the allowed directories in both languages, and the setting to change")
    func words() throws {
        let error = try #require(Confinement(directories: ["/a", "/b", "/c", "/d", "/e"]).refusal(of: "/x"))
        #expect(error.code == .invalidRequest)
        #expect(error.recovery == .needsUser)
        #expect(error.message == "this daemon is confined to /a, /b, /c, /d, …: it may not write to “/x”")
        #expect(error.phrase?.text(in: .simplifiedChinese).contains("/a, /b, /c, /d, …") == true)
        #expect(error.suggestion?.contains("allowedDirectories") == true)
        #expect(error.suggestionPhrase?.text(in: .simplifiedChinese).contains("allowedDirectories") == true)
    }

    @Test("API: requests for places outside the confinement are refused with the allowed directories")
    func requests() async throws {
        try await DaemonRig.run {
            $0.confinement = Confinement(directories: [])
        } _: { rig in
            // Every path is outside the confinement.
            let outside = rig.directory + "/elsewhere"
            var new = RawRequest(urls: [rig.url("/file/1k")])
            new.directory = outside
            var file = new
            (file.directory, file.path) = (nil, outside + "/f.bin")
            var change = SettingsChange()
            change.directory = outside
            let registration = SessionRegistration(identifier: "app", directory: outside)
            let resume = try ResumeData(
                id: DownloadID(rawValue: "r"), sources: [DownloadURL(rig.url("/file/1k"))],
                partPath: outside + "/f.part", totalBytes: nil,
                completedBytes: 0, etag: nil, lastModified: nil, checksum: nil, created: Date())
            let replies = [
                try await rig.ask(.add, body: new), try await rig.ask(.add, body: file),
                try await rig.ask(.add, body: RawRequest(urls: [rig.url("/file/1k")])),
                try await rig.ask(.plan, body: new), try await rig.ask(.changeSettings, body: change),
                try await rig.ask(.changeSettings, session: "app", query: "scope=session", body: change),
                try await rig.ask(.attach, body: registration),
                try await rig.ask(.adopt, body: AdoptBody(path: outside + "/f.part")),
                try await rig.ask(.addResumeData, body: ResumeDataBody(resume.data)),
                try await rig.ask(.relocate, id: "x", body: RelocateBody(directory: outside)),
            ]
            for (number, reply) in replies.enumerated() {
                #expect(reply.status == 400, "\(number): \(reply.text)")
                let error = try #require(reply.problem?.error, "\(number): \(reply.text)")
                #expect(error.message.hasPrefix("this daemon is confined to"), "\(number): \(reply.text)")
            }
            #expect(!FileManager.default.fileExists(atPath: outside))
            #expect(try await rig.ask(.list).shape(DownloadPage.self).total == 0)
            let greeting = try await rig.ask(.greeting).shape(Greeting.self)
            #expect(greeting.confinement == ConfinementBody(directories: [], gaps: []))
        }
    }

    @Test("Settings: a file with a directory outside the confinement changes nothing, and the log says why")
    func settingsFile() async throws {
        try await DaemonRig.run {
            $0.confinement = Confinement(directories: ["/nowhere"])
        } _: { rig in
            let before = rig.daemon.settings.current
            try #"{"directory": "/elsewhere", "rateLimit": 9}"#.write(
                toFile: rig.place.settings, atomically: true, encoding: .utf8)
            await rig.log.wait(for: "this daemon is confined to /nowhere")
            #expect(rig.daemon.settings.current == before)
        }
    }

    @Test("ConfinementHandover: what it wrote is read back, and other descriptors give nil")
    func handover() throws {
        let handover = ConfinementHandover(
            confinement: Confinement(directories: ["/a", "/b \n\u{1F600}"], gaps: [.truncation]), leftOut: ["/c"],
            starter: 9, starterProcess: 10)
        let descriptor = try handover.write()
        #expect(ConfinementHandover.read(descriptor) == handover)
        #expect(ConfinementHandover.read(0) == nil)
        #expect(ConfinementHandover.read(.max) == nil)
        let null = open("/dev/null", O_RDONLY)
        #expect(ConfinementHandover.read(null) == nil)
    }

    @Test("ConfinedStart: a process that the kernel does not confine is refused")
    func notHeld() throws {
        var options = Daemon.Options()
        let handover = ConfinementHandover(
            confinement: Confinement(directories: ["/"]), leftOut: [], starter: -1, starterProcess: -1)
        let descriptor = try handover.write()
        #expect(throws: DownloadError.self) {
            try ConfinedStart.takeOver(from: descriptor, into: &options, logger: Self.silent)
        }
        #expect(options.confinement == nil)
    }
}
