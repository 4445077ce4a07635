import FerryCore
import Foundation

/// The programs that aria2c runs at the start and the end of a download, with its GID, the number of its files and the
/// path of the file. Only a command line can name them: no list, setting of a daemon or response.
struct Aria2Hooks: Sendable, Hashable {
    var start: String?
    var complete: String?
    var error: String?

    init() {}

    init(_ values: Aria2Values) {
        func program(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }
        start = program("on-download-start")
        // The program for every end is used where there is none for this one.
        complete = program("on-download-complete") ?? program("on-download-stop")
        error = program("on-download-error") ?? program("on-download-stop")
    }

    /// Starts a program, without a shell, and does not wait for it. Returns why it could not be started.
    static func start(_ program: String, _ arguments: [String]) -> String? {
        let places = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(at: ":").map { "\($0)/\(program)" }
        let isPath = program.utf8.contains(UInt8(ascii: "/"))
        guard let path = isPath ? program : places.first(where: { access($0, X_OK) == 0 }) else {
            return String(cString: strerror(ENOENT))
        }
        // allow(environment): the user's own program, named on the command line, as a shell would start it.
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        do {
            try process.run()
            return nil
        } catch { return error.localizedDescription }
    }
}
