import Ferry
package import FerryAPI
import FerryClient
package import FerryCore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Runs `ferry watch`: follows the daemon's events, draws them, and handles keys and signals.
///
/// Ends with `q`, with a signal, or when all selected downloads have ended.
package final class WatchRun: Sendable {
    private struct State {
        var board = WatchBoard()
        var plain = PlainProgress()
        /// The selected downloads that have not ended; `nil` without a selection.
        var awaited: Set<DownloadID>?
        /// The selected downloads whose end has not been printed yet.
        var untold: [DownloadID] = []
        /// The last known names of the selected downloads.
        var names: [DownloadID: String] = [:]
        /// The selected downloads that left the list before their end was seen.
        var left: Set<DownloadID> = []
        var codes: Set<ExitCode> = []
        var code: ExitCode?
        /// The failure that a retry would not change.
        var refusal: DownloadError?
        /// Whether the event stream has been open.
        var wasOpen = false
        /// The identifier of the last event of the stream.
        var last: String?
        var isChanged = false
        /// When the last frame was drawn. Frames show times, which change without an event.
        var drawnAt: ContinuousClock.Instant?
        /// Whether to report the selected downloads once the list is complete.
        var tellsWaiting = false

        /// Stops waiting for downloads that have ended; `nil` checks all of them. Returns whether none is left.
        mutating func settle(_ ids: [DownloadID]?) -> Bool {
            guard let awaited else { return false }
            for id in ids ?? Array(awaited) where awaited.contains(id) {
                switch board.download(id)?.status.state {
                case .failed(let error): codes.insert(ExitCode.of(error))
                case .cancelled: codes.insert(.conflict)
                case nil:
                    codes.insert(.conflict)
                    left.insert(id)
                case .completed: break
                default: continue
                }
                self.awaited?.remove(id)
            }
            return self.awaited?.isEmpty == true
        }
    }

    private let link: DaemonLink
    /// The watched session, or `all`; `nil` for the session of the command line and the page.
    private let session: String?
    private let console: Console
    private let style: ProgressStyle
    private let terminal: RawTerminal?
    private let state = Mutex(State())
    /// Held while a frame is made and written, so that an older frame never replaces a newer one.
    private let drawing = Mutex(())
    private let start = ContinuousClock.now
    /// Notified when the list must be read again.
    private let stale = AsyncEvent()
    /// Finishes when the run is over.
    private let end: AsyncStream<Never>
    private let endNow: AsyncStream<Never>.Continuation

    init(_ link: DaemonLink, session: String? = nil, console: Console, style: ProgressStyle) {
        self.link = link
        self.session = session
        self.console = console
        self.style = style
        var terminal: RawTerminal?
        if case .bars = style { terminal = RawTerminal() }
        self.terminal = terminal
        (end, endNow) = AsyncStream.makeStream()
    }

    /// Watches the selected downloads until they have ended; `all` selects those that have not ended yet. Without a
    /// selection, watches all downloads indefinitely. Throws if the daemon refuses the requests.
    func run(_ words: [String], signals: AsyncStream<Int32>) async throws -> ExitCode {
        defer { terminal?.giveBack() }
        if !words.isEmpty {
            let named: [ListedDownload]
            if words == ["all"] {
                named = try await downloads().filter { !StateKind($0.status.state).isOver }
            } else {
                let body = SelectionBody(words: words)
                named = try await link.ask(.find, query: sessionQuery, json: body, as: DownloadItems.self).items
            }
            state.withLock { state in
                state.awaited = Set(named.map(\.id))
                state.board.only = state.awaited
                state.untold = named.map(\.id)
                state.names = Dictionary(named.map { ($0.id, $0.status.name) }) { $1 }
            }
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.link.follow(self) }
            group.addTask { await self.tick() }
            group.addTask { await self.refresh() }
            group.addTask {
                for await key in self.terminal?.keys ?? AsyncStream(unfolding: { nil }) { await self.handle(key) }
            }
            group.addTask { for await signal in signals { self.handle(signal: signal) } }
            for await _ in end {}
            group.cancelAll()
        }
        console.draw([])
        if style != .json { summarize() }
        let (code, refusal) = state.withLock { ($0.code ?? ExitCode.combine($0.codes), $0.refusal) }
        if let refusal { throw refusal }
        return code
    }

    private func downloads() async throws(DownloadError) -> [ListedDownload] {
        try await link.downloads(sessionQuery)
    }

    private var sessionQuery: [(name: String, value: String)] { session.map { [("session", $0)] } ?? [] }

    private func finish(_ code: ExitCode? = nil) {
        state.withLock { $0.code = $0.code ?? code }
        endNow.finish()
    }

    // MARK: Events

    private func take(_ event: StreamEvent, _ sent: ServerSentEvent) async {
        if style == .json {
            let only = state.withLock { $0.board.only }
            if let shown = only.map({ event.only($0) }) ?? event,
                let data = only == nil ? sent.data : (try? shown.data()).map({ String(decoding: $0, as: UTF8.self) })
            {
                let line = (JSONLine.streamed(event.name.rawValue, data: data)?.text ?? "") + "\n"
                if case .progress = event { console.passing(line) } else { console.result(line) }
            }
        }
        let isStale = state.withLock { state in
            state.board.take(event)
            state.isChanged = true
            if case .reset = event { state.tellsWaiting = true }
            if case .state(let download) = event, state.names[download.id] != nil {
                state.names[download.id] = download.status.name
            }
            return state.board.isStale
        }
        if isStale { stale.notify() }
        switch event {
        case .happened(let body): tell(body.event)
        case .reset: settle()
        case .state(let download): settle([download.id])
        case .removed(let ids, _): settle(ids.map { DownloadID(rawValue: $0) })
        default: break
        }
    }

    /// Reads the list when an event requires it, while further events are processed. A list that changes constantly is
    /// read once a second.
    private func refresh() async {
        while !Task.isCancelled {
            let seen = stale.count
            guard state.withLock({ $0.board.isStale }) else {
                await stale.wait(after: seen)
                continue
            }
            state.withLock { $0.board.beginReading() }
            let page = try? await link.page(sessionQuery)
            state.withLock { state in
                state.board.finishReading(page?.items, asOf: page?.asOf ?? 0)
                state.isChanged = true
            }
            settle()
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// Prints a line for an event if nothing is drawn in place.
    private func tell(_ event: DownloadEvent) {
        let (isShown, known) = state.withLock { state in
            (state.board.only?.contains(event.id) ?? true, state.board.download(event.id)?.status.name)
        }
        guard style == .lines, isShown else { return }
        let name = known ?? event.id.rawValue
        switch event.kind {
        case .completed(let file): console.message(("\(name): done, \(file.path)" as Reason).shown)
        case .failed(let error): console.message("ferry: " + ErrorText.line(error, name: name))
        default:
            if let line = EventText.line(
                event.kind, reason: event.reason(in: .current), name: name, detail: .verbose)
            {
                console.message(line)
            }
        }
        state.withLock { state in
            guard event.kind.isEnd else { return }
            state.plain.ended(event.id)
            state.untold.removeAll { $0 == event.id }
        }
    }

    /// Prints the reasons why selected downloads do not run, if nothing is drawn in place.
    private func tellWaiting() {
        guard style == .lines else { return }
        let named = state.withLock { state in state.untold.compactMap { state.board.download($0) } }
        for one in named.prefix(Self.mostNamed) where [.waiting, .paused].contains(one.status.state.kind) {
            let reason = DownloadTable.reason(one).map { "; " + $0 } ?? ""
            console.message(PrintableText.escape(one.status.name + ": " + DownloadTable.state(one)) + reason)
        }
    }

    /// Prints the ends of selected downloads that have not been printed yet, and the counts if several are selected.
    private func summarize() {
        let (board, untold, count) = state.withLock { state in
            (state.board, state.awaited?.isEmpty == true ? state.untold : [], state.board.only?.count ?? 0)
        }
        for id in untold.prefix(Self.mostNamed) {
            guard let one = board.download(id) else {
                if let name = state.withLock({ $0.left.contains(id) ? $0.names[id] : nil }) {
                    let line: Reason = "\(name): removed from the list before it was complete"
                    console.message("ferry: " + line.shown)
                }
                continue
            }
            switch one.status.state {
            case .completed: console.message(("\(one.status.name): done, \(one.status.path ?? "")" as Reason).shown)
            case .failed(let error): console.message("ferry: " + ErrorText.line(error, name: one.status.name))
            default: console.message(PrintableText.escape("\(one.status.name): \(DownloadTable.state(one))"))
            }
        }
        if count > 1, state.withLock({ $0.awaited?.isEmpty == true }) {
            console.message(board.counts.joined(separator: PlainProgress.comma))
        }
    }

    /// The maximum number of downloads that are named individually.
    private static let mostNamed = 20

    /// Stops waiting for selected downloads that have ended.
    private func settle(_ ids: [DownloadID]? = nil) {
        let (isOver, tellsWaiting) = state.withLock { state -> (Bool, Bool) in
            // While the list is incomplete, a removed download cannot be told apart from one that has not been read yet.
            guard !state.board.isIncomplete else { return (false, false) }
            defer { state.tellsWaiting = false }
            return (state.settle(ids), state.tellsWaiting)
        }
        if tellsWaiting { tellWaiting() }
        if isOver { finish() }
    }

    // MARK: Display

    private func tick() async {
        guard let interval = style.interval, style != .json else { return }
        while !Task.isCancelled {
            show()
            try? await Task.sleep(for: interval)
        }
    }

    private func show() {
        switch style {
        case .bars(let color): drawing.withLock { _ in draw(color) }
        case .lines:
            let elapsed = ContinuousClock.now - start
            let lines = state.withLock { state in
                let running = state.board.runningDownloads.map(\.status).filter { $0.state == .downloading }
                let whole = WholeProgress(fileCount: running.count)
                return running.count > PlainProgress.fewFiles
                    ? [] : state.plain.lines(running, whole: whole, elapsed: elapsed)
            }
            for line in lines { console.message(line) }
        case .json, .none: break
        }
    }

    /// Draws a frame if an event or a key has changed it, and once a second, because it shows times.
    private func draw(_ color: Bool) {
        guard TerminalSize.isForeground(2) else { return }
        let size = TerminalSize.current(2)
        let renderer = WatchRenderer(
            width: size.columns > 24 ? size.columns - 3 : size.columns, height: size.lines, usesColor: color)
        let now = ContinuousClock.now
        // Under the lock, instead of on a copy of the board: a copy would force the next event to copy a long list.
        let lines: [String]? = state.withLock { state in
            guard state.isChanged || state.drawnAt.map({ now - $0 >= .seconds(1) }) != false else { return nil }
            (state.isChanged, state.drawnAt) = (false, now)
            state.board.settle()
            return renderer.lines(state.board, now: Date(), hasKeys: terminal != nil)
        }
        if let lines { console.draw(lines) }
    }

    // MARK: Input

    private func handle(_ key: WatchKey) async {
        let order = state.withLock { state in
            state.isChanged = true
            return state.board.press(key)
        }
        // After several keys in quick succession, the next tick draws their combined result.
        let isFirst = state.withLock { state in
            state.drawnAt.map { ContinuousClock.now - $0 >= Self.betweenKeys } ?? true
        }
        if isFirst, case .bars = style { show() }
        do throws(DownloadError) {
            switch order {
            case nil: break
            case .pause(let id): try await act(.pause, on: id)
            case .resume(let id): try await act(.resume, on: id)
            case .cancel(let id): try await act(.cancel, on: id)
            case .remove(let id):
                _ = try await link.ask(.removeMany, json: RemovalBody([id.rawValue]), as: ActionCount.self)
            case .limit(let limit):
                var change = SettingsChange()
                change.rateLimit = .set(limit)
                _ = try await link.ask(.changeSettings, json: change, as: SettingsBody.self)
            case .quit: finish(.done)
            }
        } catch {
            console.message("ferry: " + ErrorText.line(error, name: ""))
        }
    }

    private static let betweenKeys = Duration.milliseconds(30)

    private func act(_ route: Route, on id: DownloadID) async throws(DownloadError) {
        _ = try await link.ask(route, id: id.rawValue, as: ListedDownload.self)
    }

    private func handle(signal: Int32) {
        switch signal {
        case SignalWatch.suspending:
            terminal?.giveBack()
            console.suspend()
            SignalWatch.suspend()
            terminal?.take()
            console.forget()
            state.withLock { $0.isChanged = true }
        case SignalWatch.continuing: break
        default: finish(SignalWatch.exitCode(signal))
        }
    }
}

extension WatchRun: EventFollower {
    package func open(mayStart: Bool) async throws(DownloadError) -> EventReader {
        let stream = try await link.events(after: state.withLock { $0.last }, of: session)
        state.withLock { state in
            state.wasOpen = true
            state.board.isLost = false
        }
        return stream
    }

    package func take(_ sent: ServerSentEvent) async throws(DaemonFailure) {
        if let event = try? StreamEvent(sent) { await take(event, sent) }
        if let id = sent.id { state.withLock { $0.last = id } }
    }

    package func isToReopen(after failure: DownloadError?) -> Bool {
        let (isOver, isNew) = state.withLock { state in
            if let failure, !state.wasOpen || failure.isLasting {
                state.refusal = failure
                return (true, false)
            }
            defer { state.board.isLost = true }
            state.isChanged = true
            return (false, !state.board.isLost)
        }
        if isOver { endNow.finish() }
        if isNew, style == .lines {
            console.message("ferry: " + ("the daemon does not answer; trying again" as Reason).local)
        }
        return !isOver
    }

    package var needsDaemon: Bool { false }
}

extension DownloadError {
    /// Whether a retry would fail in the same way, because the daemon refuses the request or has another version. A
    /// daemon that does not respond, or is shutting down, may become available again.
    package var isLasting: Bool {
        if case .transient = recovery { false } else { code != .shutDown }
    }
}

extension RemoteRun {
    /// Runs `ferry watch`.
    package func watch(_ words: [String], showsProgress: Bool = true) async throws -> ExitCode {
        let environment = ProcessInfo.processInfo.environment
        let options = OutputOptions(
            result: json ? .json : .paths(end: 0x0A), showsProgress: showsProgress)
        let style = ProgressStyle.choose(
            options, canDraw: TerminalSize.canDraw(2, environment: environment), environment: environment)
        let watch = SignalWatch()
        return try await WatchRun(link, session: session, console: console, style: style).run(
            words, signals: watch?.signals ?? AsyncStream { _ in })
    }
}
