import Ferry
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Reads single keys from the terminal without echo. Keys still generate signals.
final class RawTerminal: Sendable {
    private let before: termios
    let keys: AsyncStream<WatchKey>

    /// Uses the terminal on standard input; `nil` if there is none, or if this process is in the background.
    init?() {
        var settings = termios()
        guard isatty(0) == 1, TerminalSize.isForeground(0), tcgetattr(0, &settings) == 0 else { return nil }
        before = settings
        let (keys, continuation) = AsyncStream.makeStream(of: WatchKey.self)
        self.keys = keys
        take()
        // The thread ends with the process or the terminal.
        onOwnThread("ferry-keys") {
            var parser = KeyParser()
            var byte: UInt8 = 0
            while true {
                let count = read(0, &byte, 1)
                if count < 0, errno == EINTR { continue }
                guard count == 1 else { break }
                if let key = parser.take(byte) { continuation.yield(key) }
            }
            continuation.finish()
        }
    }

    /// Disables line mode and echo.
    func take() {
        var raw = before
        raw.c_lflag &= ~tcflag_t(ECHO | ICANON)
        _ = tcsetattr(0, TCSANOW, &raw)
    }

    /// Restores the original terminal settings.
    func giveBack() {
        var settings = before
        _ = tcsetattr(0, TCSANOW, &settings)
    }
}

/// The size of a terminal in characters.
package struct TerminalSize: Sendable, Hashable {
    package var columns: Int
    package var lines: Int

    package init(columns: Int, lines: Int) {
        self.columns = columns
        self.lines = lines
    }

    /// Returns the current size of the terminal; 80 × 24 if it is unknown.
    package static func current(_ descriptor: Int32) -> TerminalSize {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return TerminalSize(columns: 80, lines: 24) }
        return TerminalSize(
            columns: size.ws_col > 0 ? Int(size.ws_col) : 80, lines: size.ws_row > 0 ? Int(size.ws_row) : 24)
    }

    /// Whether bars can be drawn: the descriptor is a terminal with cursor movement.
    package static func canDraw(_ descriptor: Int32, environment: [String: String]) -> Bool {
        isatty(descriptor) == 1 && environment["TERM"] != "dumb"
    }

    /// Whether this process may draw on its terminal, which a background job may not.
    package static func isForeground(_ descriptor: Int32) -> Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }
}
