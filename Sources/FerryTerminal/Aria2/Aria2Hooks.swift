import Ferry
import FerryCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The programs that aria2c runs at the start and the end of a download. Their arguments are the GID, the number of files and
/// the path of the file. Programs can be set only on the command line, not by a list, a setting of a daemon or a response.
struct Aria2Hooks: Sendable, Hashable {
    var start: String?
    var complete: String?
    var error: String?

    init() {}

    init(_ values: Aria2Values) {
        func program(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }
        start = program("on-download-start")
        // The program for every end is used if there is none for this kind of end.
        complete = program("on-download-complete") ?? program("on-download-stop")
        error = program("on-download-error") ?? program("on-download-stop")
    }

    /// Starts a program, without a shell, and does not wait for it. Returns why it could not be started.
    static func start(_ program: String, _ arguments: [String]) -> String? {
        // allow(environment): the user's own program, named on the command line, as a shell would start it.
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
