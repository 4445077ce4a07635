import FerryCore
import FerryMetrics
import Foundation
import Testing

@testable import Ferry

@Suite("Additions", .timeLimit(.minutes(5))) struct AdditionsTests {
    @Test("Additions: each is counted once, whether or not somebody listens to events", arguments: [false, true])
    func counted(isHeard: Bool) async throws {
        let registry = MetricRegistry()
        var configuration = DownloadManager.Configuration.ephemeral
        configuration.server.metrics = registry
        let manager = DownloadManager(configuration)
        let events = isHeard ? manager.events : nil
        let directory = FileManager.default.temporaryDirectory.path
        let requests = try ["a", "b", "c"].map { name in
            var request = DownloadRequest(
                sources: [try DownloadURL("http://server.test/\(name)")], destination: .directory(directory))
            request.startsPaused = true
            return request
        }
        _ = try await manager.download(requests)
        let family = registry.families.first { $0.metric == .added }
        #expect(family?.series == [.init([], .number(3))])
        await manager.shutdown()
        withExtendedLifetime(events) {}
    }
}
