#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Starts a program with posix_spawn(3).
///
/// The program inherits only its three standard streams and ``ready``, however many descriptors are open. It leads its
/// own process group, with no signal blocked and every signal at its default action.
package struct Spawning {
    /// The program and its arguments; a program name without a slash is looked up in this process's PATH.
    package var words: [String]
    package var environment: [String: String]
    /// The working directory; `nil` for this process's own.
    package var directory: String?
    /// Descriptors of this process for the standard streams, not closed by ``start()``; `nil` for /dev/null.
    package var input: Int32?
    package var output: Int32?
    package var error: Int32?
    /// A descriptor of this process above 3 that becomes the program's descriptor 3, not closed by ``start()``;
    /// `nil` for none.
    package var ready: Int32?
    /// Whether the program also leads a new session, so that the end of this session does not end the program.
    package var startsSession = false

    /// The `errno` of a failed start.
    package struct Failure: Error {
        package let code: Int32

        /// The system's message.
        package var reason: String { String(cString: strerror(code)) }
    }

    package init(_ words: [String], environment: [String: String]) {
        self.words = words
        self.environment = environment
    }

    /// Runs the program to its end, with its standard output and standard error in one pipe. Returns the status (see
    /// ``wait(for:)``) and the output. Blocks.
    package func run() throws(Failure) -> (status: Int32, output: [UInt8]) {
        let pipe = try Self.pipe()
        defer { close(pipe.reading) }
        var piped = self
        (piped.output, piped.error) = (pipe.writing, pipe.writing)
        let started = Result { () throws(Failure) in try piped.start() }
        close(pipe.writing)
        let process = try started.get()
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(pipe.reading, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return (Self.wait(for: process), output) }
            output += piece[..<count]
        }
    }

    /// Waits for the end of a process; returns the exit code, or 128 plus the signal number. Blocks.
    package static func wait(for process: Int32) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { if errno != EINTR { return -1 } }
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }
}
