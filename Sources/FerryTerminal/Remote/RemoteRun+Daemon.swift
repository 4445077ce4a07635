import Ferry
import FerryAPI
import FerryCore
import Foundation

/// The daemon itself.
extension RemoteRun {
    private struct DaemonStatus: Encodable {
        var running: Bool
        var pid: Int?
        var version: String?
        var since: Date?
        var socket: String
        var page: String?
        var log: String?
        var isService: Bool?
        var statistics: StatisticsBody?
    }

    private struct Stopped: Encodable {
        /// The process that was stopped; `nil` if none ran.
        var pid: Int?
        /// The number of downloads that go on at the next start.
        var unfinished: Int?
    }

    /// Runs `ferry stop`.
    ///
    /// - Parameters:
    ///   - holder: The process that holds the lock of the state directory, for a daemon that does not answer.
    ///   - isService: Whether systemd has started this process.
    ///   - end: Ends a process and returns once it has left.
    package func stop(
        holder: Int?, isService: (Int) -> Bool, end: (Int) async throws -> Void
    ) async throws -> ExitCode {
        let greeting = try? await link.greet()
        guard let process = greeting?.pid ?? holder else {
            if json { say(Stopped()) } else { say(("no daemon runs" as Reason).local) }
            return .done
        }
        let counts = greeting == nil ? nil : try? await statistics()
        let wasService = isService(process)
        try await end(process)
        let unfinished = counts.map { $0.running + $0.waiting }
        if json {
            say(Stopped(pid: process, unfinished: unfinished))
        } else {
            say(("stopped (process \(process))" as Reason).local)
            if let unfinished, unfinished > 0 {
                let text: Reason =
                    unfinished == 1
                    ? "1 download goes on at the next start: ferry add, ferry resume or ferry serve"
                    : "\(unfinished) downloads go on at the next start: ferry add, ferry resume or ferry serve"
                say(text.local)
            }
        }
        if wasService {
            let text: Reason = "systemd starts it again at the next login; ferry service uninstall ends that"
            console.message("ferry: " + text.local)
        }
        return .done
    }

    /// Runs `ferry status`. Exit code 11 if no daemon runs.
    ///
    /// - Parameters:
    ///   - log: The log file of a daemon that a command has started.
    ///   - isService: Whether systemd has started this process.
    package func status(log: String, isService: (Int) -> Bool) async throws -> ExitCode {
        let greeting: Greeting
        do throws(DaemonFailure) { greeting = try await link.greet() } catch {
            guard case .unreachable = error else { throw error.error(socket: link.socket) }
            if json {
                say(DaemonStatus(running: false, socket: link.socket))
            } else {
                let text: Reason =
                    "not running, so nothing is being downloaded; ferry add starts it, as does ferry serve"
                say(text.local)
            }
            return .daemon
        }
        let counts = try await statistics()
        let since = Date().addingTimeInterval(-counts.uptime)
        let service = isService(greeting.pid)
        let page = greeting.port.map { "http://127.0.0.1:\($0)/" }
        if json {
            say(
                DaemonStatus(
                    running: true, pid: greeting.pid, version: greeting.version, since: since, socket: link.socket,
                    page: page, log: service ? nil : log, isService: service, statistics: counts))
            return .done
        }
        let states = [
            ("running", counts.running), ("waiting", counts.waiting), ("paused", counts.paused),
            ("failed", counts.failed), ("completed", counts.completed), ("cancelled", counts.cancelled),
        ].filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        let facts = [
            ("running", "since \(LocalTime.text(since)), for \(ByteText.duration(.seconds(counts.uptime)))"),
            ("version", greeting.version), ("process", "\(greeting.pid)\(service ? ", started by systemd" : "")"),
            ("socket", link.socket), ("page", page.map { $0 + " (ferry web signs in)" } ?? "off"),
            ("log", service ? Self.journal : log),
            ("downloads", states.isEmpty ? "none" : states.joined(separator: ", ")),
            ("speed", ByteText.rate(Double(counts.bytesPerSecond))),
        ]
        for (name, value) in facts { say(DisplayWidth.pad(name + ":", to: 11) + PrintableText.escape(value)) }
        return .done
    }

    /// Runs `ferry logs`.
    package func logs(
        isService: (Int) -> Bool, read: ((String) -> Void) async throws -> Void
    ) async throws -> ExitCode {
        if let process = try? await link.greet().pid, isService(process) {
            let text: Reason = "systemd runs the daemon and keeps its log; show it with: \(Self.journal)"
            console.message("ferry: " + text.local)
            return .done
        }
        try await read { say(PrintableText.escape($0)) }
        return .done
    }

    private static let journal = "journalctl --user -u ferry.service"

    private func statistics() async throws(DownloadError) -> StatisticsBody {
        try await link.ask(.statistics, query: [("session", FerryAPI.everySession)], as: StatisticsBody.self)
    }
}
