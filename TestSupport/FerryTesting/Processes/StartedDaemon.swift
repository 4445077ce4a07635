import Foundation

/// A daemon that an app or a command started, identified by its state directory.
public struct StartedDaemon: Sendable {
    private let state: String
    private var lock: String { state + "/daemon.lock" }

    public init(state: String) { self.state = state }

    /// The process identifier in the lock file; `nil` if there is none. The process may have ended.
    public var process: Int32? {
        (try? String(contentsOfFile: lock, encoding: .utf8))
            .flatMap { Int32($0.prefix { !$0.isNewline }) }
    }

    /// The observable state of the daemon: its process, its files, and the end of its log.
    public var sight: String {
        let status = process.flatMap { try? String(contentsOfFile: "/proc/\($0)/status", encoding: .utf8) }
        let log = (try? String(contentsOfFile: state + "/daemon.log", encoding: .utf8)) ?? "no log"
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: state)) ?? []
        return """
            process \(process.map { "\($0)" } ?? "unknown"): \(status?.prefix(400) ?? "gone")
            below \(state): \(names)
            \(log.suffix(4000))
            """
    }

    /// Terminates the daemon, if it was started, and waits for its exit. If it does not exit, kills it and throws.
    public func end() async throws {
        // The daemon holds the lock until it exits; afterwards another process may have its process identifier.
        let descriptor = open(lock, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0, let process else { return }
        kill(process, SIGTERM)
        try await notForever("the end of the daemon", seen: { sight }) {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    Thread.detachNewThread {
                        flock(descriptor, LOCK_EX)
                        continuation.resume()
                    }
                }
            } onCancel: {
                kill(process, SIGKILL)
            }
        }
    }
}
