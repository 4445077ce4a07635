import Ferry
import FerryAPI
import FerryCore
import FerryServer
import FerryTerminal
import Logging

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A daemon for clients of aria2's RPC interface, like `aria2c --enable-rpc`. Its list is kept for the next start with the same
/// port.
struct Aria2Service: Sendable {
    /// The port on loopback.
    var port: Int
    /// The token that calls must present; `nil` for a generated token, which is printed once.
    var secret: String?
    /// The absolute path of the default directory for downloads. Clients may choose directories below it.
    var directory: String
    /// The maximum number of downloads that run at the same time.
    var parallel: Int
    /// The maximum speed of all downloads together, in bytes per second.
    var rateLimit: ByteCount?
    /// Values of aria2's options for downloads that have none of their own.
    var defaults: [String: String]
    /// The downloads of the command line and of its files.
    var requests: [DownloadRequest]
    var life: Aria2Life
    var isQuiet: Bool
    var warnings: [String]

    /// Runs the daemon until a signal stops it. Each port has its own daemon without the page, whose state directory is inside
    /// Ferry's.
    func run(until signals: AsyncStream<Int32>) async throws(DownloadError) {
        let state = DaemonPaths.current().state + "/aria2c-\(port)"
        let place = DaemonPaths.current(
            state: state, socket: state + "/ferry.sock", settings: state + "/ferry.json")
        var options = Daemon.Options()
        options.environment = ProcessInfo.processInfo.environment
        options.flags[.loopback] = .flag(false)
        options.flags[.directory] = .text(directory)
        options.flags[.maxConcurrentDownloads] = .whole(parallel)
        options.flags[.rateLimit] = rateLimit.map { .whole(Int($0)) }
        options.flags.set(.aria2Rpc, to: port)
        options.flags.set(.aria2Secret, to: secret)
        options.doors = [.aria2]
        options.doorDefaults[Aria2Responder.doorName] = defaults
        options.downloads = requests
        var logger = Logger(label: "aria2c") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        try await ServeRun(place, options, logger: logger).run(stops: SignalWatch.stops(signals), signsIn: true) {
            lines in
            guard !isQuiet else { return }
            for line in lines { _ = StandardStreams.write(Array((line + "\n").utf8), to: 1) }
        }
    }
}

/// The conditions under which the command ends by itself.
struct Aria2Life: Sendable {
    /// The ID of the process whose exit ends the command.
    var process: Int32?
    /// The time after which the command ends.
    var limit: Duration?

    /// Passes the signals of this process to `body`, and a SIGTERM when a condition is met.
    func run(_ body: @escaping @Sendable (AsyncStream<Int32>) async -> Void) async {
        let watch = SignalWatch()
        let (signals, continuation) = AsyncStream.makeStream(of: Int32.self)
        await withTaskGroup(of: Void.self) { group in
            if let own = watch?.signals {
                group.addTask { for await signal in own { continuation.yield(signal) } }
            }
            if let process {
                group.addTask {
                    while kill(process, 0) == 0 || errno == EPERM {
                        guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                    }
                    continuation.yield(SIGTERM)
                }
            }
            if let limit {
                group.addTask { if (try? await Task.sleep(for: limit)) != nil { continuation.yield(SIGTERM) } }
            }
            await body(signals)
            group.cancelAll()
        }
    }
}
