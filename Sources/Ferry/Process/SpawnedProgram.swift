#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A program that this process started and that does not depend on it; see ``spawn(_:environment:hearsReady:)``.
///
/// The caller must ``wait()`` for its end while this process is running; otherwise a zombie remains.
package struct SpawnedProgram: Sendable {
    let process: Int32
    /// The read end of the pipe to the program's descriptor 3; -1 if it has none.
    let ready: Int32

    /// Starts a program in a new session with default signals, in `/`; its standard streams are `/dev/null`, and it
    /// inherits no other descriptor. With `hearsReady`, its descriptor 3 is a pipe to this process.
    package static func spawn(
        _ words: [String], environment variables: [String: String], hearsReady: Bool = false
    ) throws(Spawning.Failure) -> SpawnedProgram {
        let pipe = hearsReady ? try makePipe() : (reading: -1, writing: -1)
        defer { if hearsReady { close(pipe.writing) } }
        // allow(environment): the caller has selected the variables.
        var spawning = Spawning(words, environment: variables)
        // A program that runs in the app's working directory would prevent the disk of that directory from being unmounted.
        spawning.directory = "/"
        spawning.ready = hearsReady ? pipe.writing : nil
        spawning.startsSession = true
        do throws(Spawning.Failure) {
            return SpawnedProgram(process: try spawning.start(), ready: pipe.reading)
        } catch {
            if hearsReady { close(pipe.reading) }
            throw error
        }
    }

    private static func makePipe() throws(Spawning.Failure) -> (reading: Int32, writing: Int32) {
        let ends = try Spawning.pipe()
        // Use a number above the descriptor numbers that are used in the child.
        let high = fcntl(ends.writing, F_DUPFD_CLOEXEC, 16)
        let error = errno
        close(ends.writing)
        guard high >= 0 else {
            close(ends.reading)
            throw Spawning.Failure(code: error)
        }
        return (ends.reading, high)
    }

    /// Reads one line from the pipe, at most 64 KiB, and closes it; empty if the program closed the pipe first.
    /// Blocks.
    package func readyLine() -> [UInt8] {
        guard ready >= 0 else { return [] }
        defer { close(ready) }
        var line: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while line.count < 65_536, line.last != UInt8(ascii: "\n") {
            let count = read(ready, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            line += piece[..<count]
        }
        return line
    }

    /// Waits for the end of the program; returns the exit code, or 128 plus the signal number. Blocks.
    package func wait() -> Int32 { Spawning.wait(for: process) }
}
