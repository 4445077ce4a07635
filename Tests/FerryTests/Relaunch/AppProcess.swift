import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import Ferry

/// `ferry-app` as a process of its own, with commands as input and lines of JSON as output.
final class AppProcess: Sendable {
    /// A line of the app's output.
    struct Line: Sendable, Decodable {
        /// One download of a list.
        struct Item: Sendable, Decodable, Equatable {
            var id: String
            var state: String
            var bytes: Int64
            var total: Int64?
            var name: String
            var label: String?
            var rateLimit: Int64?
            var metered: Bool?
            var userInfo: [String: String]
            var priority: Int
            var path: String?
            var pauseReason: String?
        }
        var reply: String?
        var error: String?
        var message: String?
        var id: String?
        var items: [Item]?
        var state: String?
        var bytes: Int64?
        var data: String?
        /// A ``DownloadEvent/Kind`` as JSON.
        var event: String?
        var number: Int64?
        var delegate: String?
        /// The session of an app that the daemon has started.
        var launched: String?

        var kind: DownloadEvent.Kind? {
            event.flatMap { try? JSONDecoder().decode(DownloadEvent.Kind.self, from: Data($0.utf8)) }
        }
    }

    private struct Waiter {
        let key: Int
        let isMeant: @Sendable ([Line]) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }
    private struct State {
        var lines: [Line] = []
        var text = Data()
        var hasEnded = false
        var asked = 0
        var waiters: [Waiter] = []
        var lastKey = 0
    }
    private let program: RunningProgram
    private let input = Pipe()
    private let output = Pipe()
    private let state = Mutex(State())

    /// Starts the app; `shell` is a script for `sh -c` that runs it as `"$@"`.
    init(
        settings: [String: any Sendable], environment: [String: String] = [:], shell: String? = nil
    ) throws {
        let text = try String(decoding: JSONSerialization.data(withJSONObject: settings), as: UTF8.self)
        let binary = try BuiltProgram.url("ferry-app")
        // The app crashes on purpose in some tests, and each backtrace takes seconds.
        let inherited = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        program = try RunningProgram(
            (shell.map { ["/bin/sh", "-c", $0, "sh"] } ?? []) + [binary.path, text],
            environment: inherited.merging(environment) { $1 },
            input: input.fileHandleForReading, output: output.fileHandleForWriting, error: .standardError)
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        program.whenEnded { [weak self] _ in self?.ended() }
        let reading = output.fileHandleForReading
        Thread.detachNewThread { [weak self] in
            while case let data = reading.availableData, !data.isEmpty { self?.received(data) }
        }
    }

    var id: Int32 { program.id }

    /// The lines so far.
    var lines: [Line] { state.withLock { $0.lines } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// The delegate's calls so far, as `call id`.
    var calls: [String] { lines.compactMap { line in line.delegate.map { "\($0) \(line.id ?? "")" } } }

    /// The numbers of the reported events that ended this download.
    func numbers(of id: String) -> [Int64] { lines.compactMap { $0.id == id ? $0.number : nil } }

    // MARK: Commands

    /// Sends a command and returns the reply; `nil` when the app ended before.
    func attempt(_ what: String, _ fields: [String: any Sendable] = [:]) async throws -> Line? {
        let number = state.withLock { state in
            defer { state.asked += 1 }
            return state.asked
        }
        try send(what, fields)
        await wait { $0.count { $0.reply != nil } > number }
        let replies = lines.filter { $0.reply != nil }
        return replies.count > number ? replies[number] : nil
    }

    /// Sends a command and expects a reply without an error.
    @discardableResult
    func ask(
        _ what: String, _ fields: [String: any Sendable] = [:], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Line {
        let line = try #require(
            try await attempt(what, fields), "the app has ended", sourceLocation: sourceLocation)
        #expect(line.error == nil, "\(what): \(line.message ?? "")", sourceLocation: sourceLocation)
        return line
    }

    /// The listed downloads.
    func list() async throws -> [Line.Item] { try #require(await ask("list").items) }

    /// Sends a command that ends the app before it replies.
    func send(_ what: String, _ fields: [String: any Sendable] = [:]) throws {
        var object = fields
        object["what"] = what
        var data = try JSONSerialization.data(withJSONObject: object)
        data.append(UInt8(ascii: "\n"))
        // An app that has ended reads no more.
        try? input.fileHandleForWriting.write(contentsOf: data)
    }

    /// Waits until the lines meet a condition, or the app has ended.
    func wait(_ isMeant: @escaping @Sendable ([Line]) -> Bool) async {
        let key = state.withLock { state in
            state.lastKey += 1
            return state.lastKey
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if state.hasEnded || Task.isCancelled || isMeant(state.lines) { return true }
                    state.waiters.append(Waiter(key: key, isMeant: isMeant, continuation: continuation))
                    return false
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.key == key }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume()
        }
    }

    /// Waits for a call of the delegate, in the form of ``calls``.
    func waitForCall(_ call: String) async {
        await wait { $0.contains { "\($0.delegate ?? "") \($0.id ?? "")" == call } }
    }

    /// Waits until the app has printed the event that ended this download; closed earlier, the next launch gets it.
    func waitForEnd(of id: String) async {
        await wait { $0.contains { $0.id == id && $0.number != nil } }
    }

    // MARK: Ending

    /// Sends SIGKILL and waits for the end; not for an app that a shell has started.
    func kill() async {
        program.signal(SIGKILL)
        await ended()
    }

    /// Shuts the manager down, lets the app exit, and waits for its end; does nothing if it has already ended.
    func close() async throws {
        _ = try await attempt("shutdown")
        // The input may not reach its end: another child may hold the pipe.
        try send("exit")
        await ended()
    }

    private func ended() async { await wait { _ in false } }

    private func ended() {
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    private func received(_ data: Data) {
        let ready = state.withLock { state in
            state.text.append(data)
            while let end = state.text.firstIndex(of: UInt8(ascii: "\n")) {
                let line = state.text[state.text.startIndex..<end]
                state.text = Data(state.text[state.text.index(after: end)...])
                if let line = try? JSONDecoder().decode(Line.self, from: Data(line)) { state.lines.append(line) }
            }
            let lines = state.lines
            let ready = state.waiters.filter { $0.isMeant(lines) }
            state.waiters.removeAll { waiter in ready.contains { $0.key == waiter.key } }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }
}
