import FerryCore
import Foundation

/// The possible paths of the daemon's program, in search order.
struct DaemonFinder: Sendable, Hashable {
    /// Absolute paths; the first existing program is used.
    var places: [String]

    /// A path named by the app or by `FERRY_BINARY` is the only candidate: no other program is started instead.
    /// Otherwise the candidates are `ferry` in the directory of the app's own program, then in those of `PATH`.
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
        // Empty and relative parts of PATH would mean the working directory.
        for part in (environment["PATH"] ?? "").split(at: ":") where part.utf8.hasPrefix("/") {
            let place = String(part) + "/ferry"
            if !places.contains(place) { places.append(place) }
        }
    }

    /// Searches with the environment and paths of this process.
    init(given: String?) {
        self.init(
            given: given, environment: ProcessInfo.processInfo.environment, executable: Bundle.main.executablePath,
            workingDirectory: FileManager.default.currentDirectoryPath)
    }

    /// The first candidate that is executable. Throws `daemonUnavailable` with the candidates if there is none.
    func find(
        isProgram: (String) -> Bool = { FileManager.default.isExecutableFile(atPath: $0) }
    ) throws(DownloadError) -> String {
        if let found = places.first(where: isProgram) { return found }
        throw DownloadError(
            .daemonUnavailable, ErrorPhrase(.daemonNotFound, places.joined(separator: ", ")),
            suggestion: ErrorPhrase(.giveBinary), recovery: .needsUser)
    }
}
