import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import Ferry
@testable import FerryAPI
@testable import FerryClient
@testable import FerryEngine

/// A daemon of another version, or a broken one, may send any number: a client must not trap.
@Suite("Extreme numbers from the daemon", .timeLimit(.minutes(30)))
struct RemoteNumbersTests {
    private static let id = DownloadID(rawValue: "one")
    private static let date = Date(timeIntervalSince1970: 1_700_000_000)
    private static let finished = FinishedDownload(path: "/tmp/a", totalBytes: 9, proof: .strong, receivedBytes: 8)

    private static func listed(_ state: DownloadState) -> ListedDownload {
        let progress = DownloadProgress(
            completedBytes: 5, totalBytes: 9, bytesPerSecond: 2, timeRemaining: .seconds(2), connections: 3)
        let sources = ["http://127.0.0.1/a"].compactMap { try? DownloadURL($0) }
        var request = DownloadRequest(sources: sources, destination: .directory("/tmp"))
        request.rateLimit = 10
        request.maxConnections = 4
        request.maxBytes = 11
        request.priority = DownloadPriority(rawValue: 1)
        var listed = ListedDownload(
            status: DownloadStatus(id: id, state: state, progress: progress, name: "a", path: "/tmp/a"),
            session: "test", url: "http://127.0.0.1/a", addedAt: date)
        listed.rateLimit = 10
        listed.asOf = 3
        listed.handle = HandleBody(finished: finished, request: request)
        return listed
    }

    /// One of each event that has numbers.
    private static var events: [StreamEvent] {
        let failure = DownloadError(.network, "m", recovery: .transient(retryAfter: .seconds(3)))
        var settings = SettingsBody(scope: "session", directory: "/tmp")
        settings.maxConcurrentDownloads = 3
        settings.rateLimit = 10
        settings.retriesFailedAfter = 60
        let states: [DownloadState] = [.downloading, .completed(.strong), .failed(failure), .waiting(.retry(at: date))]
        let kinds: [DownloadEvent.Kind] = [
            .started(name: "a", totalBytes: 9), .resumed(offset: 1, totalBytes: 9, reason: "r"),
            .retrying(attempt: 2, delay: .seconds(1), reason: "r"), .completed(finished), .failed(failure),
        ]
        let snapshot = StreamEvent.Snapshot(
            items: [listed(.downloading)], total: 1, settings: settings,
            network: NetworkSnapshot.assumed.status)
        var events = states.map { StreamEvent.state(listed($0)) }
        for kind in kinds {
            let event = DownloadEvent(id: id, date: date, kind: kind, number: 4)
            events.append(.happened(EventBody(event, session: "test")))
        }
        let end = DownloadEvent(id: id, date: date, kind: .completed(finished), number: 5)
        events.append(.ended(EventBody(end, session: "test")))
        let progress = StreamEvent.Progress(id: "one", progress: listed(.downloading).status.progress)
        events.append(.progress([progress], bytesPerSecond: .greatestFiniteMagnitude))
        events.append(.settings(settings))
        events.append(.reset(snapshot))
        return events
    }

    /// The ranges of the numbers in JSON, outside of its texts.
    private static func numbers(in json: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var (index, isText) = (0, false)
        while index < json.count {
            let byte = json[index]
            if isText, byte == UInt8(ascii: "\\") { index += 1 }
            if byte == UInt8(ascii: "\"") { isText.toggle() }
            let digits = json[index...].prefix { "-0123456789.eE+".utf8.contains($0) }
            if !isText, byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                found.append(index..<digits.endIndex)
                index = digits.endIndex
            } else {
                index += 1
            }
        }
        return found
    }

    private static func replacing(_ ranges: [Range<Int>], in json: [UInt8], by texts: [String]) -> String {
        var json = json
        for (range, text) in zip(ranges, texts).reversed() { json.replaceSubrange(range, with: Array(text.utf8)) }
        return String(decoding: json, as: UTF8.self)
    }

    private func session() -> RemoteSession {
        let place = DaemonAddress.test("/nonexistent/ferry.sock")
        return RemoteSession(
            place, DownloadManager.Configuration(daemon: place), clock: SystemClock())
    }

    /// Sends an event to a session that has a handle of its download, and reads all of its properties.
    private func take(_ name: String, _ data: String, id: String, in session: RemoteSession, _ live: LiveDownload) async
    {
        live.forgetPosition()
        try? await session.take(ServerSentEvent(id: id, name: name, data: data))
        _ = live.snapshot.status.progress.fraction
        _ = session.network
    }

    @Test("RemoteSession: extreme numbers in events, alone and in pairs, are accepted or refused and never trap")
    func events() async throws {
        for event in Self.events {
            let session = session()
            let live = try session.live(for: Self.listed(.downloading)).live
            let json = Array(try event.data())
            let places = Self.numbers(in: json)
            #expect(!places.isEmpty)
            for place in places {
                for text in ExtremeNumbers.all.map({ "\($0)" }) + ExtremeNumbers.texts {
                    let data = Self.replacing([place], in: json, by: [text])
                    await take(event.name.rawValue, data, id: "boot-\(text)", in: session, live)
                }
            }
            // Each pair of members gets a part of the pairs of numbers, since all of them take long.
            for (index, (first, second)) in zip(places, places.dropFirst()).enumerated() {
                for share in stride(from: index % 9, to: ExtremeNumbers.pairs.count, by: 9) {
                    let (one, other) = ExtremeNumbers.pairs[share]
                    let data = Self.replacing([first, second], in: json, by: ["\(one)", "\(other)"])
                    await take(event.name.rawValue, data, id: "boot-\(other)", in: session, live)
                }
            }
        }
    }

    @Test("EventReceipts: extreme event numbers in any order are acknowledged within the bound")
    func receipts() {
        var receipts = EventReceipts()
        for (one, other) in ExtremeNumbers.pairs {
            for number in [one, other] {
                _ = receipts.isNew(DownloadEvent(id: Self.id, date: Self.date, kind: .cancelled, number: number))
            }
            #expect(receipts.pending.count <= ExtremeNumbers.all.count)
            _ = receipts.handle(one)
        }
        for number in Int64.max - 30_000...Int64.max {
            _ = receipts.isNew(DownloadEvent(id: Self.id, date: Self.date, kind: .cancelled, number: number))
            _ = receipts.handle(number)
        }
        #expect(receipts.handled.contains(.max))
    }

    @Test("EventID: an extreme number is an identifier or none")
    func identifiers() {
        for text in ExtremeNumbers.all.map({ "\($0)" }) + ExtremeNumbers.texts {
            let id = EventID("boot-" + text)
            #expect(id?.number ?? 0 >= 0)
            if let id { #expect(EventID(id.description) == id) }
        }
    }
}
