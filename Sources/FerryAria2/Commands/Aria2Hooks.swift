import Ferry
import FerryCore
import FerryTerminal

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The programs that aria2c runs at the start and the end of a download. Their arguments are the GID, the number of files and
/// the path of the file. Only the command line and aria2's settings file can set programs: a list, a client or a response cannot.
struct Aria2Hooks: Sendable, Hashable {
    var start: String?
    var complete: String?
    var error: String?

    init() {}

    init(_ values: Aria2Values) {
        func program(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }
        start = program("on-download-start")
        // `on-download-stop` is used if no program is set for this kind of end.
        complete = program("on-download-complete") ?? program("on-download-stop")
        error = program("on-download-error") ?? program("on-download-stop")
    }

    /// Starts a program, without a shell, and does not wait for it. Returns the reason if it cannot be started.
    static func start(_ program: String, _ arguments: [String]) -> String? {
        // allow(environment): the user's own program, which gets the same environment from a shell.
        var spawning = Spawning([program] + arguments, environment: ProcessInfo.processInfo.environment)
        (spawning.input, spawning.output, spawning.error) = (0, 1, 2)
        do throws(Spawning.Failure) {
            let process = try spawning.start()
            // Reaps the process when it exits.
            onOwnThread("ferry-hook") { _ = Spawning.wait(for: process) }
            return nil
        } catch { return error.reason }
    }
}
