import Foundation

/// Asks for a password on the terminal, without showing it.
enum PasswordPrompt {
    /// Asks on the controlling terminal, whatever the standard streams are.
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
        // No echo; and Ctrl-C comes as a character, so that the echo never stays off after it.
        hidden.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard tcsetattr(terminal, TCSAFLUSH, &hidden) == 0 else {
            throw UsageError("cannot hide what is typed on this terminal")
        }
        defer {
            _ = tcsetattr(terminal, TCSAFLUSH, &before)
            _ = StandardStreams.write([0x0A], to: terminal)
        }

        // Only now: what is typed after the question must not be thrown away by the change above.
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
