import Foundation

/// A program that was started by this process and does not depend on it; ``spawn(_:environment:hearsReady:)`` starts it.
///
/// Somebody must ``wait()`` for its end while this process lives, or the system keeps its number.
package struct SpawnedProgram: Sendable {
    /// Why it could not be started.
    package struct Failure: Error { package var reason: String }

    let process: pid_t
    /// The other end of its descriptor 3; -1 when it has none.
    let ready: Int32

    /// Waits for the one line on the pipe, at most 64 KiB, and closes it; empty when it was closed before.
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

    /// Waits for its end: its exit code, or 128 and the number of the signal.
    package func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { if errno != EINTR { return -1 } }
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }
}
