import Ferry
import FerryCore
import FerryTerminal
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reports a run as aria2c does, for the programs that read its output.
final class Aria2Reporter: RunReporting {
    private struct State {
        /// The paths or URIs of the downloads that have not ended.
        var places: [DownloadID: String] = [:]
        var uris: [DownloadID: String] = [:]
        /// The directory and the likely name of each download whose server may choose the name.
        var guesses: [DownloadID: (directory: String, name: String)] = [:]
        var order: [DownloadID] = []
        var begun: Set<DownloadID> = []
        var latest: [DownloadID: DownloadProgress] = [:]
        var results: [Aria2Result] = []
        var lastError: Aria2ExitStatus?
        var lastSummary: Duration = .zero
    }

    let interval: Duration? = .seconds(1)
    /// Always false, because aria2's table contains the identifier of each download.
    let tellsApart = false
    private let output: Aria2Output
    private let hooks: Aria2Hooks
    private let console: Console
    private let isTerminal: Bool
    private let now: @Sendable () -> Date
    private let start: @Sendable (_ program: String, _ arguments: [String]) -> String?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - isTerminal: Whether standard output is a terminal. If so, one line of progress is updated in place.
    ///   - start: Starts a program. Returns the reason if it cannot be started.
    init(
        _ requests: [DownloadRequest], _ output: Aria2Output, _ hooks: Aria2Hooks, console: Console, isTerminal: Bool,
        now: @escaping @Sendable () -> Date = { Date() },
        start: @escaping @Sendable (_ program: String, _ arguments: [String]) -> String? = Aria2Hooks.start
    ) {
        self.output = output
        self.hooks = hooks
        self.console = console
        self.isTerminal = isTerminal
        self.now = now
        self.start = start
        var state = State()
        for request in requests {
            guard let id = request.id else { continue }
            state.order.append(id)
            state.uris[id] = request.sources.first?.redacted
            state.places[id] = state.uris[id] ?? ""
            switch request.destination {
            case .file(let path), .part(let path): state.places[id] = OwnProgram.absolute(path)
            case .directory(let directory, _):
                let name = request.sources.first.map { SafeName.make(nil, url: $0, finalURL: nil) } ?? ""
                state.guesses[id] = (OwnProgram.absolute(directory == "." ? "" : directory), name)
            case .stream: break
            }
        }
        self.state = Mutex(state)
    }

    /// Prints the first line.
    func begin() {
        log(.notice, "Downloading \(state.withLock { $0.order.count }) item(s)")
    }

    /// Prints the results. Returns `done` if all downloads are complete, otherwise the status of the last failure, or
    /// `unfinished` if none failed.
    func finish() -> Aria2ExitStatus {
        let (results, lastError) = state.withLock { state in
            for id in state.order {
                let progress = state.latest[id]
                state.results.append(
                    Aria2Result(
                        id: id, state: .unfinished, bytesPerSecond: progress?.bytesPerSecond,
                        percent: Self.percent(progress), place: state.places[id] ?? ""))
            }
            return (state.results, state.lastError)
        }
        let isWhole = results.allSatisfy { $0.state == .done }
        if !output.isQuiet {
            if output.results != .hide { write(Aria2Result.table(results, output)) }
            if !isWhole { write("\naria2 will resume download if the transfer is restarted.\n") }
        }
        return isWhole ? .done : lastError ?? .unfinished
    }

    private static func percent(_ progress: DownloadProgress?) -> Int? {
        guard let fraction = progress?.fraction, fraction.isFinite else { return nil }
        return Int(min(1, max(0, fraction)) * 100)
    }

    // MARK: Events

    func happened(_ event: DownloadEvent, name: String) {
        switch event.kind {
        case .started(let name, _):
            state.withLock { state in
                if let guess = state.guesses[event.id] { state.places[event.id] = Paths.join(guess.directory, name) }
            }
            begin(event.id)
        case .resumed: begin(event.id)
        case .restarted(let reason): log(.notice, event.id, "Restarting: ", reason)
        case .retrying(_, _, let reason): log(.info, event.id, "Retrying: ", reason)
        case .note(let text): log(.info, event.id, "", text)
        default: break
        }
    }

    func waiting(_ wait: ServerWaits.News, date: Date) {
        for event in wait.events(at: date) {
            log(.notice, "GID#\(event.id.rawValue) - Waiting: \(wait.sentence)")
        }
    }

    func completed(
        _ file: FinishedDownload, event: DownloadEvent, name: String, elapsed: Duration, isOneOfFew: Bool
    ) {
        begin(event.id)
        let seconds = max(0.001, Seconds.of(elapsed))
        let speed = file.receivedBytes > 0 ? Double(file.receivedBytes) / seconds : nil
        end(event.id, .done, percent: 100, speed: speed, place: file.path)
        if file.wasAlreadyComplete {
            log(.notice, "GID#\(event.id.rawValue) - Download has already completed: \(file.path)")
        }
        log(.notice, "Download complete: \(file.path)")
        run(hooks.complete, event.id, file.path)
    }

