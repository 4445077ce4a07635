import Ferry
import FerryEngine
import FerryTesting
import Foundation
import Synchronization

/// One download whose process kills itself before the n-th call that changes the disk.
///
/// `ferry-app fall N URL DIRECTORY sync|nosync` exits with 0 if the download completes before that call, and with 1 if it
/// fails. The clock runs fast, so that even a small file is synced several times.
enum AppFall {
    /// The operations that are counted.
    private static let counted: Set<FileError.Operation> = [
        .open, .create, .write, .sync, .truncate, .allocate, .link, .rename, .remove, .makeDirectory, .syncDirectory,
        .setMode, .setTime, .setAttribute,
    ]

    static func run(_ arguments: [String]) async -> Never {
        guard arguments.count == 4, let last = Int(arguments[0]), let url = try? DownloadURL(arguments[1]) else {
            FileHandle.standardError.write(Data("usage: ferry-app fall N URL DIRECTORY sync|nosync\n".utf8))
            exit(64)
        }
        let calls = Atomic(0)
        let disk = FaultyFileSystem { operation, _ in
            guard counted.contains(operation) else { return nil }
            if calls.add(1, ordering: .relaxed).newValue == last { kill(getpid(), SIGKILL) }
            return nil
        }
        let clock = QuickClock()
        let engine = EngineProvider(clock: clock) { configuration in
            EngineEnvironment(
                transport: HTTPTransport(configuration.transfer), fileSystem: disk, clock: clock,
                random: { 0 })
        }
        var configuration = DownloadManager.Configuration.ephemeral
        configuration.minFreeBytes = 0
        configuration.stallTimeout = .seconds(1_000_000)
        let manager = DownloadManager(configuration, engine: engine)
        var request = DownloadRequest(sources: [url], destination: .directory(arguments[2]))
        request.maxConnections = 1
        request.syncsToDisk = arguments[3] == "sync"
        do throws(DownloadError) {
            _ = try await manager.download(request).finished()
        } catch {
            FileHandle.standardError.write(Data("\(error.message)\n".utf8))
            exit(1)
        }
        await manager.shutdown()
        exit(0)
    }
}
