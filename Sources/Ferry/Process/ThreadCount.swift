import FerryEngine
import NIOCore

/// The number of threads that this process may start.
package enum ThreadCount {
    /// Returns how many threads can be started, and how many a command needs. Must be called before any thread is started,
    /// because it reduces the number of event loops if threads are scarce.
    ///
    /// - Parameter isService: Whether the command is a server or a worker of a fleet.
    package static func found(isService: Bool) -> (found: Int, least: Int) {
        if ThreadSupply.isScarce { NIOSingletons.groupLoopCountSuggestion = 1 }
        guard isService else { return (ThreadSupply.found, ThreadSupply.leastForDownload) }
        let least = ThreadSupply.leastForService
        return (ThreadSupply.isScarce ? ThreadSupply.found : ThreadSupply.probe(upTo: least), least)
    }
}
