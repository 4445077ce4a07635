import Foundation

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

    /// Whether this process may draw on its terminal, as a background job may not.
    package static func isForeground(_ descriptor: Int32) -> Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }
}
