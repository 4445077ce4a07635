import Ferry
import Foundation

/// What the commands of the binary do, once their words are read.
package enum Program {
    /// The version that `--version` says.
    package static let version = FerryVersion.text

    /// Makes the process ready: descriptors, limits, pipes. Called once, before anything is opened.
    package static func prepare() {
        StandardStreams.fillGaps()
        StandardStreams.ignoreBrokenPipes()
        StandardStreams.ignoreSizeLimit()
        OpenFileLimit.raise()
    }

    /// `ferry get`.
    package static func get(_ options: GetOptions) async -> ExitCode {
        let world = PlanningWorld.system
        if let shortage = OpenFileLimit.shortage(world.openFileLimit) { return usage(shortage, command: "get") }
        let plan: GetPlan
        do {
            plan = try GetPlanner.plan(options, world: world)
        } catch {
            return usage(error.message, command: "get")
        }
        let console = Console(StandardWriter())
        let reporter = reporter(plan, console, world)
        // Without a pipe for signals (no descriptors left) they end the program at once: safe, only less polite.
        let watch = SignalWatch()
        let run = GetRun(plan, manager: DownloadManager(plan.configuration), reporter: reporter)
        return await run.run(signals: watch?.signals ?? AsyncStream { _ in }) { code in
            SignalWatch.leave(code, after: 1.8)
        }
    }

    /// `ferry plan`.
    package static func plan(_ options: GetOptions) async -> ExitCode {
        var world = PlanningWorld.system
        // A plan writes nothing, not even a directory.
        world.prepareDirectory = { _ in }
        if let shortage = OpenFileLimit.shortage(world.openFileLimit) { return usage(shortage, command: "plan") }
        let plan: GetPlan
        do {
            plan = try GetPlanner.plan(options, world: world)
        } catch {
            return usage(error.message, command: "plan")
        }
        let console = Console(StandardWriter())
        let run = PlanRun(
            plan, manager: DownloadManager(plan.configuration), reporter: reporter(plan, console, world),
            console: console)
        let code = await run.run()
        await console.drained()
        return code
    }

    /// One line: what is wrong with the command, and where to read more.
    package static func usage(_ message: String, command: String) -> ExitCode {
        let name = command.isEmpty ? "ferry" : "ferry \(command)"
        let text = "ferry: \(PrintableText.escape(message)) (see \(name) --help)\n"
        _ = StandardStreams.write(Array(text.utf8), to: 2)
        return .usage
    }

    private static func reporter(_ plan: GetPlan, _ console: Console, _ world: PlanningWorld) -> Reporter {
        let canDraw = TerminalSize.canDraw(2, environment: world.environment)
        // Bytes of the file on the same terminal would tear the bars apart.
        let isBodyShown = plan.output.result == .body && isatty(1) == 1
        let style = ProgressStyle.choose(
            plan.output, canDraw: canDraw && !isBodyShown, environment: world.environment)
        return Reporter(options: plan.output, style: style, console: console)
    }
}
