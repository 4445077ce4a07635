package import Ferry
package import struct Foundation.Date
import Synchronization

/// Tells what happens, in the way that was asked for: results on standard output, all else on standard error.
package final class Reporter: Sendable {
    private struct State {
        var plain = PlainProgress()
        /// Files whose progress is told, with the time of the last line.
        var live: [DownloadID: Duration?] = [:]
    }

    private let options: OutputOptions
    private let style: ProgressStyle
    private let console: Console
    private let size: @Sendable () -> TerminalSize
    private let mayDraw: @Sendable () -> Bool
    private let state = Mutex(State())

    /// At most two lines of progress a second and file.
    private static let progressInterval = Duration.milliseconds(500)

    package init(
        options: OutputOptions, style: ProgressStyle, console: Console,
        size: @escaping @Sendable () -> TerminalSize = { TerminalSize.current(2) },
        mayDraw: @escaping @Sendable () -> Bool = { TerminalSize.isForeground(2) }
    ) {
        self.options = options
        self.style = style
        self.console = console
        self.size = size
        self.mayDraw = mayDraw
    }

    package var interval: Duration? { style.interval }

    /// An event that does not end the file.
    package func happened(_ event: DownloadEvent, name: String) {
        switch event.kind {
        case .started, .resumed:
            state.withLock { state in
                if state.live[event.id] == nil { state.live.updateValue(nil, forKey: event.id) }
            }
        default: break
        }
        if style == .json { console.result(EventRecord.line(event).text + "\n") }
        if style != .json || options.detail == .verbose,
            let line = EventText.line(event, name: name, detail: options.detail)
        {
            console.message(line)
        }
    }

    /// A file is there.
    ///
    /// - Parameter isOneOfFew: Few enough files for a line each.
    package func completed(
        _ file: FinishedDownload, event: DownloadEvent, name: String, elapsed: Duration, isOneOfFew: Bool
    ) {
        forget(event.id)
        if options.detail > .quiet, style != .json, isOneOfFew || options.detail == .verbose {
            console.message(PrintableText.escape("\(name): ") + EventText.finished(file, elapsed: elapsed))
        }
        switch options.result {
        case .json: console.result(EventRecord.line(event).text + "\n")
        case .paths(let end): console.result(file.path + String(UnicodeScalar(end)))
        case .body: break
        }
    }

    /// A file failed; said however quiet.
    ///
    /// - Parameter id: `nil` when it was never on the list.
    package func failed(_ error: DownloadError, id: DownloadID?, name: String, command: String?, date: Date) {
        if let id { forget(id) }
        if options.result == .json {
            console.result(EventRecord.failed(error, id: id, date: date, command: command).text + "\n")
        }
        self.error(ErrorText.line(error, name: name, command: command))
    }

    /// A line about an error; said however quiet.
    package func error(_ line: String) { console.message("ferry: " + line) }

    /// A line for people who did not ask for quiet.
    package func message(_ line: String) {
        if options.detail > .quiet { console.message("ferry: " + line) }
    }

    /// Time has passed.
    ///
    /// - Parameters:
    ///   - open: The statuses of all files that have not ended.
    ///   - elapsed: Since the run began, monotonic.
    package func tick(_ open: [DownloadStatus], whole: WholeProgress, elapsed: Duration, date: Date) {
        switch style {
        case .none: break
        case .bars(let color):
            guard mayDraw() else { return }
            let size = size()
            let running = open.filter { !$0.state.isFinal && $0.state != .waiting(.slot) }
            // Room for the ^C or ^Z that the terminal echoes: wrapped, it would move the cursor off the last line.
            let columns = size.columns > 24 ? size.columns - 3 : size.columns
            let renderer = BarRenderer(width: columns, height: size.lines, usesColor: color)
            console.draw(renderer.lines(BarBoard(running: running, whole: whole, now: date)))
        case .lines:
            // Under the lock, so that nothing is said about a file after its end.
            state.withLock { state in
                let running = open.filter { state.live[$0.id] != nil && !$0.state.isFinal }
                for line in state.plain.lines(running, whole: whole, elapsed: elapsed) { console.message(line) }
            }
        case .json:
            state.withLock { state in
                for status in open {
                    guard let last = state.live[status.id], !status.state.isFinal else { continue }
                    if let last, elapsed - last < Self.progressInterval { continue }
                    state.live[status.id] = .some(elapsed)
                    console.passing(EventRecord.progress(status, date: date).text + "\n")
                }
            }
        }
    }

    /// Takes the bars off the screen.
    package func clear() { console.draw([]) }

    /// Returns when everything that was told has been written.
    package func drained() async { await console.drained() }

    /// The terminal is left to somebody else: nothing is drawn until ``continued()``.
    package func suspend() { console.suspend() }

    /// The terminal was used by somebody else meanwhile.
    package func continued() { console.forget() }

    /// A last line for more than one file.
    package func summary(_ whole: WholeProgress, receivedBytes: ByteCount, elapsed: Duration) {
        guard options.detail > .quiet, style != .json, whole.fileCount > 1 else { return }
        let seconds = Seconds.of(elapsed)
        let rate = seconds >= 0.1 ? ", \(ByteText.rate(Double(receivedBytes) / seconds))" : ""
        console.message("\(whole.label), \(ByteText.size(receivedBytes)) in \(ByteText.duration(elapsed))\(rate)")
    }

    private func forget(_ id: DownloadID) {
        state.withLock {
            $0.live[id] = nil
            $0.plain.ended(id)
        }
    }
}
