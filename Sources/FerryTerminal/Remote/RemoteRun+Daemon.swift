import Ferry
import FerryAPI
import FerryClient
import FerryCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Commands for the daemon itself.
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
        var damagedCatalogue: String?
    }

    private struct Stopped: Encodable {
        /// The process that was stopped; `nil` if no daemon was running.
        var pid: Int?
        /// The number of downloads that resume at the next start.
        var unfinished: Int?
    }

    /// Runs `ferry stop`.
    ///
    /// - Parameters:
    ///   - holder: The process that holds the lock of the state directory, for a daemon that does not answer.
    ///   - isService: Returns whether systemd has started a process.
    ///   - end: Ends a process and returns once it has exited.
    package func stop(
        holder: Int?, isService: (Int) -> Bool, end: (Int) async throws -> Void
    ) async throws -> ExitCode {
        let greeting = try? await link.greet()
        guard let process = greeting?.pid ?? holder else {
            if json { say(Stopped()) } else { say(("no daemon is running" as Reason).local) }
            return .done
        }
        let counts = greeting == nil ? nil : try? await statistics()
        let needing = counts.map(\.waiting) ?? 0 > 0 ? await countNeedingUser() : 0
        let wasService = isService(process)
        try await end(process)
        let unfinished = counts.map { $0.running + $0.waiting - needing }
        if json {
            say(Stopped(pid: process, unfinished: unfinished))
        } else {
            say(("stopped (process \(process))" as Reason).local)
            if let unfinished, unfinished > 0 {
                let text: Reason =
                    unfinished == 1
                    ? "1 download continues at the next start: ferry add, ferry resume or ferry serve"
                    : "\(unfinished) downloads continue at the next start: ferry add, ferry resume or ferry serve"
                say(text.local)
            }
        }
        if wasService {
            let text: Reason = "systemd starts it again at the next login; ferry service uninstall ends that"
            console.message("ferry: " + text.local)
        }
        return .done
    }

    /// Runs `ferry status`. Exit code 11 if no daemon is running.
    ///
    /// - Parameters:
    ///   - log: The log file of a daemon that a command has started.
    ///   - hasLog: Returns whether a process writes to the log file.
    ///   - isService: Returns whether systemd has started a process.
    package func status(
        log: String, hasLog: (Int) -> Bool, isService: (Int) -> Bool
    ) async throws -> ExitCode {
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
        // A daemon that was started in a terminal logs there.
        let own = !service && hasLog(greeting.pid) ? log : nil
        let page = greeting.port.map { "http://127.0.0.1:\($0)/" }
        if json {
            say(
                DaemonStatus(
                    running: true, pid: greeting.pid, version: greeting.version, since: since, socket: link.socket,
                    page: page, log: own, isService: service, statistics: counts,
                    damagedCatalogue: greeting.damagedCatalogue))
            return .done
        }
        let states: [Reason] = [
            counts.running > 0 ? "\(counts.running) running" : nil,
            counts.waiting > 0 ? "\(counts.waiting) waiting" : nil,
            counts.paused > 0 ? "\(counts.paused) paused" : nil,
            counts.failed > 0 ? "\(counts.failed) failed" : nil,
            counts.completed > 0 ? "\(counts.completed) completed" : nil,
            counts.cancelled > 0 ? "\(counts.cancelled) cancelled" : nil,
        ].compactMap(\.self)
        let time = ByteText.duration(.seconds(counts.uptime))
        let comma = Language.current.text(of: (", ", "，"))
        let facts: [(name: String, value: String)] = [
            ("running", ("since \(LocalTime.text(since)), for \(time)" as Reason).local), ("version", greeting.version),
            ("process", service ? ("\(greeting.pid), started by systemd" as Reason).local : "\(greeting.pid)"),
            ("socket", link.socket),
            ("page", page.map { ("\($0) (ferry web signs in)" as Reason).local } ?? ("off" as Reason).local),
            ("log", service ? Self.journal : own ?? ("standard error of its process" as Reason).local),
            (
                "downloads", states.isEmpty ? ("none" as Reason).local : states.map(\.local).joined(separator: comma)
            ),
            ("speed", ByteText.rate(Double(counts.bytesPerSecond))),
        ]
        let list = greeting.damagedCatalogue.map { (name: "list", value: Self.damage($0).local) }
        for (name, value) in facts + [list].compactMap(\.self) {
            say(DisplayWidth.pad(Reason.pattern(name, []).local + ":", to: 11) + PrintableText.escape(value))
        }
        return .done
    }

    /// Runs `ferry logs`.
    ///
    /// - Parameters:
    ///   - hasLog: Returns whether a process writes to the log file of a daemon that a command has started.
    ///   - isService: Returns whether systemd has started a process.
    ///   - read: Reads the lines of that file.
    package func logs(
        hasLog: (Int) -> Bool, isService: (Int) -> Bool, read: ((String) -> Void) async throws -> Void
    ) async throws -> ExitCode {
        if let process = try? await link.greet().pid, isService(process) || !hasLog(process) {
            let text: Reason =
                isService(process)
                ? "systemd runs the daemon and keeps its log; show it with: \(Self.journal)"
                : "the daemon (process \(process)) logs to its standard error, not to a file"
            console.message("ferry: " + text.local)
            return .done
        }
        try await read { say(PrintableText.escape($0)) }
        return .done
    }

    /// Returns the number of downloads that wait for credentials or a link, which a restart does not resume. Counts only the
    /// first 10,000 waiting downloads.
    private func countNeedingUser() async -> Int {
        let query = [("state", DownloadState.Kind.waiting.rawValue), ("session", FerryAPI.everySession)]
        let waiting = (try? await link.downloads(query, limit: 10_000)) ?? []
        return waiting.count { download in
            switch download.status.state {
            case .waiting(.credentials), .waiting(.freshLink): true
            default: false
            }
        }
    }

    /// Returns the message about a list that the daemon has found damaged, with the path of its copy.
    static func damage(_ path: String) -> Reason {
        "it was damaged when the daemon started, and is kept as \(path); unfinished downloads are found again, ended ones are no longer listed"
    }

    private static let journal = "journalctl --user -u ferry.service"

    private func statistics() async throws(DownloadError) -> StatisticsBody {
        try await link.ask(.statistics, query: [("session", FerryAPI.everySession)], as: StatisticsBody.self)
    }
}
