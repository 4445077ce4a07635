import Ferry
import FerryTestSupport
import Foundation
import Testing

// As an app's own tests: by what is public alone.
@Suite("Scripted manager", .timeLimit(.minutes(30)))
struct ScriptedManagerTests {
    private func status(_ download: Download, _ isSuch: (DownloadStatus) -> Bool) async -> DownloadStatus {
        for await status in download.updates where isSuch(status) { return status }
        return download.status
    }

    @Test("Scripted manager: a file arrives whole, from any host, and goes when the manager is released")
    func whole() async throws {
        let film = ScriptedFile("/films/one two.mp4", bytes: 300_000)
        var path = ""
        do {
            let manager = DownloadManager(.scripted([film]))
            for url in [try film.url, try DownloadURL("https://example.com/films/one%20two.mp4?key=1")] {
                let finished = try await manager.download(from: url).finished()
                path = finished.path
                #expect(try Data(contentsOf: URL(filePath: path)) == film.content)
            }
            await manager.shutdown()
        }
        #expect(film.content.count == 300_000)
        var other = film
        other.version = 2
        #expect(other.content != film.content)
        while FileManager.default.fileExists(atPath: path) { await Task.yield() }
    }

    @Test("Scripted manager: a download stays where its script stops, pauses there, and resumes at that offset")
    func stops() async throws {
        let film = ScriptedFile("/film.mp4", bytes: 1_000_000, pace: .stops(at: 400_000))
        let manager = DownloadManager(.scripted([film]))
        let download = try await manager.download(from: film.url)
        let status = await status(download) { $0.progress.completedBytes == 400_000 }
        #expect(status.state == .downloading)
        #expect(status.progress.fraction == 0.4)
        try await download.pause()
        #expect(download.status.state == .paused)
        #expect(download.status.progress.completedBytes == 400_000)
        try await download.resume()
        _ = await self.status(download) { $0.state == .downloading }
        #expect(download.status.progress.completedBytes == 400_000)
        await manager.shutdown()
    }

    @Test("Scripted manager: what is refused or not in the script fails, with the status in the error")
    func refused() async throws {
        let manager = DownloadManager(.scripted([.refused("/gone", status: 410)]))
        for (path, status) in [("gone", "410"), ("unheard", "404")] {
            let download = try await manager.download(from: DownloadURL("https://example.com/\(path)"))
            let error = await #expect(throws: DownloadError.self) { try await download.finished() }
            #expect(error?.localizedDescription.contains(status) == true, "\(String(describing: error))")
        }
        await manager.shutdown()
    }

    @Test("Scripted manager: the next manager with the same configuration has the list of the first")
    func relaunch() async throws {
        let film = ScriptedFile("/film.mp4", bytes: 1_000_000, pace: .stops(at: 400_000))
        let configuration = DownloadManager.Configuration.scripted([film])
        let first = DownloadManager(configuration)
        let download = try await first.download(from: film.url)
        _ = await status(download) { $0.progress.completedBytes == 400_000 }
        await first.shutdown()
        let second = DownloadManager(configuration)
        let again = try #require(try await second.downloads().first)
        #expect(again.id == download.id)
        #expect(again.status.progress.completedBytes == 400_000)
        await second.shutdown()
    }

    @Test("Scripted manager: rules apply to a network that the configuration declares metered")
    func metered() async throws {
        let film = ScriptedFile("/film.mp4", bytes: 1_000_000, pace: .stops(at: 400_000))
        let manager = DownloadManager(.scripted([film]))
        let download = try await manager.download(from: film.url)
        _ = await status(download) { $0.progress.completedBytes == 400_000 }
        await manager.configure {
            $0.allowsMeteredNetwork = false
            $0.networkIsMetered = true
        }
        _ = await status(download) { $0.state == .waiting(.network) }
        #expect(manager.network.kind == .metered)
        try await download.change { $0.network.allowsMetered = true }
        _ = await status(download) { $0.state == .downloading }
        try await download.change { $0.network.allowsMetered = nil }
        _ = await status(download) { $0.state == .waiting(.network) }
        await manager.configure { $0.networkIsMetered = nil }
        _ = await status(download) { $0.state == .downloading }
        #expect(manager.network.kind == .online)
        await manager.shutdown()
    }

    @Test("LocalOrigin: a manager without a script downloads from one, and goes on at another")
    func origin() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "origin-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let film = ScriptedFile("/film.mp4", bytes: 1_000_000)
        let slow = ScriptedFile("/film.mp4", bytes: 1_000_000, pace: .stops(at: 300_000))
        let whole = try await LocalOrigin([film])
        let stopping = try await LocalOrigin([slow])
        var configuration = DownloadManager.Configuration.default(
            identifier: "origin", directory: directory, stateDirectory: directory + "/state")
        configuration.watchesNetwork = false
        let manager = DownloadManager(configuration)
        let download = try await manager.download(from: stopping.url(of: slow))
        _ = await status(download) { $0.progress.completedBytes == 300_000 }
        try await download.pause()
        let url = try whole.url(of: film)
        try await download.change { $0.sources = [url] }
        try await download.resume()
        let finished = try await download.finished()
        #expect(try Data(contentsOf: URL(filePath: finished.path)) == film.content)
        let history = try await manager.history(of: download.id)
        #expect(history.contains { if case .resumed(300_000, 1_000_000, _) = $0.kind { true } else { false } })
        #expect(finished.proof == .sampled)
        await manager.shutdown()
        await whole.stop()
        await stopping.stop()
    }
}
