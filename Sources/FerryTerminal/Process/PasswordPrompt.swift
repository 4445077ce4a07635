import FerryCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A password prompt on the terminal, without echo.
enum PasswordPrompt {
    /// Prompts on the controlling terminal, independent of the standard streams.
    static func ask(user: String) throws(UsageError) -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else {
            throw UsageError(
                "--user \(user) has no password and there is no terminal to ask on; use --user USER:PASSWORD, --header @FILE or --netrc"
            )
        }
        defer { close(terminal) }
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else { throw UsageError("cannot hide what is typed on this terminal") }
        var hidden = before
        // ISIG is off too: Ctrl-C arrives as a character, so that the echo is always restored.
        hidden.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard tcsetattr(terminal, TCSAFLUSH, &hidden) == 0 else {
            throw UsageError("cannot hide what is typed on this terminal")
        }
        defer {
            _ = tcsetattr(terminal, TCSAFLUSH, &before)
            _ = StandardStreams.write([0x0A], to: terminal)
        }

        // Written after TCSAFLUSH, which would discard input typed after the prompt.
        _ = StandardStreams.write(Array("Password for \(PrintableText.escape(user)): ".utf8), to: terminal)
        var line = PasswordLine()
        var byte: UInt8 = 0
        while true {
            let count = read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { throw UsageError("no password was given") }
            switch line.take(byte) {
            case .more: continue
            case .interrupted:
                _ = tcsetattr(terminal, TCSAFLUSH, &before)
                _ = StandardStreams.write([0x0A], to: terminal)
                _exit(ExitCode.interrupted.rawValue)
            case .done(let password): return password
            case .nothing: throw UsageError("no password was given")
            }
        }
    }
}

/// A yes-or-no question on the terminal.
enum ConfirmationPrompt {
    /// Like ``ask(_:)``, but returns false without a terminal.
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
        let answer = String(decoding: line, as: UTF8.self).trimmedText.lowercased()
        return answer == "y" || answer == "yes"
    }
}