    func failed(_ error: DownloadError, id: DownloadID?, name: String, command: String?, date: Date) {
        let status = Aria2ExitStatus.of(error)
        // A request that was refused at once has no identifier.
        let id = id ?? state.withLock { state in state.order.first { state.places[$0] == name } } ?? DownloadID.make()
        let place = state.withLock { state in
            // The download has no path, because a file with its likely name exists.
            if status == .alreadyExists, let guess = state.guesses[id] {
                return Paths.join(guess.directory, guess.name)
            }
            return state.places[id] ?? name
        }
        let known = Paths.isAbsolute(place) ? place : ""
        begin(id)
        let progress = state.withLock { $0.latest[id] }
        end(id, .failed, percent: Self.percent(progress), speed: nil, place: place)
        state.withLock { $0.lastError = status }
        let code = "errorCode=\(status.rawValue)"
        log(
            .error,
            "CUID#0 - Download aborted. URI=\(state.withLock { $0.uris[id] } ?? name)\nException: \(code) \(Aria2Advice.line(error))"
        )
        log(.notice, "Download GID#\(id.rawValue) not complete: \(known)")
        run(hooks.error, id, known)
    }

    func error(_ line: String) {
        state.withLock { $0.lastError = .unknown }
        log(.error, line)
    }

    func message(_ line: String) { log(.notice, line) }

    private func begin(_ id: DownloadID) {
        guard state.withLock({ $0.begun.insert(id).inserted }) else { return }
        let place = state.withLock { $0.places[id] } ?? ""
        run(hooks.start, id, Paths.isAbsolute(place) ? place : "")
    }

    private func end(_ id: DownloadID, _ result: Aria2Result.State, percent: Int?, speed: Double?, place: String) {
        state.withLock { state in
            state.order.removeAll { $0 == id }
            (state.places[id], state.guesses[id]) = (nil, nil)
            state.results.append(
                Aria2Result(id: id, state: result, bytesPerSecond: speed, percent: percent, place: place))
        }
    }

    private func run(_ program: String?, _ id: DownloadID, _ path: String) {
        guard let program else { return }
        if let reason = start(program, [id.rawValue, "1", path]) { log(.error, "cannot run \(program): \(reason)") }
    }

    // MARK: Progress

    func tick(_ open: [DownloadStatus], whole: WholeProgress, elapsed: Duration, date: Date) {
        let running = open.filter { !$0.state.isFinal && !$0.state.isInLine }
        let isSummaryDue = state.withLock { state in
            for status in open {
                state.latest[status.id] = status.progress
                if let path = status.path, Paths.isAbsolute(path) { state.places[status.id] = path }
            }
            guard let interval = output.summaryInterval, elapsed - state.lastSummary >= interval else { return false }
            state.lastSummary = elapsed
            return true
        }
        guard !output.isQuiet, !running.isEmpty else { return }
        if isSummaryDue { write(summary(running, date)) }
        guard output.showsReadout else { return }
        let line =
            running.count == 1
            ? output.readout(running[0]) : output.readout(running, bytesPerSecond: whole.bytesPerSecond)
        if isTerminal {
            let columns = max(1, TerminalSize.current(1).columns - 1)
            console.passing("\r\u{1B}[K" + DisplayWidth.fit(line, to: columns))
        } else {
            write(line + "\n")
        }
    }

    private func summary(_ running: [DownloadStatus], _ date: Date) -> String {
        var text = " *** Download Progress Summary as of \(Aria2Output.asctime(date)) *** \n"
        text += String(repeating: "=", count: 79) + "\n"
        for status in running {
            let place = state.withLock { $0.places[status.id] } ?? status.name
            text += output.readout(status) + "\nFILE: \(PrintableText.escape(place))\n"
            text += String(repeating: "-", count: 79) + "\n"
        }
        return text + "\n"
    }

    // The table of results replaces the summary.
    func summary(_ whole: WholeProgress, receivedBytes: ByteCount, elapsed: Duration) {}
    func clear() {}
    func suspend() {}
    func continued() {}
    func drained() async { await console.drained() }

    // MARK: Output

    private func log(_ level: Aria2Output.Level, _ id: DownloadID, _ start: String, _ text: String) {
        log(level, "GID#\(id.rawValue) - \(start)\(Aria2Advice.known(text) ?? text)")
    }

    private func log(_ level: Aria2Output.Level, _ text: String) {
        guard output.shows(level) else { return }
        let lines = text.split(at: "\n").map { PrintableText.escape(String($0)) }.joined(separator: "\n")
        write("\n\(Aria2Output.time(now())) [\(level.rawValue.uppercased())] \(lines)\n")
    }

    private func write(_ text: String) {
        if output.usesStandardError { console.message(String(text.dropLast())) } else { console.result(text) }
    }
}
