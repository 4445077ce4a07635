package import FerryCore
package import FerryEngine
import Foundation
package import HTTPTypes
import Synchronization
package import SystemPackage

/// A model of the service that transfers for suspended apps, by the rules that Apple documents for background sessions:
///
/// - tasks outlive the process and continue while no process exists;
/// - events are delivered only while the app runs and has recreated its session, one at a time, each task's file before its
///   end;
/// - the temporary file no longer exists when the handler has returned, and it was never synced;
/// - each task that is started in the background waits longer than the previous one: 60 s, doubled each time, until the user
///   brings the app to the foreground;
/// - a force quit cancels all tasks with the reason 0, and nothing wakes the app until the user starts it;
/// - redirects are followed, and failed requests repeated, without an event; a task may be lost, or fail with -997;
/// - the end of the events of a wake is reported once.
package final class ScriptedSystem: Sendable {
    package enum App: Sendable, Hashable {
        case absent, suspended, background, foreground
        var runs: Bool { self == .background || self == .foreground }
    }

    /// The probabilities of faults in each step of a task.
    package struct Script: Sendable {
        package var loses = 0.0
        package var fails = 0.0
        package var repeats = 0.0
        /// The time in seconds for which events wait before any is delivered.
        package var silence = 0.0
        /// Whether the event of a file is delivered again if the process died in its handler.
        package var redelivers = true
        /// Whether the app is informed of received bytes while it runs.
        package var tells = false

        package init() {}
    }

    private struct Work: Sendable {
        let id: Int
        let request: LeasedRequest
        let beginsAt: Double
        var received: ByteCount = 0
        var answer: ScriptedOrigin.Answer?

        var task: SystemTask { SystemTask(id: id, ticket: request.ticket, received: received) }
    }

    private enum Event: Sendable {
        case landed(SystemTask, ScriptedOrigin.Answer)
        case wrote(SystemTask)
        case ended(SystemTask, SystemFailure?)
    }

    private struct Connection: Sendable {
        let isAlive: @Sendable () -> Bool
        var handler: (@Sendable (SystemEvent) -> Void)?
    }

    private struct State: Sendable {
        var random: SeededGenerator
        var script: Script
        var origins: [String: ScriptedOrigin]
        /// Redirects, by the path of the URL.
        var redirects: [String: DownloadURL] = [:]
        var sent: [(url: DownloadURL, fields: HTTPFields)] = []
        var disk: any FileSystem
        var now = 0.0
        var app = App.absent
        var works: [Int: Work] = [:]
        var events: [Event] = []
        var lastID = 0
        var connection: Connection?
        var owesDrained = false
        var isQuit = false
        /// The number of tasks begun in the background since the user last saw the app.
        var begunInBackground = 0
        var quietUntil = 0.0
        /// Whether the app was last resumed or started by the system, not by the user.
        var isWoken = false

        var canDeliver: Bool { app.runs && now >= quietUntil && connection?.isAlive() == true }

        /// Sends a request, and repeats it with all its fields when it is redirected.
        mutating func request(_ request: LeasedRequest) -> ScriptedOrigin.Answer? {
            var url = request.url
            sent.append((url, request.fields))
            for _ in 0..<20 {
                guard let next = redirects[url.path] else { break }
                url = next
                sent.append((url, request.fields))
            }
            return origins[url.path]?.answer(request.fields, using: &random)
        }

        /// Lets a task transfer some bytes.
        mutating func transfer(_ work: Work) {
            var work = work
            func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
            if chance(script.loses) {
                works[work.id] = nil
                return
            }
            if chance(script.fails) {
                works[work.id] = nil
                let code = [-1001, -1005, -1009, -997, -999].randomElement(using: &random) ?? -1001
                events.append(.ended(work.task, SystemFailure(code: code, reason: code == -999 ? 2 : nil)))
                return
            }
            if work.answer == nil || chance(script.repeats) {
                // Restarted, with another response.
                work.answer = request(work.request)
                work.received = 0
            }
            guard let answer = work.answer else {
                works[work.id] = nil
                return events.append(.ended(work.task, SystemFailure(code: -1003)))
            }
            let size = ByteCount(answer.body.count)
            let shares: [Double] = [0.3, 0.85, 1]
            let share = shares.randomElement(using: &random) ?? 1
            work.received = min(size, work.received + max(1, ByteCount(share * Double(size))))
            if work.received < size {
                works[work.id] = work
                if script.tells, canDeliver { events.append(.wrote(work.task)) }
            } else {
                works[work.id] = nil
                events.append(.landed(work.task, answer))
                events.append(.ended(work.task, nil))
            }
        }
    }

    private let state: Mutex<State>
    private let directory: FilePath

    /// - Parameters:
    ///   - directory: The directory of the temporary files.
    ///   - origins: The servers, by the path of the URL.
    package init(
        disk: any FileSystem, directory: FilePath, origins: [String: ScriptedOrigin], script: Script = Script(),
        seed: UInt64
    ) {
        self.directory = directory
        state = Mutex(
            State(random: SeededGenerator(seed: seed), script: script, origins: origins, disk: disk))
    }

    // MARK: The world

    /// Changes a server.
    package func change(_ path: String, _ body: (inout ScriptedOrigin) -> Void) {
        state.withLock { state in
            guard var origin = state.origins[path] else { return }
            body(&origin)
            state.origins[path] = origin
        }
    }

    /// Redirects requests for a path to another URL.
    package func redirect(_ path: String, to url: DownloadURL) { state.withLock { $0.redirects[path] = url } }

    /// All requests that were sent, including redirected ones.
    package var sent: [(url: DownloadURL, fields: HTTPFields)] { state.withLock { $0.sent } }

    package func origin(_ path: String) -> ScriptedOrigin? { state.withLock { $0.origins[path] } }

    /// The paths of all servers, sorted.
    package var paths: [String] { state.withLock { $0.origins.keys.sorted() } }

    package func set(_ script: Script) { state.withLock { $0.script = script } }

    /// Replaces the disk after a crash.
    package func set(disk: any FileSystem) {
        state.withLock { state in
            state.disk = disk
            state.connection = nil
            state.app = .absent
        }
    }

    /// Changes the state of the app.
    package func set(app: App) {
        state.withLock { state in
            if app.runs, !state.app.runs {
                state.owesDrained = true
                state.quietUntil = state.now + state.script.silence
            }
            state.app = app
            if app == .foreground {
                state.begunInBackground = 0
                state.isQuit = false
                state.isWoken = false
            }
            if app == .absent { state.connection = nil }
        }
    }

    /// Simulates that the user removes the app from the list of running apps.
    package func forceQuit() {
        state.withLock { state in
            for id in state.works.keys.sorted() {
                guard let work = state.works.removeValue(forKey: id) else { continue }
                state.events.append(.ended(work.task, SystemFailure(code: SystemFailure.cancelled, reason: 0)))
            }
            state.isQuit = true
            state.app = .absent
            state.connection = nil
        }
    }

    /// Whether the system would resume or start the app now.
    package var wantsToWake: Bool {
        state.withLock { !$0.app.runs && !$0.isQuit && !$0.events.isEmpty && $0.works.isEmpty }
    }

    /// The requests of the current tasks, in the order of their numbers.
    package var requests: [LeasedRequest] {
        state.withLock { state in state.works.values.sorted { $0.id < $1.id }.map(\.request) }
    }

    package var now: Double { state.withLock { $0.now } }
    /// The times at which the current tasks may start, in the order of their numbers.
    package var beginnings: [Double] {
        state.withLock { state in state.works.values.sorted { $0.id < $1.id }.map(\.beginsAt) }
    }

    // MARK: Transfers

    /// Lets time pass. At most four tasks per host transfer bytes.
    package func advance(by seconds: Double) {
        state.withLock { state in
            state.now += seconds
            var active: [String: Int] = [:]
            for id in state.works.keys.sorted() {
                guard let work = state.works[id], work.beginsAt <= state.now else { continue }
                let host = work.request.url.host
                active[host, default: 0] += 1
                if active[host, default: 0] <= HandoverLimits.connectionsPerHost { state.transfer(work) }
            }
        }
    }

    /// Delivers events until none is waiting or the process has died.
    package func deliver() {
        while let event = nextEvent() {
            switch event.event {
            case .landed(let task, let answer): hand(answer, of: task, to: event)
            case .wrote(let task): event.handler(.wrote(task))
            case .ended(let task, let failure): event.handler(.ended(task, failure))
            }
            guard event.isAlive() else { return }
        }
        let handler = state.withLock { state -> (@Sendable (SystemEvent) -> Void)? in
            guard state.canDeliver, state.owesDrained, state.events.isEmpty else { return nil }
            state.owesDrained = false
            return state.connection?.handler
        }
        handler?(.drained)
    }

    private struct Delivery: Sendable {
        let event: Event
        let handler: @Sendable (SystemEvent) -> Void
        let isAlive: @Sendable () -> Bool
        let disk: any FileSystem
    }

    private func nextEvent() -> Delivery? {
        state.withLock { state in
            guard state.canDeliver, !state.events.isEmpty, let connection = state.connection,
                let handler = connection.handler
            else { return nil }
            return Delivery(
                event: state.events.removeFirst(), handler: handler, isAlive: connection.isAlive, disk: state.disk)
        }
    }

    private func hand(_ answer: ScriptedOrigin.Answer, of task: SystemTask, to delivery: Delivery) {
        let path = directory.appending("CFNetworkDownload_\(task.id).tmp")
        let disk = delivery.disk
        try? disk.removeIfPresent(path)
        guard let file = try? disk.create(path, mode: 0o600) else { return }
        try? file.write(answer.body, at: 0)
        file.close()
        delivery.handler(.landed(task, head: answer.head, file: path))
        let isThere = (try? disk.exists(path)) == true
        if isThere { try? disk.removeIfPresent(path) }
        if !delivery.isAlive(), isThere {
            state.withLock { state in
                if state.script.redelivers { state.events.insert(.landed(task, answer), at: 0) }
            }
        }
    }

    // MARK: The session

    /// Recreates the session, for a process that lives as long as the closure returns true.
    package func session(isAlive: @escaping @Sendable () -> Bool = { true }) -> ScriptedSystemSession {
        state.withLock { state in
            state.connection = Connection(isAlive: isAlive)
            state.owesDrained = true
        }
        return ScriptedSystemSession(self, isAlive)
    }

    fileprivate func set(_ handler: @escaping @Sendable (SystemEvent) -> Void) {
        state.withLock { state in
            if state.connection != nil { state.connection?.handler = handler }
        }
    }

    fileprivate func tasks() -> [SystemTask] {
        state.withLock { state in state.works.values.map(\.task).sorted { $0.id < $1.id } }
    }

    fileprivate func begin(_ requests: [LeasedRequest]) -> [LeaseNumber: Int] {
        state.withLock { state in
            var begun: [LeaseNumber: Int] = [:]
            for request in requests {
                state.lastID += 1
                var beginsAt = state.now
                if state.app != .foreground, state.isWoken {
                    state.begunInBackground += 1
                    beginsAt += 60 * Double(1 << min(state.begunInBackground - 1, 20))
                }
                if let earliest = request.earliestBegin {
                    beginsAt = max(beginsAt, earliest.timeIntervalSince1970 - Self.epoch)
                }
                state.works[state.lastID] = Work(id: state.lastID, request: request, beginsAt: beginsAt)
                begun[request.lease.number] = state.lastID
            }
            return begun
        }
    }

    /// The time 0, in seconds since 1970.
    package static let epoch = 1_760_000_000.0

    /// Simulates that the system, not the user, resumes or starts the app.
    package func wake() {
        set(app: .background)
        state.withLock { $0.isWoken = true }
    }

    fileprivate func cancel(_ id: Int) {
        state.withLock { state in
            guard let work = state.works.removeValue(forKey: id) else { return }
            state.events.append(.ended(work.task, SystemFailure(code: SystemFailure.cancelled)))
        }
    }
}

/// The session of one process. Calls of a process that was killed have no effect.
package final class ScriptedSystemSession: SystemTransferSession {
    private let system: ScriptedSystem
    private let isAlive: @Sendable () -> Bool

    fileprivate init(_ system: ScriptedSystem, _ isAlive: @escaping @Sendable () -> Bool) {
        self.system = system
        self.isAlive = isAlive
    }

    package func tasks() async -> [SystemTask] { isAlive() ? system.tasks() : [] }
    package func begin(_ requests: [LeasedRequest]) async -> [LeaseNumber: Int] {
        isAlive() ? system.begin(requests) : [:]
    }
    package func cancel(_ task: Int) { if isAlive() { system.cancel(task) } }
    package func setHandler(_ handler: @escaping @Sendable (SystemEvent) -> Void) {
        if isAlive() { system.set(handler) }
    }
}
