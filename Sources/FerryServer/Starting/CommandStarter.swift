import Ferry
import Foundation

/// Starts commands that run beside the daemon, and says when they have ended.
package protocol CommandStarter: Sendable {
    /// Runs a program with its arguments, and with these variables beside those of the environment.
    ///
    /// `ended` is called once: at the command's end, or with the reason why it cannot be started.
    func start(
        _ command: [String], _ variables: [String: String], ended: @escaping @Sendable (_ failure: String?) -> Void)
}

/// Starts them from this process: no shell; nothing of ours but three descriptors of /dev/null and the variables
/// on the list of ``ChildEnvironment`` goes along.
package struct LocalStarter: CommandStarter {
    package init() {}

    package func start(
        _ command: [String], _ variables: [String: String], ended: @escaping @Sendable (_ failure: String?) -> Void
    ) {
        let environment = ChildEnvironment.command(from: ProcessInfo.processInfo.environment)
            .merging(variables) { $1 }
        do throws(SpawnedProgram.Failure) {
            let program = try SpawnedProgram.spawn(command, environment: environment)
            // Somebody must take note of its end, or the system keeps its number.
            let warden = Thread {
                _ = program.wait()
                ended(nil)
            }
            warden.stackSize = 128 << 10
            warden.name = "ferry-launched"
            warden.start()
        } catch { ended(error.reason) }
    }
}
