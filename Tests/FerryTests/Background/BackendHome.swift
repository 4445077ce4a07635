import FerryServer
import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryClient

/// The place of a manager's downloads: this process, or a daemon.
enum BackendKind: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case local, daemon
    var testDescription: String { rawValue }
}

/// A workshop with managers of either kind; the daemon runs in this process, over a real socket.
struct BackendHome: Sendable {
    let shop: Workshop
    let kind: BackendKind
    let daemon: TestDaemon?

    static func run(
        _ kind: BackendKind, _ body: @Sendable (BackendHome) async throws -> Void
    ) async throws {
        try await Workshop.run { shop in
            // The path of a socket is short.
            let place = "/tmp/ferry-test-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
            defer { try? FileManager.default.removeItem(atPath: place) }
            let daemon = kind == .daemon ? try TestDaemon(directory: place, downloads: shop.directory) : nil
            try await daemon?.start()
            let home = BackendHome(shop: shop, kind: kind, daemon: daemon)
            do { try await body(home) } catch {
                try await daemon?.stop()
                throw error
            }
            try await daemon?.stop()
        }
    }

    var server: OriginServer { shop.server }

    /// A manager under an identifier, as each launch of an app makes one.
    func manager(
        _ identifier: String = "test", _ change: (inout DownloadManager.Configuration) -> Void = { _ in }
    ) -> DownloadManager {
        guard let daemon else {
            return shop.kept(identifier) {
                $0.watchesNetwork = false
                change(&$0)
            }
        }
        let place = DaemonAddress.test(daemon.socket, identifier: identifier, directory: shop.directory)
        var configuration = DownloadManager.Configuration(daemon: place)
        change(&configuration)
        return DownloadManager(configuration)
    }

    func request(_ path: String, _ change: (inout DownloadRequest) -> Void = { _ in }) throws -> DownloadRequest {
        try shop.single(path, change)
    }

    /// Expects that the next launch reports no end, only that all were reported.
    func expectAllWasHandled(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let manager = manager()
        let recorder = Recorder()
        manager.setDelegate(recorder)
        try await manager.activate()
        await recorder.reach(.allTold)
        #expect(recorder.entries.map(\.call) == [.allTold], sourceLocation: sourceLocation)
        await manager.shutdown()
    }

    /// Waits until a download's state meets the condition.
    func reach(_ download: Download, _ isSuch: @Sendable (DownloadState) -> Bool) async {
        await shop.reach(download, isSuch)
    }
}
