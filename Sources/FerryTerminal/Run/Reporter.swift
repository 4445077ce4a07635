package import Ferry
import FerryCore
import Synchronization

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// Shows a run to its user, or to the program that started it.
package protocol RunReporting: Sendable {
    /// The interval of ``tick(_:whole:elapsed:date:)``; `nil` for none.
    var interval: Duration? { get }
    /// Whether URLs that look the same are distinguished by their position in the run. Default true.
    var tellsApart: Bool { get }
    /// Whether all events of a file are reported, not only its end. Default true.
    var followsEvents: Bool { get }
    /// Starts to show the progress of a file for which there is no event.
    func began(_ id: DownloadID)
    /// Reports files that wait for their server.
    func waiting(_ wait: ServerWaits.News, date: Date)
    /// Reports an event that does not end the file.
    func happened(_ event: DownloadEvent, name: String)
    /// Reports a completed file.
    ///
    /// - Parameter isOneOfFew: Whether the run has so few files that each gets a line.
    func completed(_ file: FinishedDownload, event: DownloadEvent, name: String, elapsed: Duration, isOneOfFew: Bool)
    /// Reports a failed file.
    ///
    /// - Parameter id: `nil` if the file was never listed.
    func failed(_ error: DownloadError, id: DownloadID?, name: String, command: String?, date: Date)
    /// Reports an error that concerns no file.
    func error(_ line: String)
    func message(_ line: String)
    /// Updates progress.
    ///
    /// - Parameters:
    ///   - open: The statuses of all files that have not ended.
    ///   - elapsed: The monotonic time since the start of the run.
    func tick(_ open: [DownloadStatus], whole: WholeProgress, elapsed: Duration, date: Date)
    /// Reports the total of a run.
    func summary(_ whole: WholeProgress, receivedBytes: ByteCount, elapsed: Duration)
    /// Erases the lines that are drawn in place.
    func clear()
    /// Stops drawing until ``continued()``, as other programs use the terminal.
    func suspend()
    /// Resumes drawing after other programs have used the terminal.
    func continued()
    /// Returns when all output is written.
    func drained() async
}

extension RunReporting {
    package var tellsApart: Bool { true }
    package var followsEvents: Bool { true }
    package func began(_ id: DownloadID) {}
}

