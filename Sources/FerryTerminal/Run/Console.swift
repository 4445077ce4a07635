import Synchronization

/// Standard output and standard error, with the lines at the bottom of the terminal that are drawn in place.
///
/// Every write goes through here, so that a message never lands inside a bar. What cannot be written is dropped: a
/// download does not end because nobody reads about it.
package final class Console: Sendable {
    /// Where bytes go; false when they cannot be written.
    package typealias Sink = @Sendable ([UInt8]) -> Bool

    private struct State {
        var area = LiveArea()
        var lines: [String] = []
        var isOutputOpen = true
        var isErrorOpen = true
        var isSuspended = false
    }

    private let output: Sink
    private let error: Sink
    private let width: @Sendable () -> Int
    private let writer: StandardWriter?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - width: The columns of the terminal behind `error` at this moment.
    package init(output: @escaping Sink, error: @escaping Sink, width: @escaping @Sendable () -> Int) {
        self.output = output
        self.error = error
        self.width = width
        writer = nil
    }

    /// The standard streams of the process; they are written to on threads of their own, see ``drained()``.
    package init(_ writer: StandardWriter) {
        output = { writer.write($0, to: 1) }
        error = { writer.write($0, to: 2) }
        width = { TerminalSize.current(2).columns }
        self.writer = writer
    }

    /// Returns when everything has been written that can be; a reader that does not read makes that take for ever.
    package func drained() async { await writer?.drained() }

    /// Writes on standard output what is only for the moment: left out while the reader is far behind.
    package func passing(_ text: String) {
        if writer?.isBehind(1) != true { result(text) }
    }

    /// Whether standard output still takes what is written to it.
    package var isOutputOpen: Bool { state.withLock { $0.isOutputOpen } }

    /// Prints a line on standard error, above what is drawn.
    package func message(_ line: String) { write { $0.isErrorOpen ? Self.message(line, &$0, self) : () } }

    /// Writes on standard output: a path with its end, a line of JSON.
    package func result(_ text: String) {
        write { state in
            guard state.isOutputOpen else { return }
            let frame = state.lines
            if !frame.isEmpty { put(state.area.clear(width: width()), &state) }
            state.isOutputOpen = output(Array(text.utf8))
            if !frame.isEmpty { put(state.area.redraw(frame, width: width()), &state) }
        }
    }

    /// Replaces what is drawn; an empty list takes it away.
    package func draw(_ lines: [String]) {
        if !lines.isEmpty, writer?.isBehind(2) == true { return }
        write { state in
            guard state.isErrorOpen, !(state.isSuspended && !lines.isEmpty), !(lines.isEmpty && state.lines.isEmpty)
            else { return }
            let width = width()
            put(lines.isEmpty ? state.area.clear(width: width) : state.area.redraw(lines, width: width), &state)
            state.lines = lines
        }
    }

    /// Takes away what is drawn, and draws nothing until ``forget()``.
    package func suspend() {
        draw([])
        write { $0.isSuspended = true }
        // A frame may have come between the two.
        draw([])
    }

    /// What was drawn is no longer where it was: the next frame begins on a new place.
    package func forget() {
        write { state in
            state.area.forget()
            state.lines = []
            state.isSuspended = false
        }
    }

    private func write(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    private static func message(_ line: String, _ state: inout State, _ console: Console) {
        let width = console.width()
        let frame = state.lines
        var text = frame.isEmpty ? "" : state.area.clear(width: width)
        text += line + "\n"
        if !frame.isEmpty { text += state.area.redraw(frame, width: width) }
        console.put(text, &state)
    }

    private func put(_ text: String, _ state: inout State) {
        guard !text.isEmpty, state.isErrorOpen else { return }
        state.isErrorOpen = error(Array(text.utf8))
    }
}
