import FerryCore
import Foundation

/// Where the daemon's program may be, in the order in which it is looked for.
struct DaemonFinder: Sendable, Hashable {
    /// Absolute paths, the first that is there counts.
    var places: [String]

    /// A path that the app or `FERRY_BINARY` names is the only place: another program than the one that was named is
    /// never started. Else beside the app's own program, then where `PATH` says.
    init(given: String?, environment: [String: String], executable: String?, workingDirectory: String) {
        func absolute(_ path: String) -> String { Paths.join(workingDirectory, path) }
        if let named = given ?? environment["FERRY_BINARY"], !named.isEmpty {
            places = [absolute(named)]
            return
        }
        places = []
        if let executable, executable.utf8.contains("/") {
            places.append(Paths.join(Paths.parent(of: executable), "ferry"))
        }
        // An empty part of PATH, and a relative one, would mean wherever we happen to be.
        for part in (environment["PATH"] ?? "").split(at: ":") where part.utf8.hasPrefix("/") {
            let place = String(part) + "/ferry"
            if !places.contains(place) { places.append(place) }
        }
    }

    /// The real ones.
    init(given: String?) {
        self.init(
            given: given, environment: ProcessInfo.processInfo.environment, executable: Bundle.main.executablePath,
            workingDirectory: FileManager.default.currentDirectoryPath)
    }

    /// The program. Throws `daemonUnavailable` with the places, when none has it.
    func find(
        isProgram: (String) -> Bool = { FileManager.default.isExecutableFile(atPath: $0) }
    ) throws(DownloadError) -> String {
        if let found = places.first(where: isProgram) { return found }
        throw DownloadError(
            .daemonUnavailable, ErrorPhrase(.daemonNotFound, places.joined(separator: ", ")),
            suggestion: ErrorPhrase(.giveBinary), recovery: .needsUser)
    }
}
