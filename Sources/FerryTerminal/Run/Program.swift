import Ferry
import FerryAPI
import FerryClient
import FerryCore

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

/// The entry points of the commands, after argument parsing.
package enum Program {
    /// The version that `--version` prints.
    package static let version = FerryVersion.text

    /// Prepares descriptors, limits and signals of the process. Called once, before any file is opened.
    package static func prepare() {
        StandardStreams.fillGaps()
        StandardStreams.ignoreBrokenPipes()
        StandardStreams.ignoreSizeLimit()
        OpenFileLimit.raise()
    }

    /// Reports that the arguments cannot be read, and returns the exit code. Any action without them might be unwanted.
    package static func withoutArguments() -> ExitCode {
        usage(UsageError("the arguments of the program cannot be read"), command: "", json: false)
    }

    /// Runs `ferry get`.
    ///
    /// - Parameter words: The words after `get` on the command line.
    package static func get(_ options: GetOptions, words: [String] = []) async -> ExitCode {
        let world = PlanningWorld.system
        if let shortage = OpenFileLimit.shortage(world.openFileLimit) {
            return usage(UsageError(shortage), command: "get", json: options.show.json)
        }
        var plan: GetPlan
        do {
            plan = try GetPlanner.plan(options, world: world)
        } catch {
            return usage(error, command: "get", json: options.show.json)
        }
        plan.givenOptions = GivenOptions.text(words, items: options.files.items)
        let console = Console(StandardWriter())
        let reporter = reporter(plan, console, world)
        let results: ResultsLog?
        do throws(UsageError) { results = try ResultsLog.open(plan, console) } catch {
            return usage(error, command: "get", json: options.show.json)
        }
        // Without a pipe for signals (no descriptors left), signals end the process at once, which is safe but less graceful.
        let watch = SignalWatch()
        let run = GetRun(
            plan, manager: DownloadManager(plan.configuration), reporter: reporter, results: results)
        let code = await run.run(signals: watch?.signals ?? AsyncStream { _ in }) { code in
            SignalWatch.leave(code.rawValue, after: 1.8)
        }
        return await console.finished(code, mayBeClosed: true)
    }

    /// Runs `ferry plan`.
    package static func plan(_ options: GetOptions) async -> ExitCode {
        var world = PlanningWorld.system
        // A plan creates nothing, not even a directory.
        world.prepareDirectory = { _ in }
        // Opening a FIFO would wait for its reader. Nothing is written to the descriptor.
        world.openStream = { _ in 1 }
        if let shortage = OpenFileLimit.shortage(world.openFileLimit) {
            return usage(UsageError(shortage), command: "plan", json: options.show.json)
        }
        let plan: GetPlan
        do {
            plan = try GetPlanner.plan(options, world: world)
        } catch {
            return usage(error, command: "plan", json: options.show.json)
        }
        if plan.results != nil {
            return usage(
                UsageError("--results works only with ferry get"), command: "plan", json: options.show.json)
        }
        if plan.items.hasDirectories {
            let error = UsageError("ferry plan takes URLs and part files, not directories")
            return usage(error, command: "plan", json: options.show.json)
        }
        let console = Console(StandardWriter())
        let run = PlanRun(
            plan, manager: DownloadManager(plan.configuration), reporter: reporter(plan, console, world),
            console: console)
        return await console.finished(await run.run())
    }

    /// Prints a usage error on one line, with `json` also as a line of JSON on standard output. Returns the exit code.
    package static func usage(_ error: UsageError, command: String, json: Bool) -> ExitCode {
        let failure = DownloadError(error.code, ErrorPhrase(.usage, error.reason), recovery: .needsUser)
        if json { _ = StandardStreams.write(Array(Self.failure(failure).utf8), to: 1) }
        let isOfDisk = error.code == .disk
        let hint: Reason =
            isOfDisk ? .words("") : command.isEmpty ? " (see ferry --help)" : " (see ferry \(command) --help)"
        let text = "ferry: \(error.reason.shown)\(hint.shown)\n"
        _ = StandardStreams.write(Array(text.utf8), to: 2)
        return ExitCode.of(failure)
    }

    static func reporter(_ plan: GetPlan, _ console: Console, _ world: PlanningWorld) -> Reporter {
        let canDraw = TerminalSize.canDraw(2, environment: world.environment)
        // The file's bytes on the same terminal would break the bars.
        let isBodyShown = plan.output.result == .body && isatty(1) == 1
        let style = ProgressStyle.choose(
            plan.output, canDraw: canDraw && !isBodyShown, environment: world.environment)
        return Reporter(options: plan.output, style: style, console: console)
    }
}

