import FerryTesting
import FerryUI
import Foundation
import Observation
import Testing

@testable import Ferry
@testable import FerryEngine

@MainActor @Suite("Observable list of downloads", .timeLimit(.minutes(30)))
struct DownloadListTests {
    private static let resource = Resource(size: 3_000_000)

    /// Waits until the list meets the condition.
    private func reach(_ list: DownloadList, _ isSuch: @MainActor (DownloadList) -> Bool) async {
        while !isSuch(list), !Task.isCancelled {
            await withCheckedContinuation { continuation in
                withObservationTracking {
                    _ = (list.items.map(\.status), list.count)
                } onChange: {
                    continuation.resume()
                }
            }
            // `onChange` is called before the change.
            await Task.yield()
        }
    }

    @Test("DownloadList: rows keep list order and identity, and their texts follow the downloads")
    func follows() async throws {
        try await Workshop.run { shop in
            try await follow(shop)
        }
    }

    @Test("DownloadItem: sizes, percentages and times are written as in the region of its locale")
    func regions() async throws {
        try await Workshop.run { shop in
            try await showRegions(shop)
        }
    }

    private func showRegions(_ shop: Workshop) async throws {
        let gate = Gate()
        shop.server.serve("/a.bin", Self.resource)
        shop.server.always("/a.bin", .hold(after: 1_200_000, gate))
        let manager = shop.manager()
        let download = try await manager.download(shop.request("/a.bin") { $0.maxConnections = 1 })
        await shop.reach(1_200_000, download)
        let item = DownloadItem(download, locale: Locale(identifier: "fr_FR"))
        #expect(item.sizeText.replacing(Self.spaces, with: " ") == "1,2 Mo / 3 Mo")
        #expect(item.percentText.replacing(Self.spaces, with: " ") == "40,0 %")
        item.locale = Locale(identifier: "zh_CN")
        #expect(item.percentText == "40.0%")
        item.locale = Locale(identifier: "ar_EG")
        #expect(item.percentText.contains("٤٠"))
        gate.open()
        _ = try await download.finished()
        #expect(item.percentText.contains("٤٠"))
        item.refresh()
        item.locale = Locale(identifier: "en_US")
        #expect(item.percentText == "100.0%")
        await manager.shutdown()
    }

    private static var spaces: Regex<Substring> { /[\u{00A0}\u{202F}]/ }

    private func follow(_ shop: Workshop) async throws {
        let gate = Gate()
        shop.server.serve("/a.bin", Self.resource)
        shop.server.serve("/b.bin", Self.resource)
        shop.server.always("/a.bin", .hold(after: 1_200_000, gate))
        let manager = shop.manager()
        let list = DownloadList(manager, locale: Locale(identifier: "en_US"))
        // owner: this test, which cancels it.
        let running = Task { await list.run() }
        let a = try await manager.download(shop.request("/a.bin") { $0.maxConnections = 1 })
        let b = try await manager.download(
            shop.request("/b.bin") {
                $0.startsPaused = true
                $0.label = "Ein Lied"
            })
        await reach(list) { $0.items.map(\.id) == [a.id, b.id] }
        #expect(list.count == 2)
        await reach(list) { $0.items.first?.status.progress.completedBytes == 1_200_000 }
        let (first, second) = (list.items[0], list.items[1])
        #expect(first.title == "a.bin")
        #expect(first.sizeText == "1.2 MB / 3 MB")
        #expect(first.percentText == "40.0%")
        #expect(first.stateText == DownloadState.downloading.text(in: .current))
        #expect(first.fraction == 0.4)
        #expect(first.actions == [.pause, .cancel, .change, .remove])
        #expect(second.title == "Ein Lied")
        #expect(second.sizeText == "0 bytes / ?")
        #expect(second.percentText == "--")
        #expect(second.speedText == "")
        #expect(second.timeText == "--")
        #expect(second.stateText == DownloadState.paused.text(in: .current))
        // A row stays the same object when the order changes.
        try await b.moveInList(to: .first)
        await reach(list) { $0.items.map(\.id) == [b.id, a.id] }
        #expect(list.items[0] === second && list.items[1] === first)
        gate.open()
        await reach(list) { $0.items.last?.percentText == "100.0%" }
        #expect(first.sizeText == "3 MB / 3 MB")
        #expect(first.speedText == "")
        #expect(first.actions == [.restart, .remove])
        try await b.remove()
        await reach(list) { $0.items.map(\.id) == [a.id] && $0.count == 1 }
        running.cancel()
        await running.value
        await manager.shutdown()
    }

    @Test("DownloadList: a window shows part of a long list, and ends with the manager")
    func window() async throws {
        let manager = DownloadManager(.ephemeral)
        let directory = FileManager.default.temporaryDirectory.path
        let requests = try (0..<10).map { index in
            var request = DownloadRequest(
                sources: [try DownloadURL("http://127.0.0.1:1/\(index)")], destination: .directory(directory))
            request.startsPaused = true
            return request
        }
        let all = try await manager.download(requests)
        let list = DownloadList(manager, offset: 2, limit: 3)
        await list.reload()
        #expect(list.items.map(\.id) == all[2..<5].map(\.id))
        #expect(list.count == 10)
        // owner: this test, which cancels it.
        let running = Task { await list.run() }
        list.offset = 8
        await reach(list) { $0.items.map(\.id) == all[8...].map(\.id) }
        list.limit = 1
        await reach(list) { $0.items.map(\.id) == [all[8].id] }
        // `run` ends with the manager.
        await manager.shutdown()
        await running.value
        await list.reload()
        #expect(list.error?.code == .shutDown)
    }
}
