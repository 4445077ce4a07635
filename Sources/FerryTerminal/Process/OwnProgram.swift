import FerryCore
import Foundation

/// This process, as others may start it.
package enum OwnProgram {
    /// The absolute path of the binary.
    package static var path: String {
        Bundle.main.executablePath ?? absolute(CommandLine.arguments.first ?? "ferry")
    }

    /// A path from the command line, by the working directory.
    package static func absolute(_ path: String) -> String {
        Paths.join(FileManager.default.currentDirectoryPath, path)
    }
}
