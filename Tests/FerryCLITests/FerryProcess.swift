import FerryTesting
import Foundation
import Synchronization

/// The binary as a process of its own, with streams that a test can inspect and a guard against hanging.
final class FerryProcess: Sendable {
    /// Whether the binary has the thread sanitizer, as the tests have: limits of memory and of files would apply to the
    /// sanitizer's own.
    static let isSanitized = dlsym(nil, "__tsan_acquire") != nil

    /// The destination of standard output and standard error.
    enum Stream: Sendable {
        case captured
        /// A pseudo-terminal of this size; its contents are in ``Outcome/terminal``.
        case terminal(columns: Int, lines: Int)
        /// A pipe whose reading end is closed.
        case closedPipe
        /// One end of a pipe or a file of the test; closed here once the process has it.
        case handle(FileHandle)
    }

    /// The end of the process, and its output.
    struct Outcome: Sendable {
        /// The exit code; 128 + the signal when one killed it.
        var code: Int32
        var output: Data
        var error: String
        /// The bytes written to the pseudo-terminal.
        var terminal: String
        var text: String { String(decoding: output, as: UTF8.self) }
        var lines: [String] { text.split(separator: "\n").map(String.init) }
    }

    private struct State {
        var terminal: [UInt8] = []
        var code: Int32?
        var waiting: [CheckedContinuation<Int32, Never>] = []
        var watchers: [(text: String, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let program: RunningProgram
    /// Kept alive: the directory is deleted with its last reference.
    private let place: Workplace
    private let state = Mutex(State())
    private let files: URL
    private let pty: PseudoTerminal?

    var id: Int32 { program.id }

    /// Starts the process.
    ///
    /// - Parameters:
    ///   - shell: A line for `sh -c` that begins the program with `"$@"`; `nil` starts it directly.
    ///   - limit: Seconds after which it is killed, so that no test hangs on it.
    init(
        _ arguments: [String], in place: Workplace, environment: [String: String] = [:], input: String? = nil,
        output: Stream = .captured, error: Stream = .captured, shell: String? = nil, limit: Double = 1200
    ) throws {
        self.place = place
        let files = FileManager.default.temporaryDirectory.appending(path: "ferry-cli-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        var pty: PseudoTerminal?
        if case .terminal(let columns, let lines) = error { pty = try PseudoTerminal(columns: columns, lines: lines) }
        var words = [try BuiltProgram.url("ferry").path] + arguments
        if let shell { words = ["/bin/sh", "-c", shell, "sh"] + words }
        var all = ["PATH": "/usr/bin:/bin", "HOME": place.url.path, "TERM": "xterm", "LC_ALL": "C.UTF-8"]
        all.merge(environment) { $1 }
        program = try RunningProgram(
            words, environment: all, directory: place.url.path, input: Self.handle(for: input, in: files),
            output: Self.handle(output, pty, in: files, name: "output"),
            error: Self.handle(error, pty, in: files, name: "error"), limit: limit)
        (self.files, self.pty) = (files, pty)
        pty?.closeChildSide()
        if case .handle(let handle) = output { try handle.close() }
        pty?.read { [weak self] bytes in self?.received(bytes) }
        program.whenEnded { [weak self] end in self?.ended(end.code) }
    }

    deinit { try? FileManager.default.removeItem(at: files) }

    /// Runs the binary to its end.
    static func run(
        _ arguments: [String], in place: Workplace, environment: [String: String] = [:], input: String? = nil,
        output: Stream = .captured, error: Stream = .captured, shell: String? = nil
    ) async throws -> Outcome {
        try await FerryProcess(
            arguments, in: place, environment: environment, input: input, output: output, error: error, shell: shell
        ).outcome()
    }

    var hasEnded: Bool { state.withLock { $0.code != nil } }

    func signal(_ number: Int32) { program.signal(number) }

    /// Resizes the pseudo-terminal.
    func resize(columns: Int, lines: Int) { pty?.resize(columns: columns, lines: lines) }

    /// Types on the pseudo-terminal.
    func type(_ text: String) { pty?.write(text) }

    /// Returns when this text has appeared on the pseudo-terminal, or when the process has ended.
    func waitForTerminal(_ text: String) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.code != nil || Self.contains(state.terminal, text) { return true }
                state.watchers.append((text, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Waits for the end.
    func outcome() async throws -> Outcome {
        let code = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let code = state.withLock { state in
                    if state.code == nil { state.waiting.append(continuation) }
                    return state.code
                }
                if let code { continuation.resume(returning: code) }
            }
        } onCancel: {
            signal(SIGKILL)
        }
        await pty?.drained()
        let error = (try? Data(contentsOf: files.appending(path: "error"))) ?? Data()
        return Outcome(
            code: code, output: (try? Data(contentsOf: files.appending(path: "output"))) ?? Data(),
            error: String(decoding: error, as: UTF8.self),
            terminal: state.withLock { String(decoding: $0.terminal, as: UTF8.self) })
    }

    private func ended(_ code: Int32) {
        let (waiting, watchers) = state.withLock { state in
            state.code = code
            defer {
                state.waiting = []
                state.watchers = []
            }
            return (state.waiting, state.watchers)
        }
        for continuation in waiting { continuation.resume(returning: code) }
        for watcher in watchers { watcher.continuation.resume() }
    }

    private func received(_ bytes: [UInt8]) {
        let ready = state.withLock { state in
            state.terminal += bytes
            let ready = state.watchers.filter { Self.contains(state.terminal, $0.text) }
            state.watchers.removeAll { Self.contains(state.terminal, $0.text) }
            return ready
        }
        for watcher in ready { watcher.continuation.resume() }
    }

    private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        String(decoding: bytes, as: UTF8.self).contains(text)
    }

    private static func handle(
        _ stream: Stream, _ pty: PseudoTerminal?, in files: URL, name: String
    ) throws -> FileHandle? {
        switch stream {
        case .captured:
            let url = files.appending(path: name)
            try Data().write(to: url)
            return try FileHandle(forWritingTo: url)
        case .terminal: return pty?.child
        case .closedPipe:
            let pipe = Pipe()
            try pipe.fileHandleForReading.close()
            return pipe.fileHandleForWriting
        case .handle(let handle): return handle
        }
    }

    private static func handle(for input: String?, in files: URL) throws -> FileHandle? {
        guard let input else { return nil }
        let url = files.appending(path: "input")
        try Data(input.utf8).write(to: url)
        return try FileHandle(forReadingFrom: url)
    }
}
