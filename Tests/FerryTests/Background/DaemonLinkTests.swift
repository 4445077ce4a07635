import FerryCore
import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryAPI
@testable import FerryClient
@testable import FerryEngine

@Suite("DaemonLink", .timeLimit(.minutes(30)))
struct DaemonLinkTests {
    private func link(_ socket: String, clock: any EngineClock = SystemClock()) -> DaemonLink {
        let place = DaemonAddress.test(socket)
        return DaemonLink(place, wantsHandles: true, clock: clock)
    }

    private static let greeting = Greeting(version: "1", pid: 1, session: "test", boot: "boot")

    /// The code of the error that a body throws, with its message.
    private func error(_ body: () async throws(DownloadError) -> Void) async -> DownloadError? {
        do throws(DownloadError) { try await body() } catch { return error }
        return nil
    }

    @Test("DaemonLink: a daemon that accepts and never answers is lost to a call that only reads")
    func silent() async throws {
        let end = Release()
        defer { end.open() }
        try await ScriptedDaemon.answering { _, _ in
            end.wait()
            return nil
        } _: { socket, daemon in
            let clock = NumberedClock { _, _ in true }
            let failure = try await notForever("the failure", seen: { "\(daemon.asked)" }) {
                await error { () async throws(DownloadError) in _ = try await link(socket, clock: clock).downloads() }
            }
            #expect(failure?.code == .daemonUnavailable)
            #expect(clock.slept == [.seconds(60)])
        }
    }

    @Test("DaemonLink: a call that may take long goes on while greetings are answered, and no longer")
    func slow() async throws {
        let end = Release()
        defer { end.open() }
        try await ScriptedDaemon.answering { request, daemon in
            if request == "GET /api/v1", daemon.greetings < 4 { return Self.greeting }
            end.wait()
            return nil
        } _: { socket, daemon in
            // The sleeps of the call and of the greetings alternate.
            let clock = NumberedClock { number, _ in number % 2 == 1 || number >= 8 }
            let failure = try await notForever("the failure", seen: { "\(daemon.asked)" }) {
                await error { () async throws(DownloadError) in
                    _ = try await link(socket, clock: clock).ask(.pauseMany, as: ActionCount.self)
                }
            }
            #expect(failure?.code == .daemonUnavailable)
            #expect(daemon.greetings >= 3)
            // The greetings have a connection of their own, so the first one may arrive before the call.
            #expect(daemon.asked.filter { $0 != "GET /api/v1" } == ["POST /api/v1/downloads/pause"])
        }
    }

    @Test("DaemonLink: the event stream is opened again no earlier than Retry-After says")
    func later() async throws {
        try await ScriptedDaemon.answering { _, daemon in
            if daemon.asked.count > 1 { return try ScriptedDaemon.stream([.upToDate]) }
            return ScriptedDaemon.Reply.response(
                status: 503, fields: ["Retry-After: 40"], body: try JSONCoding.encode(Problem(.busy)))
        } _: { socket, daemon in
            // The time limits of the stream do not pass.
            let clock = NumberedClock { _, duration in duration != .seconds(60) && duration != .seconds(15) }
            let follower = OneEvent(link: link(socket, clock: clock))
            try await notForever("the event", seen: { "\(daemon.asked)" }) {
                await follower.run()
            }
            #expect(follower.failures.withLock { $0 } == [.transient(retryAfter: .seconds(40))])
            #expect(clock.slept == [.seconds(40)])
            #expect(daemon.asked == ["GET /api/v1/events", "GET /api/v1/events"])
        }
    }

    @Test("DaemonLink: a daemon that supports this program's API no longer is named by the first call")
    func otherVersion() async throws {
        try await ScriptedDaemon.answering { _, _ in
            let problem = Problem(.versionMismatch, "This daemon speaks version 8 to 9 of the API.")
            return ScriptedDaemon.Reply.response(status: 426, body: try JSONCoding.encode(problem))
        } _: { socket, daemon in
            let failure = await error { () async throws(DownloadError) in
                _ = try await link(socket).ask(.settings, as: SettingsBody.self)
            }
            #expect(failure?.code == .daemonUnavailable)
            #expect(failure?.message.contains("version 8 to 9") == true)
            #expect(failure?.suggestion == "Update Ferry.")
            #expect(daemon.asked == ["GET /api/v1/settings"])
        }
    }

