import ArgumentParser
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

/// `ferry aria2c`: runs the binary as aria2c. ``FerryCommand`` passes the arguments on without parsing them; this type only
/// describes the command.
struct Aria2Command: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "aria2c",
        abstract: "Download with the arguments, output and exit status of aria2c.",
        discussion: """
            For HTTP and HTTPS. A link to the binary with the name aria2c is the same: programs that start aria2c use \
            Ferry then. ferry aria2c -h lists the options; docs/aria2c.md says what becomes of each.

            EXAMPLES:
              ferry aria2c -x 16 -d downloads -o large.iso https://example.com/large.iso
              ln -s "$(command -v ferry)" ~/bin/aria2c
            """)

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("Arguments of aria2c.", valueName: "argument"))
    var arguments: [String] = []

    /// Runs the daemon of `aria2c --enable-rpc` until a signal stops it. Each port has its own daemon, which serves no web page
    /// and has a state directory inside Ferry's. Returns the error if the daemon could not run.
    static func serve(_ service: Aria2Service, signals: AsyncStream<Int32>) async -> DownloadError? {
        let state = DaemonPaths.current().state + "/aria2c-\(service.port)"
        let place = DaemonPaths.current(
            state: state, socket: state + "/ferry.sock", settings: state + "/ferry.json")
        var options = Daemon.Options()
        options.environment = ProcessInfo.processInfo.environment
        options.flags[.loopback] = .flag(false)
        options.flags[.directory] = .text(service.directory)
        options.flags[.maxConcurrentDownloads] = .whole(service.parallel)
        options.flags[named: "aria2Rpc"] = .whole(service.port)
        options.flags[named: "aria2Secret"] = service.secret.map(JSONValue.text)
        options.flags[.rateLimit] = service.rateLimit.map { .whole(Int($0)) }
        options.doors = Doors.ofDaemon
        options.doorDefaults["aria2"] = service.defaults
        options.downloads = service.requests
        var logger = Logger(label: "aria2c") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        do throws(DownloadError) {
            try await ServeRun(place, options, logger: logger).run(
                stops: ServeCommand.stops(signals), signsIn: true
            ) { lines in
                guard !service.isQuiet else { return }
                for line in lines { _ = StandardStreams.write(Array((line + "\n").utf8), to: 1) }
            }
            return nil
        } catch { return error }
    }
}
