import Foundation
import Synchronization

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
        let thread = Thread {
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
        thread.name = "ferry-keys"
        thread.stackSize = 128 << 10
        thread.start()
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
