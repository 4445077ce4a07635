import Ferry
import FerryCore

/// The executable of this process.
package enum OwnProgram {
    /// The absolute path of the executable.
    package static var path: String {
        ExecutablePath.own ?? absolute(CommandLine.arguments.first ?? "ferry")
    }

    /// Resolves a path against the working directory.
    package static func absolute(_ path: String) -> String {
        Paths.join(WorkingDirectory.path, path)
    }

    /// Resolves a path likewise, without `.`, `..` and empty components. Lexical: the working directory has no links in
    /// its path.
    static func plain(_ path: String) -> String {
        var parts: [Substring] = []
        for part in absolute(path).split(at: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }
}

/// The command line of this process, read once at start.
package enum CommandArguments {
    /// Returns the arguments without the program's name, and overwrites secrets in the memory that `ps` and
    /// `/proc/PID/cmdline` show.
    package static func take() -> [String] {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let secrets = ArgumentSecrets.ranges(in: arguments.map { Array($0.utf8) })
        for (index, ranges) in secrets.enumerated() where !ranges.isEmpty {
            guard index + 1 < CommandLine.argc, let memory = CommandLine.unsafeArgv[index + 1] else { continue }
            var length = 0
            while memory[length] != 0 { length += 1 }
            for range in ranges {
                for offset in range.clamped(to: 0..<length) { memory[offset] = 0x2A }
            }
        }
        return arguments
    }
}
