import ArgumentParser
import CBacktrace
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

/// `ferry serve`: the daemon.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract:
            "Run the downloads of all programs of this user: a Unix socket for commands and apps, a page on loopback.",
        discussion: """
            It runs until SIGINT or SIGTERM, then syncs what was received and exits; the next start resumes the downloads. \
            ferry service install lets systemd run it.

            Settings are read from FILE, from the environment (FERRY_PORT, FERRY_RATE_LIMIT, …) and from these \
            options; later ones win. A changed file takes effect at once.
            """)

    @Option(
        help: ArgumentHelp(
            "The port on 127.0.0.1 and ::1; 0 is any free port (default: \(FerryAPI.defaultPort)).", valueName: "n"))
    var port: Int?

    @Flag(inversion: .prefixedNo, help: "Serve the page on loopback.")
    var loopback = true

    @Flag(inversion: .prefixedNo, help: "Connect to addresses outside the public internet.")
    var `private` = true

    @OptionGroup var doors: Doors.Options

    @Option(
        help: ArgumentHelp(
            """
            Serve Prometheus' metrics on this port of 127.0.0.1 and ::1 too, to every user of the machine who has the token in \
            metrics-token beside the state; 0 is any free port.
            """, valueName: "n"))
    var metricsPort: Int?

    @Option(
        help: ArgumentHelp("Where state is kept (default: $XDG_STATE_HOME/ferry).", valueName: "dir"),
        completion: .directory)
    var stateDir: String?

    @Option(help: ArgumentHelp("The Unix socket (default: $XDG_RUNTIME_DIR/ferry/ferry.sock).", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp("The settings file (default: $XDG_CONFIG_HOME/ferry/ferry.json).", valueName: "file"),
        completion: .file())
    var config: String?

    @Option(
        name: [.customShort("d"), .customLong("dir")],
        help: ArgumentHelp("Where downloads go (default: the user's Downloads).", valueName: "dir"),
        completion: .directory)
    var directory: String?

    @Option(
        name: [.customShort("j"), .customLong("max-concurrent")],
        help: ArgumentHelp("Downloads that run at once (default: 3).", valueName: "n"))
    var maxConcurrent: Int?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            A program to run after each completed download, and if given again, its arguments; FERRY_PATH, FERRY_ID, \
            FERRY_SESSION are set.
            """, valueName: "program"))
    var onComplete: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            A program to run when a download needs you (a login, a new link, space, a failure), and if given again, its \
            arguments; FERRY_ID, FERRY_NAME, FERRY_REASON, FERRY_MESSAGE, FERRY_SESSION are set.
            """, valueName: "program"))
    var onNeedsUser: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Write one line of JSON to descriptor N when it listens (pid, socket, port, addresses) or cannot (error), and \
            close it.
            """, valueName: "n"))
    var readyFd: Int32?

    @Flag(
        help: """
            Let the kernel (Landlock) refuse writes except below the state directory and the directories that \
            settings, sessions and unfinished downloads name at the start; without Landlock nothing is served.
            """)
    var confine = false

    /// The descriptor through which the confined part of a start receives the results of the unconfined part.
    @Option(help: .hidden)
    var confinementFd: Int32?

    @Flag(name: [.customShort("v"), .customLong("verbose")], help: "Log more.")
    var verbose = false

    /// Runs the daemon; returns the exit code.
    func serve() async -> FerryTerminal.ExitCode {
        var options = Daemon.Options()
        options.doors = Doors.ofDaemon
        options.environment = ProcessInfo.processInfo.environment
        options.flags[.port] = port.map(JSONValue.whole)
        if !loopback { options.flags[.loopback] = .flag(false) }
        if !`private` { options.flags[.allowsPrivate] = .flag(false) }
        doors.set(&options.flags)
        options.flags[.metricsPort] = metricsPort.map(JSONValue.whole)
        options.flags[.directory] = directory.map { .text(OwnProgram.absolute($0)) }
        options.flags[.maxConcurrentDownloads] = maxConcurrent.map(JSONValue.whole)
        // A name without a directory is searched for in PATH.
        for (setting, words) in [(Setting.onComplete, onComplete), (.onNeedsUser, onNeedsUser)] where !words.isEmpty {
            let program = words[0].utf8.contains("/") ? OwnProgram.absolute(words[0]) : words[0]
            options.flags[setting] = .list(([program] + words.dropFirst()).map(JSONValue.text))
        }
        let place = DaemonPaths.current(
            state: stateDir.map(OwnProgram.absolute), socket: socket.map(OwnProgram.absolute),
            settings: config.map(OwnProgram.absolute))
        let file = LogFile.isNeeded ? LogFile(place.log) : nil
        var logger = Logger(label: "ferry") { label in
            if let file { LogFile.Handler(file, label: label) } else { StreamLogHandler.standardError(label: label) }
        }
        logger.logLevel = verbose ? .debug : .info
        ferry_backtrace_on_traps(file == nil ? nil : place.log)
        do throws(DownloadError) {
            let ready = try readyFd.map { number throws(DownloadError) in try ReadyDescriptor(number) }
            try prepare(place, &options, ready, logger)
            // Log rotation sends SIGHUP. So does a terminal that closes, to end the programs that were started in it.
            let hasTerminal = [0, 1, 2].contains { isatty($0) == 1 }
            let watch = SignalWatch(hangupStops: hasTerminal)
            let run = ServeRun(place, options, logger: logger)
            var hangup: (@Sendable () -> Void)?
            if !hasTerminal { hangup = { [file, logger] in Self.reopen(file, logger) } }
            let stops = SignalWatch.stops(watch?.signals, hangup: hangup)
            try await run.run(stops: stops, ready: ready, signsIn: isatty(1) != 0) { lines in
                // If descriptor 1 receives the ready line, it receives no other lines.
                guard readyFd != 1 else { return }
                for line in lines { _ = StandardStreams.write(Array((line + "\n").utf8), to: 1) }
            }
            return .done
        } catch {
            let text = "ferry: " + ErrorText.line(error, name: "") + "\n"
            _ = StandardStreams.write(Array(text.utf8), to: 2)
            return FerryTerminal.ExitCode.of(error)
        }
    }

    /// With `--confine`, runs this program again in confinement, and passes it the results of the unconfined part of the start.
    /// Takes over the sockets and the notifications of the service manager.
    private func prepare(
        _ place: DaemonPaths, _ options: inout Daemon.Options, _ ready: ReadyDescriptor?, _ logger: Logger
    ) throws(DownloadError) {
        do throws(DownloadError) {
            if let confinementFd {
                try ConfinedStart.takeOver(from: confinementFd, into: &options, logger: logger)
            } else if confine {
                try ConfinedStart(place, options).begin(OwnProgram.path, keeping: ready) { descriptor in
                    var words = ProcessArguments.all
                    let command = words.firstIndex(of: Self.configuration.commandName ?? "") ?? 0
                    words.insert("--confinement-fd=\(descriptor)", at: command + 1)
                    return words
                }
            }
            options.sockets = try InheritedSockets.take(options.environment)
            options.notifier = ServiceNotifier(options.environment)
        } catch {
            ready?.tell(.failed(error))
            throw error
        }
    }

    /// Responds to SIGHUP: reopens the log file at its path.
    private static func reopen(_ file: LogFile?, _ logger: Logger) {
        file?.reopen()
        logger.notice("the log was reopened")
    }
}
