import ArgumentParser
import FerryAPI
import FerryCore
import FerryServer
import FerryTerminal
import Foundation
import Logging

/// `ferry serve`: the daemon.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Hold downloads for everybody: a Unix socket for commands and apps, a page on loopback.",
        discussion: """
            It runs until SIGINT or SIGTERM, then syncs what was received and exits; the next start resumes the downloads. \
            ferry service install lets systemd run it.

            Settings are read from FILE, from the environment (FERRY_PORT, FERRY_RATE_LIMIT, …) and from these options, \
            the later ones first; a changed file counts at once.
            """)

    @Option(help: ArgumentHelp("The port on 127.0.0.1 and ::1; 0 is any that is free (default: 3377).", valueName: "n"))
    var port: Int?

    @Flag(inversion: .prefixedNo, help: "Serve the page on loopback.")
    var loopback = true

    @Flag(inversion: .prefixedNo, help: "Connect to addresses that are not of the public internet.")
    var `private` = true

    @Option(help: ArgumentHelp("Where state is kept (default: $XDG_STATE_HOME/ferry).", valueName: "dir"))
    var stateDir: String?

    @Option(help: ArgumentHelp("The Unix socket (default: $XDG_RUNTIME_DIR/ferry/ferry.sock).", valueName: "path"))
    var socket: String?

    @Option(help: ArgumentHelp("The settings file (default: $XDG_CONFIG_HOME/ferry/ferry.json).", valueName: "file"))
    var config: String?

    @Option(
        name: [.customShort("d"), .customLong("dir")],
        help: ArgumentHelp("Where downloads go (default: the user's Downloads).", valueName: "dir"))
    var directory: String?

    @Option(
        name: [.customShort("j"), .customLong("max-concurrent")],
        help: ArgumentHelp("Downloads that run at a time (default: 3).", valueName: "n"))
    var maxConcurrent: Int?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            A program to run after each completed download, and when given again its arguments; FERRY_PATH, FERRY_ID, \
            FERRY_SESSION are set.
            """, valueName: "program"))
    var onComplete: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Write one line of JSON to descriptor N when it listens (pid, socket, port, addresses) or cannot (error), and \
            close it.
            """, valueName: "n"))
    var readyFd: Int32?

    @Flag(
        help: """
            Let the kernel (Landlock) refuse to write anywhere but below the state directory and the directories that \
            settings, sessions and unfinished downloads name at the start; without Landlock nothing is served.
            """)
    var confine = false

    /// The descriptor with the results of the unconfined part of a start, for the confined one.
    @Option(help: .hidden)
    var confinementFd: Int32?

    @Flag(name: [.customShort("v"), .customLong("verbose")], help: "Log more.")
    var verbose = false

    /// Runs the daemon; returns the exit code.
    func serve() async -> FerryTerminal.ExitCode {
        var options = Daemon.Options()
        options.environment = ProcessInfo.processInfo.environment
        options.flags[.port] = port.map(JSONValue.whole)
        if !loopback { options.flags[.loopback] = .flag(false) }
        if !`private` { options.flags[.allowsPrivate] = .flag(false) }
        options.flags[.directory] = directory.map { .text(OwnProgram.absolute($0)) }
        options.flags[.maxConcurrentDownloads] = maxConcurrent.map(JSONValue.whole)
        // A name without a directory is searched in PATH.
        let program = onComplete.prefix(1).map { $0.utf8.contains("/") ? OwnProgram.absolute($0) : $0 }
        let words = program + onComplete.dropFirst()
        options.flags[.onComplete] = words.isEmpty ? nil : .list(words.map(JSONValue.text))
        let place = DaemonPaths.current(
            state: stateDir.map(OwnProgram.absolute), socket: socket.map(OwnProgram.absolute),
            settings: config.map(OwnProgram.absolute))
        let file = LogFile.isNeeded ? LogFile(place.log) : nil
        var logger = Logger(label: "ferry") { label in
            if let file { LogFile.Handler(file, label: label) } else { StreamLogHandler.standardError(label: label) }
        }
        logger.logLevel = verbose ? .debug : .info
        do throws(DownloadError) {
            let ready = try readyFd.map { number throws(DownloadError) in try ReadyDescriptor(number) }
            try confine(place, &options, ready, logger)
            let watch = SignalWatch()
            let run = ServeRun(place, options, logger: logger)
            try await run.run(stops: Self.stops(watch?.signals), ready: ready, signsIn: isatty(1) != 0) { page in
                // Only this line is written to descriptor 1.
                if let page, readyFd != 1 { _ = StandardStreams.write(Array((page + "\n").utf8), to: 1) }
            }
            return .done
        } catch {
            let text = "ferry: " + ErrorText.line(error, name: "") + "\n"
            _ = StandardStreams.write(Array(text.utf8), to: 2)
            return FerryTerminal.ExitCode.of(error)
        }
    }

    /// With `--confine`, runs this program again, confined, with the results of the unconfined part.
    private func confine(
        _ place: DaemonPaths, _ options: inout Daemon.Options, _ ready: ReadyDescriptor?, _ logger: Logger
    ) throws(DownloadError) {
        do throws(DownloadError) {
            if let confinementFd {
                try ConfinedStart.takeOver(from: confinementFd, into: &options, logger: logger)
            } else if confine {
                try ConfinedStart(place, options).begin(OwnProgram.path, keeping: ready) { descriptor in
                    var words = CommandLine.arguments
                    let command = words.firstIndex(of: Self.configuration.commandName ?? "") ?? 0
                    words.insert("--confinement-fd=\(descriptor)", at: command + 1)
                    return words
                }
            }
        } catch {
            ready?.tell(.failed(error))
            throw error
        }
    }

    /// The signals that request an exit; one that suspends takes effect at once.
    private static func stops(_ signals: AsyncStream<Int32>?) -> AsyncStream<Void> {
        guard let signals else { return AsyncStream { _ in } }
        let iterator = Iterator(signals)
        return AsyncStream { await iterator.next() }
    }

    private actor Iterator {
        private var iterator: AsyncStream<Int32>.Iterator
        init(_ signals: AsyncStream<Int32>) { iterator = signals.makeAsyncIterator() }

        func next() async -> Void? {
            var own = iterator
            defer { iterator = own }
            while let number = await own.next(isolation: #isolation) {
                switch number {
                case SignalWatch.suspending: SignalWatch.suspend()
                case SignalWatch.continuing: break
                default: return ()
                }
            }
            return nil
        }
    }
}
