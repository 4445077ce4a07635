/// Creates scripts that other programs start in tests.
public enum Executable {
    /// Writes a script that everybody may run, and returns when no process has it open for writing.
    ///
    /// A child process writes the script. If this process had it open, a child that another test forks at that moment would
    /// inherit the open file until it calls exec, and Linux does not run a file that is open for writing.
    ///
    /// - Throws: ``RunningProgram/StartFailure``, or a ``WritingFailure``.
    public static func write(_ text: String, to path: String) throws {
        let (end, message) = try RunningProgram.run(
            ["/bin/sh", "-c", #"printf %s "$1" > "$2" && chmod 755 "$2""#, "sh", text, path])
        guard end == .exited(0) else { throw WritingFailure(path: path, message: message) }
    }

    /// The failure to write a script.
    public struct WritingFailure: Error, CustomStringConvertible {
        public let path: String
        /// The error message of the shell.
        public let message: String
        public var description: String { "\(path) cannot be written: \(message)" }
    }
}