/// Reports the run in the requested form: results on standard output, everything else on standard error.
package final class Reporter: RunReporting {
    private struct State {
        var plain = PlainProgress()
        /// The files with progress output, and the time of their last line.
        var live: [DownloadID: Duration?] = [:]
        /// The suggestions that were printed after failures. Each is printed once, even if a hundred files of a list fail.
        var suggested: Set<ErrorPhrase.Key> = []
        /// The last reported bottleneck of each file.
        var limits: [DownloadID: Bottleneck] = [:]
    }

    private let options: OutputOptions
    private let style: ProgressStyle
    private let console: Console
    private let size: @Sendable () -> TerminalSize
    private let mayDraw: @Sendable () -> Bool
    private let state = Mutex(State())

    /// The minimum time between two progress lines of a file.
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

    package var interval: Duration? { style.interval ?? (options.detail == .verbose ? .milliseconds(250) : nil) }

    package var followsEvents: Bool { style == .json || options.result == .json || options.detail == .verbose }

    package func began(_ id: DownloadID) { _ = state.withLock { $0.live.updateValue(nil, forKey: id) } }

    package func happened(_ event: DownloadEvent, name: String) {
        // If a download continues after an interruption, the reported reason of the interruption is enough.
        var goesOn = false
        switch event.kind {
        case .started, .resumed:
            state.withLock { state in
                goesOn = state.live[event.id] != nil
                if !goesOn { state.live.updateValue(nil, forKey: event.id) }
            }
        default: break
        }
        if style == .json { console.result(JSONLine.line(event).text + "\n") }
        if options.detail == .verbose || style != .json && !goesOn,
            let line = EventText.line(event, name: name, detail: options.detail)
        {
            console.message(line)
        }
    }

    package func waiting(_ wait: ServerWaits.News, date: Date) {
        if style == .json {
            for event in wait.events(at: date) { console.result(JSONLine.line(event).text + "\n") }
        }
        if options.detail == .verbose || style != .json && options.detail > .quiet { console.message(wait.line) }
    }

    package func completed(
        _ file: FinishedDownload, event: DownloadEvent, name: String, elapsed: Duration, isOneOfFew: Bool
    ) {
        forget(event.id)
        if options.detail > .quiet, style != .json, isOneOfFew || options.detail == .verbose {
            console.message(PrintableText.escape("\(name): ") + EventText.finished(file, elapsed: elapsed))
        }
        switch options.result {
        case .json: console.result(JSONLine.line(event).text + "\n")
        case .paths where file.path.isEmpty: break
        case .paths(let end): console.result(file.path + String(UnicodeScalar(end)))
        case .body, .results, .nothing: break
        }
    }

    /// Reports a failed file, even with `-q`.
    ///
    /// - Parameter id: `nil` if the file was never listed.
    package func failed(_ error: DownloadError, id: DownloadID?, name: String, command: String?, date: Date) {
        if let id { forget(id) }
        if options.result == .json {
            console.result(JSONLine.failed(error, id: id, date: date, command: command).text + "\n")
        }
        let key = command == nil ? error.suggestionPhrase?.key : nil
        let isRepeated = key.map { key in state.withLock { !$0.suggested.insert(key).inserted } } ?? false
        self.error(ErrorText.line(error, name: name, command: command, isBrief: isRepeated))
    }

    /// Prints an error, even with `-q`.
    package func error(_ line: String) { console.message("ferry: " + line) }

    /// Prints a message, except with `-q`.
    package func message(_ line: String) {
        if options.detail > .quiet { console.message("ferry: " + line) }
    }

    package func tick(_ open: [DownloadStatus], whole: WholeProgress, elapsed: Duration, date: Date) {
        if options.detail == .verbose { open.forEach(reportLimit) }
        switch style {
        case .none: break
        case .bars(let color):
            guard mayDraw() else { return }
            let size = size()
            var running = open.filter { !$0.state.isFinal && !$0.state.isInLine }
            if whole.fileCount <= PlainProgress.fewFiles { running += open.filter(\.waitsForServer) }
            // Leaves space for the ^C or ^Z that the terminal echoes: if that wrapped, it would move the cursor off
            // the last line.
            let columns = size.columns > 24 ? size.columns - 3 : size.columns
            let renderer = BarRenderer(width: columns, height: size.lines, usesColor: color)
            console.draw(renderer.lines(BarBoard(running: running, whole: whole, now: date)))
        case .lines:
            // Under the lock, so that no progress is reported for a file after its end.
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
                    console.passing(JSONLine.progress(status, date: date).text + "\n")
                }
            }
        }
    }

    /// Reports the bottleneck of a file if it differs from the one that was last reported.
    private func reportLimit(of status: DownloadStatus) {
        guard let limit = status.progress.bottleneck else { return }
        let isNews = state.withLock { state in
            if let last = state.limits[status.id], !limit.differs(from: last) { return false }
            state.limits[status.id] = limit
            return true
        }
        guard isNews else { return }
        let text: Reason = "speed limited: \(BottleneckText.sentence(limit))"
        console.message(("\(status.name): \(text)" as Reason).shown)
    }

    /// Erases the bars.
    package func clear() { console.draw([]) }

    package func drained() async { await console.drained() }

    package func suspend() { console.suspend() }

    package func continued() { console.forget() }

    /// Prints the total of a run with more than one file.
    package func summary(_ whole: WholeProgress, receivedBytes: ByteCount, elapsed: Duration) {
        guard options.detail > .quiet, style != .json, whole.fileCount > 1 else { return }
        let seconds = Seconds.of(elapsed)
        let size = ByteText.size(receivedBytes)
        let text: Reason = "\(whole.label), \(size) in \(ByteText.briefly(elapsed))"
        let rate = seconds >= 0.1 && receivedBytes > 0 ? ", \(ByteText.rate(Double(receivedBytes) / seconds))" : ""
        console.message(text.local + rate)
    }

    private func forget(_ id: DownloadID) {
        state.withLock {
            $0.live[id] = nil
            $0.limits[id] = nil
            $0.plain.ended(id)
        }
    }
}

/// The form of progress output.
package enum ProgressStyle: Sendable, Hashable {
    /// Bars redrawn in place on a terminal.
    case bars(color: Bool)
    /// Occasional lines.
    case lines
    /// Lines of JSON on standard output.
    case json
    case none

    /// The interval of progress updates; `nil` for none.
    package var interval: Duration? {
        switch self {
        case .bars: .milliseconds(100)
        case .lines: .milliseconds(250)
        case .json: .milliseconds(250)
        case .none: nil
        }
    }

    /// Returns the style for these options.
    ///
    /// - Parameter canDraw: Whether standard error is a terminal with cursor movement.
    package static func choose(_ options: OutputOptions, canDraw: Bool, environment: [String: String]) -> ProgressStyle
    {
        if options.result == .json { return .json }
        guard options.showsProgress else { return .none }
        guard canDraw else { return .lines }
        return .bars(color: environment["NO_COLOR"].map(\.isEmpty) ?? true)
    }
}
