import Ferry
import FerryCore
import Foundation
import Testing

@testable import FerryTerminal

@Suite("ServerWaits") struct ServerWaitsTests {
    private let date = Date(timeIntervalSince1970: 1_000_000)
    private let asked = DownloadError(.network, ErrorPhrase.hostAsksToWait("h", status: 503))

    private func status(_ name: String, until seconds: Double?, since: Double? = nil) -> DownloadStatus {
        let wait = WaitReason.server(
            since: since.map(date.addingTimeInterval), until: seconds.map(date.addingTimeInterval))
        return DownloadStatus(
            id: DownloadID(rawValue: name), state: .waiting(wait), progress: DownloadProgress(), name: name,
            waitError: asked)
    }

    private func line(_ names: String, until seconds: Double) -> String {
        "\(names): waiting: h asked to wait (503); next attempt at \(LocalTime.text(date.addingTimeInterval(seconds)))"
    }

    @Test("ServerWaits: a wait is reported once, with its files, and again after it if the server asks for another one")
    func once() {
        var waits = ServerWaits()
        func lines(_ open: [DownloadStatus], after seconds: Double) -> [String] {
            waits.take(open, at: date.addingTimeInterval(seconds)).map(\.line)
        }
        let running = DownloadStatus(
            id: DownloadID(rawValue: "c"), state: .downloading, progress: DownloadProgress(), name: "c")
        // More may follow.
        #expect(lines([status("a", until: 600), running], after: 0) == [])
        let both = [status("a", until: 600), status("b", until: 600), running]
        #expect(lines(both, after: 0.1) == [])
        #expect(lines(both, after: 0.2) == [line("a, b", until: 600)])
        #expect(lines(both, after: 10) == [])
        let longer = [status("a", until: 900), status("b", until: 900)]
        #expect(lines(longer, after: 20) == [])
        #expect(lines(longer, after: 601) == [line("a, b", until: 900)])
        // It has ended, and begins again.
        #expect(lines([running], after: 602) == [])
        #expect(lines([status("b", until: 1000)], after: 603) == [])
        #expect(lines([status("b", until: 1000)], after: 604) == [line("b", until: 1000)])
    }

    @Test("ServerWaits: of many files the number is reported, of a server that is down one wait, of a budget none")
    func many() {
        var waits = ServerWaits()
        let many = (0..<30).map { status("\($0)", until: 600) }
        _ = waits.take(many, at: date)
        let news = waits.take(many, at: date)
        #expect(news.map(\.line) == [line("30 files", until: 600)])
        #expect(news.first?.events(at: date).count == 30)
        waits = ServerWaits()
        for seconds in stride(from: 1.0, to: 300, by: 7) {
            let down = [status("a", until: seconds + 1, since: 0)]
            let news = [
                waits.take(down, at: date.addingTimeInterval(seconds)),
                waits.take(down, at: date.addingTimeInterval(seconds)),
            ]
            #expect(news.map(\.count) == [0, seconds == 1 ? 1 : 0])
            _ = waits.take([status("a", until: nil, since: 0)], at: date.addingTimeInterval(seconds + 2))
        }
        waits = ServerWaits()
        for _ in 0..<3 { #expect(waits.take([status("a", until: nil)], at: date) == []) }
    }
}
