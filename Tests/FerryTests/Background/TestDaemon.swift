import FerryAPI
import FerryServer
import Foundation
import Logging
import Synchronization

@testable import Ferry

/// A daemon in this process with a directory of its own, which can be stopped and started again.
final class TestDaemon: Sendable {
    private struct Life {
        var daemon: Daemon
        var task: Task<Void, any Error>
    }
    private let life = Mutex<Life?>(nil)
    private let place: DaemonPaths

    /// `directory` is short: the path of a socket has room for a hundred bytes.
    init(directory: String, downloads: String) throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        place = DaemonPaths(
            state: directory + "/state", socket: directory + "/run/s", settings: directory + "/ferry.json",
            downloads: downloads)
    }

    var socket: String { place.socket }

    /// The daemon's manager while it runs.
    var manager: DownloadManager? { life.withLock { $0?.daemon.manager } }

    /// Returns once it listens.
    func start() async throws {
        var options = Daemon.Options()
        options.flags[.loopback] = .flag(false)
        options.configure = {
            $0.minFreeBytes = 0
            $0.waitForBusyMachine()
            $0.watchesNetwork = false
        }
        let daemon = try Daemon(place, options, logger: Logger(label: "ferry") { _ in SwiftLogNoOpLogHandler() })
        let task = Task { try await daemon.run() }
        life.withLock { $0 = Life(daemon: daemon, task: task) }
        if await daemon.listening() == nil { try await task.value }
    }

    /// Returns once the daemon has ended; does nothing when it does not run.
    func stop() async throws {
        let last = life.withLock { life in
            defer { life = nil }
            return life
        }
        await last?.daemon.stop()
        try await last?.task.value
    }
}
