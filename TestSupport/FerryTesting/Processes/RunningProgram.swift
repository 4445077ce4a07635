public import Foundation
import Synchronization

/// A program that runs beside a test, and not longer than somebody holds this.
///
/// In the place of Foundation's `Process`, whose start looks through the open descriptors and traps when there are thousands,
/// as there are while all tests run at once. Here nothing is looked through, and nothing is inherited but the three streams.
public final class RunningProgram: Sendable {
    /// How it ended.
    public enum End: Sendable, Hashable {
        case exited(Int32)
        case killed(by: Int32)

        /// As a shell says it: the exit code, or 128 + the signal.
        public var code: Int32 {
            switch self {
            case .exited(let code): code
            case .killed(let signal): 128 + signal
            }
        }
    }

    /// Why it could not be started.
    public struct StartFailure: Error, CustomStringConvertible {
        public let program: String
        /// The system's `errno`.
        public let code: Int32
        public var description: String { "\(program) cannot be started: \(String(cString: strerror(code)))" }
    }

    /// Its process id, which is its process group's too.
    public let id: Int32
    private let life: Life

    /// Starts it.
    ///
    /// - Parameters:
    ///   - words: The program and its arguments; without a slash it is looked for in PATH.
    ///   - environment: All of its variables; `nil`: ours.
    ///   - directory: Where it runs; `nil`: where we do.
    ///   - input: Where its standard input comes from, and `output` and `error` where its streams go; `nil`: /dev/null. Whoever
    ///     starts it closes these handles when nobody else is to have them.
    ///   - limit: Seconds after which it is killed, so that no test hangs on it.
    /// - Throws: ``StartFailure``.
    public init(
        _ words: [String], environment: [String: String]? = nil, directory: String? = nil, input: FileHandle? = nil,
        output: FileHandle? = nil, error: FileHandle? = nil, limit: Double = 1200
    ) throws {
        let id = try Self.spawn(
            words, environment: environment ?? ProcessInfo.processInfo.environment, directory: directory,
            streams: [input, output, error].map { $0?.fileDescriptor })
        let life = Life(id)
        self.id = id
        self.life = life
        Thread.detachNewThread { life.watch() }
        DispatchQueue.global().asyncAfter(deadline: .now() + limit) { [weak life] in life?.signal(SIGKILL) }
    }

    deinit { life.abandon() }

    /// How it ended; `nil` while it runs.
    public var ended: End? { life.end }

    /// Sends it a signal, unless it has ended.
    public func signal(_ number: Int32) { life.signal(number) }

    /// Calls the closure once, on any thread, when it has ended; at once when it has.
    public func whenEnded(_ body: @escaping @Sendable (End) -> Void) { life.whenEnded(body) }

    /// Waits for its end.
    public func end() async -> End {
        await withCheckedContinuation { continuation in whenEnded { continuation.resume(returning: $0) } }
    }

    /// Runs one to its end, on this thread, and returns what it wrote on both streams: for what is short.
    ///
    /// - Throws: ``StartFailure``.
    public static func run(
        _ words: [String], environment: [String: String]? = nil, directory: String? = nil
    ) throws -> (end: End, text: String) {
        let pipe = Pipe()
        let program = try RunningProgram(
            words, environment: environment, directory: directory, output: pipe.fileHandleForWriting,
            error: pipe.fileHandleForWriting)
        try pipe.fileHandleForWriting.close()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let done = DispatchSemaphore(value: 0)
        program.whenEnded { _ in done.signal() }
        done.wait()
        // Asked here, so that it is not let go of, and killed, before.
        return (program.ended ?? .exited(0), text)
    }

    /// Whether a program runs and says that all is well: what a machine permits, looked at before a test.
    public static func succeeds(_ words: [String]) -> Bool { (try? run(words))?.end == .exited(0) }
}

extension RunningProgram {
    /// One process from its start to its end; it outlives the object while its end is waited for.
    private final class Life: Sendable {
        private struct State {
            var end: End?
            var listeners: [@Sendable (End) -> Void] = []
        }
        private let id: Int32
        private let state = Mutex(State())

        init(_ id: Int32) { self.id = id }

        var end: End? { state.withLock { $0.end } }

        func signal(_ number: Int32) {
            state.withLock { state in if state.end == nil { _ = kill(id, number) } }
        }

        /// Nobody cares any more: it goes, with all that it has started.
        func abandon() {
            state.withLock { state in if state.end == nil { _ = kill(-id, SIGKILL) } }
        }

        func whenEnded(_ body: @escaping @Sendable (End) -> Void) {
            let end = state.withLock { state in
                if state.end == nil { state.listeners.append(body) }
                return state.end
            }
            if let end { body(end) }
        }

        /// Waits for the end and tells of it.
        func watch() {
            // Seen first, buried under the lock: a signal must not go to whoever gets its number next.
            var information = siginfo_t()
            while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
            let (end, listeners) = state.withLock { state in
                var status: Int32 = 0
                while waitpid(id, &status, 0) < 0, errno == EINTR {}
                let signal = status & 0x7F
                let end = signal == 0 ? End.exited(status >> 8 & 0xFF) : .killed(by: signal)
                state.end = end
                defer { state.listeners = [] }
                return (end, state.listeners)
            }
            for listener in listeners { listener(end) }
        }
    }
}
