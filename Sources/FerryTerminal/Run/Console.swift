import FerryCore
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Standard output and standard error, with the lines drawn in place at the bottom of the terminal.
///
/// All writes go through this type, so that messages never appear inside a bar. Output that cannot be written is dropped,
/// because it must not make a download fail.
package final class Console: Sendable {
    /// Writes bytes. Returns false if they cannot be written.
    package typealias Sink = @Sendable ([UInt8]) -> Bool

    private struct State {
        var area = LiveArea()
        var lines: [String] = []
        /// The terminal width at which the lines were drawn.
        var width = 0
        var isOutputOpen = true
        var isErrorOpen = true
        var isSuspended = false
    }

    private let output: Sink
    private let wholeOutput: Sink
    private let error: Sink
    private let width: @Sendable () -> Int
    private let writer: StandardWriter?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - width: Returns the current width of the terminal behind `error`, in columns.
    package init(output: @escaping Sink, error: @escaping Sink, width: @escaping @Sendable () -> Int) {
        self.output = output
        wholeOutput = output
        self.error = error
        self.width = width
        writer = nil
    }

    /// Writes to the process's standard streams, on separate threads; see ``drained()``.
    package init(_ writer: StandardWriter) {
        output = { writer.write($0, to: 1) }
        wholeOutput = { writer.write($0, to: 1, isWhole: true) }
        error = { writer.write($0, to: 2) }
        width = { TerminalSize.current(2).columns }
        self.writer = writer
    }

    /// Returns when all output is written. May never return if a reader does not read.
    package func drained() async { await writer?.drained() }

    /// Waits until all output is written. Returns `code`, or the code for disk failures if a successful command
    /// could not write its output.
    ///
    /// - Parameter mayBeClosed: Whether a command without an open standard output succeeds.
    ///   Default false.
    package func finished(_ code: ExitCode, mayBeClosed: Bool = false) async -> ExitCode {
        await drained()
        guard code == .done, let number = writer?.outputFailure, !(mayBeClosed && number == EBADF) else { return code }
        let text: Reason = "the output cannot be written: \(String(cString: strerror(number)))"
        _ = StandardStreams.write(Array("ferry: \(text.shown)\n".utf8), to: 2)
        return .disk
    }

    /// Writes transient text to standard output; drops it while the reader is far behind.
    package func passing(_ text: String) {
        if writer?.isBehind(1) != true { result(text) }
    }

    /// Whether standard output is still writable.
    package var isOutputOpen: Bool { state.withLock { $0.isOutputOpen } }

    /// Prints a line on standard error, above the drawn lines.
    package func message(_ line: String) { write { $0.isErrorOpen ? Self.message(line, &$0, self) : () } }

    /// Writes to standard output: a path with its terminator, or a line of JSON.
    package func result(_ text: String) { result(text, output) }

    /// Writes a line to standard output in its own call, so that it does not mix with the lines of other processes on the
    /// same pipe (up to `PIPE_BUF` bytes).
    package func whole(_ text: String) { result(text, wholeOutput) }

    private func result(_ text: String, _ output: Sink) {
        write { state in
            guard state.isOutputOpen else { return }
            let frame = state.lines
            if !frame.isEmpty { put(state.area.clear(width: width()), &state) }
            state.isOutputOpen = output(Array(text.utf8))
            if !frame.isEmpty { put(state.area.redraw(frame, width: width()), &state) }
        }
    }

    /// Replaces the drawn lines; an empty list erases them. Unchanged lines are not written again.
    package func draw(_ lines: [String]) {
        if !lines.isEmpty, writer?.isBehind(2) == true { return }
        write { state in
            guard state.isErrorOpen, !(state.isSuspended && !lines.isEmpty), !(lines.isEmpty && state.lines.isEmpty)
            else { return }
            let width = width()
            if lines == state.lines, width == state.width { return }
            state.width = width
            put(lines.isEmpty ? state.area.clear(width: width) : state.area.redraw(lines, width: width), &state)
            state.lines = lines
        }
    }

    /// Erases the drawn lines and suppresses drawing until ``forget()``.
    package func suspend() {
        draw([])
        write { $0.isSuspended = true }
        // A frame may have been drawn in between.
        draw([])
    }

    /// Forgets the drawn lines, whose position has become unknown. The next frame starts at a new position.
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