    @Test("List of the daemon: a download that leaves it between two requests hides no other one")
    func moved() async throws {
        let all = Mutex((0..<2500).map { Self.listed("\($0)") })
        try await ScriptedServer.run { request, _ in
            guard request.line == "GET /api/v1/downloads",
                let items = try? QueryItems(request.query[...], known: ListQuery.names),
                let query = try? ListQuery(items)
            else { return try? ScriptedDaemon.reply(Self.common(request.line)) }
            let page = all.withLock { all in
                defer { if query.states == nil { all.removeFirst() } }
                let items = query.states == nil ? Array(all.dropFirst(query.offset).prefix(query.limit)) : []
                return DownloadPage(items: items, total: all.count, offset: query.offset)
            }
            return try? ScriptedDaemon.reply(page)
        } _: { socket, _ in
            let all = try await link(socket).downloads()
            #expect(all.map(\.id.rawValue) == (0..<2500).map { "\($0)" })
            let place = DaemonAddress.test(socket)
            let manager = DownloadManager(DownloadManager.Configuration(daemon: place))
            let listed = try await manager.downloads()
            #expect(listed.map(\.id.rawValue) == (1..<2500).map { "\($0)" })
            await manager.shutdown()
        }
    }

    private static func common(_ request: String) throws -> Any? {
        switch request {
        case "GET /api/v1": greeting
        case "POST /api/v1/sessions": SessionBody(identifier: "test", directory: "/tmp")
        case "GET /api/v1/events": try ScriptedDaemon.stream([.upToDate])
        case "GET /api/v1/sessions": SessionItems([])
        default: nil
        }
    }

    private static func listed(_ id: String) -> ListedDownload {
        var listed = ListedDownload(
            status: DownloadStatus(id: DownloadID(rawValue: id), state: .paused, name: id), session: "test",
            url: "http://127.0.0.1/a", addedAt: Date(timeIntervalSince1970: 0))
        let sources = ["http://127.0.0.1/a"].compactMap { try? DownloadURL($0) }
        listed.handle = HandleBody(
            finished: nil, request: DownloadRequest(sources: sources, destination: .directory("/tmp")))
        return listed
    }
}

extension ScriptedDaemon {
    fileprivate var greetings: Int { asked.count { $0 == "GET /api/v1" } }
}

/// Holds the threads of a daemon that does not answer.
private final class Release: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func wait() {
        semaphore.wait()
        semaphore.signal()
    }

    func open() { semaphore.signal() }
}

/// Follows the events until the first one.
private final class OneEvent: EventFollower {
    let link: DaemonLink
    let failures = Mutex<[DownloadError.Recovery]>([])
    private let taken = AsyncEvent()

    init(link: DaemonLink) { self.link = link }

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.link.follow(self) }
            await taken.wait(after: 0)
            group.cancelAll()
        }
    }

    func open(mayStart: Bool) async throws(DownloadError) -> EventReader { try await link.events(after: nil) }
    func take(_ sent: ServerSentEvent) async throws(DaemonFailure) { taken.notify() }
    func isToReopen(after failure: DownloadError?) -> Bool {
        if let failure { failures.withLock { $0.append(failure.recovery) } }
        return true
    }
    var needsDaemon: Bool { false }
}

/// A clock on which a sleep passes at once, or never: as its number, from 1, and its duration say.
private final class NumberedClock: EngineClock {
    private let state = Mutex((count: 0, slept: [Duration]()))
    private let passes: @Sendable (Int, Duration) -> Bool

    init(_ passes: @escaping @Sendable (_ number: Int, _ duration: Duration) -> Bool) { self.passes = passes }

    /// The durations that have passed.
    var slept: [Duration] { state.withLock { $0.slept } }

    func now() -> Duration { state.withLock { $0.slept.reduce(.zero, +) } }

    func date() -> Date { Date(timeIntervalSince1970: 1_750_000_000) }

    func sleep(for duration: Duration) async throws {
        let passes = state.withLock { state in
            state.count += 1
            let passes = self.passes(state.count, duration)
            if passes { state.slept.append(duration) }
            return passes
        }
        if !passes { await AsyncEvent().wait(after: 0) }
        try Task.checkCancellation()
    }
}
