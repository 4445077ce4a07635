import FerryCore
import FerryTesting
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryEngine

/// The service that transfers for suspended apps, in a directory of the workshop.
struct SystemService: Sendable {
    let service: ScriptedSystem

    /// A service that serves the resources by the paths of their URLs.
    init(_ shop: Workshop, _ resources: [String: Resource]) throws {
        let directory = shop.directory + "/system"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        service = ScriptedSystem(
            disk: LocalFileSystem(), directory: FilePath(directory),
            origins: resources.mapValues { ScriptedOrigin([$0]) }, seed: 7)
        service.set(app: .foreground)
    }

    /// Lets all tasks end while the app is suspended.
    func transferAll() {
        service.set(app: .suspended)
        for _ in 0..<200 where !service.requests.isEmpty { service.advance(by: 60) }
    }

    /// Delivers events until the condition holds.
    func deliver(until isDone: @escaping @Sendable () -> Bool) async {
        while !isDone() {
            service.deliver()
            await Task.yield()
        }
    }
}

/// Counts the calls of a handler.
final class CallCount: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
}

extension Workshop {
    /// A manager whose list is kept, and which hands over to the service.
    func phone(
        _ system: SystemService, identifier: String = "phone", engine: EngineProvider = EngineProvider(),
        _ change: (inout DownloadManager.Configuration) -> Void = { _ in }
    ) -> DownloadManager {
        var transfer = BackgroundTransfer()
        // The origin of the tests has no certificate.
        transfer.ignoredSettings = [.unencrypted]
        // Many tests at once may take long.
        transfer.wakeLimit = .seconds(1000)
        var configuration = DownloadManager.Configuration.default(
            identifier: identifier, directory: directory, stateDirectory: directory + "/state/phone"
        ).continuingInBackground(transfer)
        configuration.minFreeBytes = 0
        configuration.waitForBusyMachine()
        change(&configuration)
        return DownloadManager(
            configuration, engine: engine, monitor: ManualNetworkMonitor(),
            system: { _ in system.service.session() })
    }

    /// Wakes the app for its session, and returns when the completion handler has been called, which it is once.
    func wake(_ manager: DownloadManager, _ system: SystemService) async {
        system.service.wake()
        let calls = CallCount()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await manager.scheduler?.woken { calls.add() } }
            group.addTask { await system.deliver { calls.value > 0 } }
        }
        #expect(calls.value == 1)
    }

    /// Throws unless the part file and the journal of a name can be locked.
    func checkUnlocked(_ name: String) throws {
        let part = try PartFile.open(FilePath(path(name + ".part")), fileSystem: LocalFileSystem())
        part.close()
        try Journal.open(at: FilePath(path(name + ".part.ferry")), fileSystem: LocalFileSystem(), syncs: false)
            .journal.close()
    }
}
