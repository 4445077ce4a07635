import FerryCore

/// A program that this one replaces, with the arguments, the output and the exit statuses of that program. It is selected by the
/// name under which this program is started, or by the first argument.
package struct EmulatedProgram: Sendable {
    /// The secret part of a value on the command line.
    package struct Secret: Sendable, Hashable {
        /// The index of the word with the value.
        package var word: Int
        /// The offset of the value in the word, in bytes.
        package var offset: Int
        package var secrecy: ArgumentSecrets.Secrecy

        package init(word: Int, offset: Int, _ secrecy: ArgumentSecrets.Secrecy) {
            (self.word, self.offset, self.secrecy) = (word, offset, secrecy)
        }
    }

    let name: String
    /// Returns which part of an option's value is secret, by the option's name without dashes; `nil` if no part is.
    let secrecy: @Sendable (_ option: String) -> ArgumentSecrets.Secrecy?
    /// Returns the secrets of a command line, as the program parses it.
    let secrets: @Sendable (_ words: [String]) -> [Secret]
    private let main: @Sendable (_ words: [String]) async -> Int32

    /// - Parameters:
    ///   - name: The name of the program.
    ///   - secrecy: Returns which part of an option's value is secret, by the option's name without dashes. Each such option must
    ///     take a value in every command that has an option of that name.
    ///   - secrets: Returns the secrets of a command line, as the program parses it.
    ///   - run: Runs the program, and returns its exit status. Called on a file thread.
    package init(
        _ name: String, secrecy: @escaping @Sendable (_ option: String) -> ArgumentSecrets.Secrecy?,
        secrets: @escaping @Sendable (_ words: [String]) -> [Secret],
        run: @escaping @Sendable (_ words: [String]) async -> Int32
    ) {
        (self.name, self.secrecy, self.secrets, main) = (name, secrecy, secrets, run)
    }

    /// Runs the program with these arguments, and returns its exit status.
    package func run(_ words: [String]) async -> Int32 { await main(words) }
}

extension [EmulatedProgram] {
    /// Returns the selected program and its arguments; `nil` if none is selected.
    ///
    /// - Parameters:
    ///   - name: The name or path under which this program was started.
    package func selected(
        by name: String, _ arguments: [String]
    ) -> (program: EmulatedProgram, arguments: [String])? {
        for program in self {
            if Paths.name(of: name) == program.name { return (program, arguments) }
            if arguments.first == program.name { return (program, [String](arguments.dropFirst())) }
        }
        return nil
    }
}
