import Foundation
import Testing

@testable import Ferry
@testable import FerryClient

@Suite("The daemon's program")
struct DaemonFinderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var given: String?
        var environment: [String: String] = [:]
        var executable: String? = "/opt/app/bin/app"
        var places: [String]
    }

    @Test(
        "DaemonFinder: it looks in the named place, else beside the app, else in PATH",
        arguments: [
            Case(
                testDescription: "named by the app", given: "/opt/ferry",
                environment: ["FERRY_BINARY": "/other", "PATH": "/usr/bin"], places: ["/opt/ferry"]),
            Case(
                testDescription: "named by a relative path", given: "tools/ferry", environment: ["PATH": "/usr/bin"],
                places: ["/home/tools/ferry"]),
            Case(
                testDescription: "named by the environment",
                environment: ["FERRY_BINARY": "/other", "PATH": "/usr/bin"],
                places: ["/other"]),
            Case(
                testDescription: "not named", environment: ["FERRY_BINARY": "", "PATH": "/usr/bin:/bin"],
                places: ["/opt/app/bin/ferry", "/usr/bin/ferry", "/bin/ferry"]),
            Case(
                testDescription: "relative and empty parts of PATH, and one twice",
                environment: ["PATH": ":.:bin:/usr/bin:/opt/app/bin:/usr/bin"],
                places: ["/opt/app/bin/ferry", "/usr/bin/ferry"]),
            Case(testDescription: "nothing is known", executable: nil, places: []),
        ])
    func places(_ example: Case) {
        let finder = DaemonFinder(
            given: example.given, environment: example.environment, executable: example.executable,
            workingDirectory: "/home")
        #expect(finder.places == example.places)
    }

    @Test("DaemonFinder: the first existing program is used, and an error names all places in both languages")
    func found() throws {
        let finder = DaemonFinder(
            given: nil, environment: ["PATH": "/usr/bin:/bin"], executable: "/opt/app", workingDirectory: "/")
        #expect(try finder.find { $0.hasPrefix("/usr") || $0.hasPrefix("/bin") } == "/usr/bin/ferry")
        do throws(DownloadError) {
            _ = try finder.find { _ in false }
            Issue.record("nothing was there")
        } catch {
            #expect(error.code == .daemonUnavailable)
            for language in Language.allCases {
                #expect(error.message(in: language).contains("/opt/ferry, /usr/bin/ferry, /bin/ferry"))
                #expect(error.suggestion(in: language)?.contains("FERRY_BINARY") == true)
            }
            #expect(error.message(in: .english) != error.message(in: .simplifiedChinese))
        }
    }

    @Test("DaemonSocket: its path comes from FERRY_SOCKET, else from XDG_RUNTIME_DIR, else from /tmp")
    func socket() {
        #expect(DaemonSocket.path(environment: [:], user: 1000) == "/tmp/ferry-1000/ferry.sock")
        #expect(
            DaemonSocket.path(environment: ["XDG_RUNTIME_DIR": "/run/user/7"], user: 7)
                == "/run/user/7/ferry/ferry.sock")
        #expect(DaemonSocket.path(environment: ["XDG_RUNTIME_DIR": "relative"], user: 7) == "/tmp/ferry-7/ferry.sock")
        let both = ["XDG_RUNTIME_DIR": "/run/user/7", "FERRY_SOCKET": "/x/y.sock"]
        #expect(DaemonSocket.path(environment: both, user: 7) == "/x/y.sock")
        // A relative path must not lead to the user's own daemon.
        let relative = both.merging(["FERRY_SOCKET": "y.sock"]) { $1 }
        #expect(DaemonSocket.path(environment: relative, user: 7, workingDirectory: "/here") == "/here/y.sock")
        #expect(
            DaemonSocket.path(environment: ["FERRY_STATE_DIR": "test"], user: 7, workingDirectory: "/here")
                == "/here/test/run/ferry.sock")
    }

    @Test("DaemonSocket: a directory taken by another user is skipped, by the daemon and by its clients")
    func taken() throws {
        let root = FileManager.default.temporaryDirectory.path + "/ferry-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: root + "/run", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        let environment = ["XDG_RUNTIME_DIR": root + "/run", "XDG_STATE_HOME": root + "/state"]
        // No user has this number, and no file in /tmp its name.
        let (own, other) = (geteuid(), UInt32(3_999_999_999))
        func path(of user: UInt32) -> String { DaemonSocket.path(environment: environment, home: root, user: user) }
        #expect(path(of: own) == root + "/run/ferry/ferry.sock")
        // Another user's runtime directory, as sudo may leave it: its owner could remove the socket.
        #expect(path(of: other) == "/tmp/ferry-\(other)/ferry.sock")
        let squatted = "/tmp/ferry-\(other)"
        try FileManager.default.createDirectory(atPath: squatted, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: squatted) }
        #expect(path(of: other) == root + "/state/ferry/run/ferry.sock")
        // An own directory that is open to others, a link, and a file.
        for kind in [FileAttributeType.typeDirectory, .typeSymbolicLink, .typeRegular] {
            let place = root + "/run/ferry"
            try? FileManager.default.removeItem(atPath: place)
            switch kind {
            case .typeDirectory:
                try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
                try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: place)
            case .typeSymbolicLink:
                try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: root)
            default: try Data().write(to: URL(filePath: place))
            }
            #expect(path(of: own) != place + "/ferry.sock", "\(kind)")
        }
    }

    @Test("DaemonSocket: an existing socket takes precedence over a directory that has become free")
    func running() throws {
        let root = FileManager.default.temporaryDirectory.path + "/ferry-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(atPath: root + "/state/ferry/run", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: root + "/runtime", withIntermediateDirectories: true)
        let environment = ["XDG_RUNTIME_DIR": root + "/runtime", "XDG_STATE_HOME": root + "/state"]
        func path() -> String { DaemonSocket.path(environment: environment, home: root) }
        #expect(path() == root + "/runtime/ferry/ferry.sock")
        try Data().write(to: URL(filePath: root + "/state/ferry/run/ferry.sock"))
        #expect(path() == root + "/state/ferry/run/ferry.sock")
    }

    @Test("DaemonSocket: a state directory that was given has a socket of its own, whatever else runs")
    func ownState() throws {
        let root = FileManager.default.temporaryDirectory.path + "/ferry-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(
            atPath: root + "/runtime/ferry", withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try Data().write(to: URL(filePath: root + "/runtime/ferry/ferry.sock"))
        var environment = ["XDG_RUNTIME_DIR": root + "/runtime"]
        #expect(DaemonSocket.path(environment: environment, home: root) == root + "/runtime/ferry/ferry.sock")
        let own = root + "/b/run/ferry.sock"
        #expect(DaemonSocket.path(environment: environment, home: root, state: root + "/b") == own)
        environment["FERRY_STATE_DIR"] = root + "/b"
        #expect(DaemonSocket.path(environment: environment, home: root) == own)
    }

    @Test("DaemonSocket: the socket in the state's lock is found without the variables of its daemon, while it exists")
    func locked() throws {
        let root = FileManager.default.temporaryDirectory.path + "/ferry-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: root) }
        let socket = root + "/runtime/ferry/ferry.sock"
        try FileManager.default.createDirectory(
            atPath: root + "/runtime/ferry", withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try FileManager.default.createDirectory(atPath: root + "/state", withIntermediateDirectories: true)
        func path() -> String { DaemonSocket.path(environment: ["FERRY_STATE_DIR": root + "/state"], home: root) }
        let plain = path()
        try Data("7\n\(socket)\n".utf8).write(to: URL(filePath: root + "/state/daemon.lock"))
        #expect(path() == plain)
        try Data().write(to: URL(filePath: socket))
        #expect(path() == socket)
        chmod(root + "/runtime/ferry", 0o777)
        #expect(path() == plain)
        chmod(root + "/runtime/ferry", 0o700)
        #expect(path() == socket)
        // A FIFO or a link in the lock's place is not read.
        let lock = root + "/state/daemon.lock"
        try FileManager.default.moveItem(atPath: lock, toPath: root + "/state/other")
        #expect(mkfifo(lock, 0o600) == 0)
        #expect(path() == plain)
        try FileManager.default.removeItem(atPath: lock)
        try FileManager.default.createSymbolicLink(atPath: lock, withDestinationPath: root + "/state/other")
        #expect(path() == plain)
    }

    @Test("DaemonSocket: a directory that others can write to is refused")
    func trusted() throws {
        let root = FileManager.default.temporaryDirectory.path + "/ferry-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: root) }
        func directory(_ name: String, mode: Int) throws -> String {
            let path = root + "/" + name
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            return path
        }
        try DaemonSocket.check(try directory("own", mode: 0o700) + "/ferry.sock")
        try DaemonSocket.check(root + "/not-there/ferry.sock")
        let open = try directory("open", mode: 0o777)
        let group = try directory("group", mode: 0o770)
        let link = root + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: root + "/own")
        for path in [open, group, link] {
            do throws(DownloadError) {
                try DaemonSocket.check(path + "/ferry.sock")
                Issue.record("\(path) was trusted")
            } catch { #expect(error.code == .daemonUnavailable) }
        }
    }
}
