import Ferry
import Foundation

/// Starts commands beside the daemon and reports when they end.
package protocol CommandStarter: Sendable {
    /// Runs a program with these arguments, and these variables in addition to the inherited environment.
    ///
    /// `ended` is called once: when the command exits, or with the reason why it cannot be started.
    func start(
        _ command: [String], _ variables: [String: String], ended: @escaping @Sendable (_ failure: String?) -> Void)
}

/// Starts commands from this process, without a shell. A command inherits the standard descriptors on /dev/null and
/// the variables on the list of ``ChildEnvironment``, nothing else.
package struct LocalStarter: CommandStarter {
    package init() {}

    package func start(
        _ command: [String], _ variables: [String: String], ended: @escaping @Sendable (_ failure: String?) -> Void
    ) {
        let environment = ChildEnvironment.command(from: ProcessInfo.processInfo.environment)
            .merging(variables) { $1 }
        do throws(SpawnedProgram.Failure) {
            let program = try SpawnedProgram.spawn(command, environment: environment)
            // Reaps the process when it exits.
            let thread = Thread {
                _ = program.wait()
                ended(nil)
            }
            thread.stackSize = 128 << 10
            thread.name = "ferry-launched"
            thread.start()
        } catch { ended(error.reason) }
    }
}
