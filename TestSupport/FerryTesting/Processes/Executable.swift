/// A script that a test has started by another program.
public enum Executable {
    /// Writes a script that everybody may run, and returns when no process has it open for writing.
    ///
    /// A program of its own writes it. A file that this process has open is inherited by each process that another test
    /// starts just then, until that one has become its program, and Linux runs no file that is open for writing.
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
        /// What the shell said.
        public let message: String
        public var description: String { "\(path) cannot be written: \(message)" }
    }
}