/// Commands that use the daemon.
extension Program {
    /// Runs a command and returns its exit code.
    ///
    /// - Parameters:
    ///   - command: The command's name, for usage errors.
    ///   - starts: Whether to start the daemon if it is not running.
    ///   - session: The session whose downloads are used, or `all`; `nil` for the session of the command line and the page.
    package static func remote(
        _ command: String, json: Bool, starts: Bool = false, session: String? = nil,
        _ body: (RemoteRun) async throws -> ExitCode
    ) async -> ExitCode {
        let console = Console(StandardWriter())
        let code: ExitCode
        do {
            let width = isatty(1) == 1 ? TerminalSize.current(1).columns : nil
            code = try await body(
                RemoteRun(
                    DaemonLink(mayStart: starts), session: session, console: console, json: json, width: width,
                    confirm: isatty(0) == 1 && !json ? ConfirmationPrompt.isConfirmed : nil))
        } catch let error as UsageError {
            code = usage(error, command: command, json: json)
        } catch let error as DownloadError {
            if json { console.result(failure(error)) }
            console.message("ferry: " + ErrorText.line(error, name: ""))
            code = ExitCode.of(error)
        } catch {
            if json { console.result(failure(DownloadError(.internal, "\(error)"))) }
            console.message("ferry: " + PrintableText.escape("\(error)"))
            code = .internal
        }
        return await console.finished(code)
    }

    /// Returns a failure as a line of JSON.
    static func failure(_ error: DownloadError, id: DownloadID? = nil) -> String {
        JSONLine.failed(error, id: id, date: Date()).text + "\n"
    }
}

extension Program {
    /// Runs `ferry doctor`, which changes nothing.
    ///
    /// - Parameters:
    ///   - state: The default state directory.
    ///   - list: The directory of the daemon's list.
    ///   - downloads: The download directory to check if no daemon reports its own.
    ///   - settings: The check of the daemon's settings.
    package static func doctor(
        state: String, list: String, downloads: String, settings check: DoctorCheck, json: Bool
    ) async -> ExitCode {
        let environment = ProcessInfo.processInfo.environment
        let found = await daemon()
        var (directory, proxy) = (downloads, String?.none)
        if case .answers(let greeting) = found.0, greeting.api == FerryAPI.version,
            let settings = try? await found.1.ask(.settings, as: SettingsBody.self)
        {
            (directory, proxy) = (settings.directory, settings.proxy)
        }
        let run = Paths.parent(of: found.1.socket)
        let isServed = if case .answers = found.0 { true } else { false }
        let checks = [
            DoctorPolicy.openFiles(OpenFileLimit.current),
            DoctorPolicy.downloads(directory, look(directory)),
            DoctorPolicy.state(state, look(state)), DoctorPolicy.list(Catalogue.damaged(in: list)), check,
            DoctorPolicy.socket(run, look(run), isServed: isServed),
            DoctorPolicy.daemon(found.1.socket, found.0, version: version), DoctorPolicy.confinement(found.0),
            DoctorPolicy.proxy(environment, daemon: proxy),
            DoctorPolicy.certificates(
                DoctorPolicy.authorities.first { FileManager.default.isReadableFile(atPath: $0) }),
        ]
        let report = DoctorReport(checks.compactMap(\.self))
        let console = Console(StandardWriter())
        if json {
            console.result(JSONLine.of(report).text + "\n")
        } else {
            for line in report.lines { console.result(line + "\n") }
        }
        return await console.finished(report.exitCode)
    }

    private static func daemon() async -> (DoctorPolicy.Found, DaemonLink) {
        let link = DaemonLink()
        do throws(DownloadError) { try DaemonSocket.check(link.socket) } catch { return (.failure(error), link) }
        do throws(DaemonFailure) { return (.answers(try await link.greet()), link) } catch {
            if case .unreachable = error { return (.silent, link) }
            return (.failure(error.error(socket: link.socket)), link)
        }
    }

    private static func look(_ path: String) -> DoctorPolicy.Directory {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            return DoctorPolicy.Directory(
                isThere: false, isWritable: canMake(path), isOurs: true, isOpen: false, isPrivate: true, freeBytes: nil)
        }
        var own = stat()
        let isOurs = lstat(path, &own) == 0 && own.st_mode & S_IFMT == S_IFDIR && own.st_uid == geteuid()
        return DoctorPolicy.Directory(
            isThere: true, isWritable: access(path, W_OK | X_OK) == 0, isOurs: isOurs,
            isOpen: status.st_mode & 0o022 != 0, isPrivate: status.st_mode & 0o077 == 0,
            freeBytes: DiskSpace.free(at: path))
    }

    /// Whether a missing directory can be created in its nearest existing ancestor.
    private static func canMake(_ path: String) -> Bool {
        var status = stat()
        // The path exists and is not a directory.
        if lstat(path, &status) == 0 { return false }
        var above = Paths.parent(of: path)
        while stat(above, &status) != 0 {
            let next = Paths.parent(of: above)
            if next == above { return false }
            above = next
        }
        guard status.st_mode & S_IFMT == S_IFDIR, access(above, W_OK | X_OK) == 0 else { return false }
        // Access checks always succeed for root, but a pseudo file system without any space, such as /proc, is not
        // writable.
        return DiskSpace.total(at: above).map { $0 > 0 } ?? true
    }
}
