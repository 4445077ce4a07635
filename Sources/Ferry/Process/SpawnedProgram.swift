import Foundation

/// A program started by this process that does not depend on it; see ``spawn(_:environment:hearsReady:)``.
///
/// The caller must ``wait()`` for its end while this process lives; otherwise a zombie remains.
package struct SpawnedProgram: Sendable {
    /// Why the program could not be started.
    package struct Failure: Error { package var reason: String }

    let process: pid_t
    /// The read end of the pipe to the program's descriptor 3; -1 if it has none.
    let ready: Int32

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

    /// Waits for the end; returns the exit code, or 128 plus the signal number. Blocks.
    package func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { if errno != EINTR { return -1 } }
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }
}
