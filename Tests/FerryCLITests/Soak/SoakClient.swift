import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import Testing

/// One download of a soak.
struct SoakItem: Sendable, Hashable {
    var kind: SoakKind
    /// Unique among the downloads.
    var number: Int

    var id: String { "soak-\(number)" }
}

/// The requests to the daemon in a soak.
struct SoakClient: Sendable {
    /// The time between two looks at what is awaited.
    static let interval: Duration = .milliseconds(50)

    let serve: ServeProcess
    let server: OriginServer
    /// The directory that some downloads are moved to.
    let moved: String

    // MARK: While the daemon may be killed

    /// Adds a download, and pauses and resumes it. True when the daemon has listed it; throws when there is no daemon
    /// any more.
    func begin(_ item: SoakItem) async throws -> Bool {
        let new = try item.kind.request(item.id, url: server.url(item.kind.path(item.number)))
        guard try await serve.send(.add, body: new).status < 300 else { return false }
        if item.number % 5 == 0 { _ = try? await serve.send(.pause, id: item.id) }
        if item.number % 7 == 0 { _ = try? await serve.send(.resume, id: item.id) }
        return true
    }

    /// Follows events for a while and leaves midway, reads the list, and sends an invalid request.
    func comeAndGo() async throws {
        var seen = 0
        _ = try await serve.follow { (_: StreamEvent) -> Bool? in
            seen += 1
            return seen > 20 ? true : nil
        }
        _ = try await serve.send(.list)
        _ = try await serve.send(.statistics)
        _ = try await serve.send(.add, body: AdoptBody(path: "/not/a/download"))
        _ = try await serve.send(.show, id: "nobody")
    }

    // MARK: Afterwards

    func add(_ item: SoakItem, to directory: String) async throws {
        var new = try item.kind.request(item.id, url: server.url(item.kind.path(item.number)))
        new.destination = .directory(directory)
        _ = try await serve.ask(.add, body: new)
    }

    /// Expects that every download reported as listed is listed.
    func checkListed(_ items: [SoakItem]) async throws {
        for item in items { _ = try await shown(item) }
    }

    /// Ensures that a download is listed once and runs, whether or not ``begin(_:)`` succeeded, and performs the
    /// action of its kind.
    func finish(_ item: SoakItem) async throws {
        let new = try item.kind.request(item.id, url: server.url(item.kind.path(item.number)))
        _ = try await serve.ask(.add, body: new)
        // Refused for one that is completed already.
        #expect([200, 409].contains(try await serve.send(.resume, id: item.id).status))
        switch item.kind {
        case .cancelled: _ = try await serve.ask(.cancel, id: item.id)
        case .moved: _ = try await serve.ask(.relocate, id: item.id, body: RelocateBody(directory: moved))
        default: break
        }
    }

    func shown(_ item: SoakItem) async throws -> ListedDownload {
        try JSONCoding.decode(ListedDownload.self, from: try await serve.ask(.show, id: item.id))
    }

    func wait(for item: SoakItem, _ fits: (DownloadState) -> Bool) async throws {
        try await eventually(every: Self.interval) { fits(try await shown(item).status.state) }
    }

    /// Waits until all have ended, and checks how.
    func settle(_ items: [SoakItem], in place: Workplace, folder: String = "downloads") async throws {
        for item in items {
            try await wait(for: item) { SoakKind.End($0) != nil }
            let download = try await shown(item)
            let end = SoakKind.End(download.status.state)
            #expect(end == item.kind.end, "\(item): \(download.status.state)")
            guard end == .completed else { continue }
            let path = try #require(download.status.path)
            #expect(path.hasPrefix(place.path(item.kind == .moved ? "moved" : folder) + "/"), "\(item): \(path)")
            let comparison = DeterministicBytes(seed: UInt64(item.number)).compare(file: path, size: item.kind.size)
            #expect(comparison == .equal, "\(item): \(comparison)")
        }
    }

    /// Expects exactly these in the list, and removes them.
    func removeAll(_ items: [SoakItem]) async throws {
        let page = try JSONCoding.decode(DownloadPage.self, from: try await serve.ask(.list))
        #expect(page.items.map(\.id.rawValue).sorted() == items.map(\.id).sorted())
        let data = try await serve.ask(.removeMany, body: RemovalBody(items.map(\.id), deleteFiles: true))
        let count = try JSONCoding.decode(ActionCount.self, from: data)
        #expect(count == ActionCount(items.count))
    }
}
