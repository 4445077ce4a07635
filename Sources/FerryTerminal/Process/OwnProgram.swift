import Ferry
import FerryCore
import Foundation

/// The executable of this process.
package enum OwnProgram {
    /// The absolute path of the executable.
    package static var path: String {
        Bundle.main.executablePath ?? absolute(CommandLine.arguments.first ?? "ferry")
    }

    /// Resolves a path against the working directory.
    package static func absolute(_ path: String) -> String {
        Paths.join(WorkingDirectory.path, path)
    }
}
