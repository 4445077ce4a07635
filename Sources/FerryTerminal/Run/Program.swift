import Ferry
import FerryCore
import Foundation

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

    /// Runs `ferry get`.
    package static func get(_ options: GetOptions) async -> ExitCode {
        let world = PlanningWorld.system
        if let shortage = OpenFileLimit.shortage(world.openFileLimit) {
            return usage(UsageError(shortage), command: "get", json: options.show.json)
        }
        let plan: GetPlan
        do {
            plan = try GetPlanner.plan(options, world: world)
        } catch {
            return usage(error, command: "get", json: options.show.json)
        }
        let console = Console(StandardWriter())
        let reporter = reporter(plan, console, world)
        // Without a pipe for signals (no descriptors left) they end the process at once, which is safe but less
        // graceful.
        let watch = SignalWatch()
        let run = GetRun(plan, manager: DownloadManager(plan.configuration), reporter: reporter)
        return await run.run(signals: watch?.signals ?? AsyncStream { _ in }) { code in
            SignalWatch.leave(code, after: 1.8)
        }
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
        if plan.items.hasDirectories {
            let error = UsageError("ferry plan takes URLs and part files, no directories")
            return usage(error, command: "plan", json: options.show.json)
        }
        let console = Console(StandardWriter())
        let run = PlanRun(
            plan, manager: DownloadManager(plan.configuration), reporter: reporter(plan, console, world),
            console: console)
        let code = await run.run()
        await console.drained()
        return code
    }

    /// Prints a usage error on one line, with `json` also as a line of JSON on standard output. Returns the exit code.
    package static func usage(_ error: UsageError, command: String, json: Bool) -> ExitCode {
        let failure = DownloadError(error.code, error.message, recovery: .needsUser)
        if json { _ = StandardStreams.write(Array(Self.failure(failure).utf8), to: 1) }
        let hint: Reason = command.isEmpty ? " (see ferry --help)" : " (see ferry \(command) --help)"
        let text = "ferry: \(error.reason.shown)\(hint.shown)\n"
        _ = StandardStreams.write(Array(text.utf8), to: 2)
        return ExitCode.of(failure)
    }

    private static func reporter(_ plan: GetPlan, _ console: Console, _ world: PlanningWorld) -> Reporter {
        let canDraw = TerminalSize.canDraw(2, environment: world.environment)
        // The file's bytes on the same terminal would break the bars.
        let isBodyShown = plan.output.result == .body && isatty(1) == 1
        let style = ProgressStyle.choose(
            plan.output, canDraw: canDraw && !isBodyShown, environment: world.environment)
        return Reporter(options: plan.output, style: style, console: console)
    }
}
