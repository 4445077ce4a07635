import Ferry
public import Foundation
import Synchronization

/// A child process that is killed when the object is released.
///
/// Replaces Foundation's `Process`, which scans all open descriptors at start and traps if there are thousands, for
/// example when all tests run at once. This type scans nothing, and the child inherits only the three streams.
public final class RunningProgram: Sendable {
    /// The end of a process.
    public enum End: Sendable, Hashable {
        case exited(Int32)
        case killed(by: Int32)

        /// The exit status as in a shell: the exit code, or 128 + the signal.
        public var code: Int32 {
            switch self {
            case .exited(let code): code
            case .killed(let signal): 128 + signal
            }
        }
    }

    /// The failure to start a program.
    public struct StartFailure: Error, CustomStringConvertible {
        public let program: String
        /// The system's `errno`.
        public let code: Int32
        public var description: String { "\(program) cannot be started: \(String(cString: strerror(code)))" }
    }

    /// The process identifier, which is also the identifier of its process group.
    public let id: Int32
    private let life: Life

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: The program and its arguments. A name without a slash is searched for in PATH.
    ///   - environment: All of its environment variables; `nil` for this process's variables.
    ///   - directory: The working directory; `nil` for this process's directory.
    ///   - input: Standard input, with `output` and `error` for the other streams; `nil` for /dev/null. The caller
    ///     closes its own copies of these handles.
    ///   - limit: The time in seconds after which the process is killed, so that no test hangs.
    /// - Throws: ``StartFailure``.
    public init(
        _ words: [String], environment: [String: String]? = nil, directory: String? = nil, input: FileHandle? = nil,
        output: FileHandle? = nil, error: FileHandle? = nil, limit: Double = 1200
    ) throws {
        var spawning = Spawning(words, environment: environment ?? ProcessInfo.processInfo.environment)
        spawning.directory = directory
        spawning.input = input?.fileDescriptor
        spawning.output = output?.fileDescriptor
        spawning.error = error?.fileDescriptor
        let id: Int32
        do throws(Spawning.Failure) { id = try spawning.start() } catch {
            throw StartFailure(program: words.first ?? "", code: error.code)
        }
        let life = Life(id)
        self.id = id
        self.life = life
        Thread.detachNewThread { life.watch() }
        DispatchQueue.global().asyncAfter(deadline: .now() + limit) { [weak life] in life?.signal(SIGKILL) }
    }

    deinit { life.abandon() }

    /// The end of the process; `nil` while it runs.
    public var ended: End? { life.end }

    /// Sends a signal, unless the process has ended.
    public func signal(_ number: Int32) { life.signal(number) }

    /// Calls the closure once, on any thread, when the process ends; immediately if it has ended.
    public func whenEnded(_ body: @escaping @Sendable (End) -> Void) { life.whenEnded(body) }

    /// Waits for the end of the process.
    public func end() async -> End {
        await withCheckedContinuation { continuation in whenEnded { continuation.resume(returning: $0) } }
    }

    /// Runs a short program to its end on this thread. Returns its end and the output of both streams.
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
        return (program.endOnThisThread(), text)
    }

    /// Runs a short program to its end on this thread. Returns the bytes that it writes to standard output.
    ///
    /// - Parameters:
    ///   - input: The path of the file at its standard input.
    ///   - mayFail: Whether the program may end in another way than by exiting with 0.
    /// - Throws: ``StartFailure``, or ``ProgramFailure`` for an end that is not permitted.
    public static func output(
        _ words: [String], reading input: String = "/dev/null", mayFail: Bool = false
    ) throws -> [UInt8] {
        let pipe = Pipe()
        guard let file = FileHandle(forReadingAtPath: input) else { throw StartFailure(program: input, code: errno) }
        defer { try? file.close() }
        let program = try RunningProgram(words, input: file, output: pipe.fileHandleForWriting)
        try pipe.fileHandleForWriting.close()
        let bytes = Array(pipe.fileHandleForReading.readDataToEndOfFile())
        let end = program.endOnThisThread()
        guard end == .exited(0) || mayFail else { throw ProgramFailure(end: end) }
        return bytes
    }

    /// The error for a program that did not exit with 0.
    public struct ProgramFailure: Error {
        public let end: End
    }

    private func endOnThisThread() -> End {
        let done = DispatchSemaphore(value: 0)
        whenEnded { _ in done.signal() }
        done.wait()
        // Uses `self` last, because its release would kill the process.
        return ended ?? .exited(0)
    }

    /// Whether a program runs and exits with 0, for checks of the machine's permissions.
    public static func succeeds(_ words: [String]) -> Bool { (try? run(words))?.end == .exited(0) }
}

extension RunningProgram {
    /// One process from start to end; outlives the object while the end is awaited.
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

        /// Kills the process and its process group because the object is released.
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

        /// Waits for the end and calls the listeners.
        func watch() {
            // Reaped under the lock, after the end was observed: a signal must not reach another process with a
            // reused identifier.
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
