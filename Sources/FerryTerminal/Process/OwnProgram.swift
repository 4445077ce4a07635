import Ferry
import FerryCore

/// The executable of this process.
package enum OwnProgram {
    /// The absolute path of the executable.
    package static var path: String {
        ExecutablePath.own ?? absolute(ProcessArguments.all.first ?? "ferry")
    }

    /// Resolves a path against the working directory.
    package static func absolute(_ path: String) -> String {
        Paths.join(WorkingDirectory.path, path)
    }

    /// Resolves a path in the same way, and removes `.`, `..` and empty components. Does not access the file system,
    /// because the working directory's path contains no symbolic links.
    package static func plain(_ path: String) -> String { Paths.normalized(absolute(path)) }
}

/// The command line of this process, read once at start.
package enum CommandArguments {
    /// Returns the program's name and its arguments, and overwrites secrets in the memory that other processes can read;
    /// `nil` if the arguments cannot be read.
    ///
    /// - Parameter emulated: The programs that this one replaces.
    package static func take(emulating emulated: [EmulatedProgram]) -> (program: String, arguments: [String])? {
        let words = ProcessArguments.all
        guard let program = words.first else { return nil }
        let arguments = Array(words.dropFirst())
        let secrets = ArgumentSecrets.ranges(
            in: arguments.map { Array($0.utf8) }, program: program, emulating: emulated)
        ProcessArguments.hide([[]] + secrets)
        return (program, arguments)
    }
}
