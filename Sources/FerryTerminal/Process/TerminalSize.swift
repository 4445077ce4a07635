import Foundation

/// The size of a terminal, in characters.
package struct TerminalSize: Sendable, Hashable {
    package var columns: Int
    package var lines: Int

    package init(columns: Int, lines: Int) {
        self.columns = columns
        self.lines = lines
    }

    /// The size of the terminal behind a descriptor now; 80 × 24 where it does not say.
    package static func current(_ descriptor: Int32) -> TerminalSize {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return TerminalSize(columns: 80, lines: 24) }
        return TerminalSize(
            columns: size.ws_col > 0 ? Int(size.ws_col) : 80, lines: size.ws_row > 0 ? Int(size.ws_row) : 24)
    }

    /// Whether bars can be drawn on this descriptor: a terminal that can move its cursor.
    package static func canDraw(_ descriptor: Int32, environment: [String: String]) -> Bool {
        isatty(descriptor) == 1 && environment["TERM"] != "dumb"
    }

    /// Whether this process may draw on its terminal now: a job in the background may not.
    package static func isForeground(_ descriptor: Int32) -> Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }
}
