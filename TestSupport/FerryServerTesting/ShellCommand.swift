import FerryCore
import Foundation

/// Programs that are run to their end.
///
/// Not with Foundation's `Process`, which traps at times while this process has thousands of open files.
package enum ShellCommand {
    package struct Failure: Error {
        package let status: Int32
    }

    /// Runs a program, which finds the file `input` or nothing at its standard input. Returns what it prints. Blocks.
    ///
    /// - Throws: `Failure` for another status than 0, unless `mayFail`.
    package static func output(
        _ words: [String], reading input: String = "/dev/null", mayFail: Bool = false
    ) throws -> [UInt8] {
        let command = words.map(quote).joined(separator: " ") + " <\(quote(input)) 2>/dev/null"
        guard let pipe = popen(command, "r") else { throw Failure(status: -1) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&piece, 1, piece.count, pipe), count > 0 { bytes += piece[..<count] }
        let status = pclose(pipe)
        guard status == 0 || mayFail else { throw Failure(status: status) }
        return bytes
    }

    private static func quote(_ word: String) -> String { "'" + word.replacing("'", by: "'\\''") + "'" }
}
