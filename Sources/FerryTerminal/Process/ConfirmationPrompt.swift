import FerryCore
import Foundation

/// A yes-or-no question on the terminal.
enum ConfirmationPrompt {
    /// As ``ask(_:)``; without a terminal no.
    @Sendable static func isConfirmed(_ question: String) -> Bool { (try? ask(question)) ?? false }

    /// Prompts on the controlling terminal, not the standard streams. Anything but `y` and `yes` counts as no.
    static func ask(_ question: String) throws(UsageError) -> Bool {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else {
            throw UsageError(
                "--user and --header without a URL need a server, and there is no terminal to ask on: "
                    + "write --user NAME@HOST, or give the URL")
        }
        defer { close(terminal) }
        _ = StandardStreams.write(Array("\(PrintableText.escape(question)) [y/N] ".utf8), to: terminal)
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1, byte != UInt8(ascii: "\n") else { break }
            if line.count < 64 { line.append(byte) }
        }
        let answer = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespaces).lowercased()
        return answer == "y" || answer == "yes"
    }
}
