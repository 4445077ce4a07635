import FerryCore
import Foundation

@testable import Ferry
@testable import FerryEngine

extension Workshop {
    /// A manager with a catalogue, as each launch of an app makes one.
    func lasting(_ change: (inout DownloadManager.Configuration) -> Void = { _ in }) -> DownloadManager {
        var configuration = DownloadManager.Configuration.default(
            identifier: "test", directory: directory, stateDirectory: path(".state"))
        configuration.minFreeBytes = 0
        configuration.waitForBusyMachine()
        configuration.watchesNetwork = false
        change(&configuration)
        return DownloadManager(configuration)
    }

    /// Waits for this many statuses, each of which is a heartbeat or a change of state.
    func beats(_ count: Int, of download: Download) async {
        var updates = download.updates.makeAsyncIterator()
        for _ in 0..<count { _ = await updates.next() }
    }
}

/// A gate that `pass()` waits at until it is opened.
final class Door: Sendable {
    private let updates = AsyncEvent()

    func open() { updates.notify() }
    func pass() async { await updates.wait(after: 0) }
}
