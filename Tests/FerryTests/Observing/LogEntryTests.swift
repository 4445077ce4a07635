import FerryCore
import Foundation
import Logging
import Synchronization
import Testing

@testable import Ferry

@Suite("Log entries")
struct LogEntryTests {
    private static let secret = "https://ann:hush@a.test/film.mp4?token=hush"

    private func entry(_ kind: DownloadEvent.Kind) -> LogEntry {
        LogEntry(DownloadEvent(id: DownloadID(rawValue: "one"), date: Date(), kind: kind))
    }

    @Test(
        "LogEntry: of an event, what happened is public, and addresses, paths and names are details",
        arguments: [
            (.added(url: secret), .info, "added"),
            (.started(name: "film.mp4", totalBytes: 12), .info, "started, 12 bytes"),
            (.resumed(offset: 3, totalBytes: nil, reason: "/d/film.mp4"), .info, "resumed at byte 3"),
            (.retrying(attempt: 2, delay: .seconds(1), reason: "a.test"), .notice, "attempt 2 follows in 1.0 seconds"),
            (.restarted(reason: "a.test"), .notice, "begins anew"),
            (.waiting(.credentials, message: "a.test"), .notice, "waits: waiting.credentials"),
            (.note("a.test"), .debug, "note"),
            (.paused, .info, "paused"),
            (
                .completed(FinishedDownload(path: "/d/film.mp4", totalBytes: 12, proof: .strong)), .info,
                "completed, 12 bytes"
            ),
            (.failed(DownloadError(.network, "a.test closed")), .error, "failed: network"),
            (.cancelled, .info, "cancelled"),
        ] as [(DownloadEvent.Kind, LogEntry.Level, String)])
    func events(kind: DownloadEvent.Kind, level: LogEntry.Level, text: String) {
        let entry = entry(kind)
        #expect(entry.level == level)
        #expect(entry.text == "download one: " + text)
        for hidden in ["a.test", "film", "/d/", "hush"] { #expect(!entry.text.contains(hidden)) }
        #expect(!entry.description.contains("hush"))
    }

    @Test("EventHub: each event is written to the system's log, in order, without a listener too")
    func hub() {
        let lines = Mutex<[String]>([])
        let hub = EventHub(log: { entry in lines.withLock { $0.append(entry.text) } })
        #expect(hub.isHeard)
        for kind in [DownloadEvent.Kind.paused, .cancelled] {
            hub.send(DownloadEvent(id: DownloadID(rawValue: "one"), date: Date(), kind: kind))
        }
        #expect(lines.withLock { $0 } == ["download one: paused", "download one: cancelled"])
        #expect(!EventHub(log: nil).isHeard)
        hub.close()
    }

    @Test("Configuration: the logger of the app is told a fault with its details, at the level of its kind")
    func faults() {
        let lines = Lines()
        var configuration = DownloadManager.Configuration.ephemeral
        configuration.logger = Logger(label: "app") { _ in lines }
        configuration.log(LogEntry(.error, "the list of downloads could not be kept", details: "/d is full"))
        configuration.log(LogEntry(.notice, "the list was lost"))
        #expect(
            lines.told == ["error the list of downloads could not be kept: /d is full", "warning the list was lost"])
    }

    /// A log that keeps its lines.
    private struct Lines: LogHandler {
        private final class Store: Sendable { let lines = Mutex<[String]>([]) }
        private let store = Store()
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace
        var told: [String] { store.lines.withLock { $0 } }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { store.lines.withLock { $0.append("\(event.level) \(event.message)") } }
    }
}
