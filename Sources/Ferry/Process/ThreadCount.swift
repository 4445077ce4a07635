import FerryEngine
import NIOCore

/// The threads that this process may start.
package enum ThreadCount {
    /// Returns how many threads can be started, and how many a command needs. Called before any is started: event loops are
    /// then as few as the threads are.
    ///
    /// - Parameter isService: Whether the command serves others, or does the work of a fleet.
    package static func found(isService: Bool) -> (found: Int, least: Int) {
        if ThreadSupply.isScarce { NIOSingletons.groupLoopCountSuggestion = 1 }
        guard isService else { return (ThreadSupply.found, ThreadSupply.leastForDownload) }
        let least = ThreadSupply.leastForService
        return (ThreadSupply.isScarce ? ThreadSupply.found : ThreadSupply.probe(upTo: least), least)
    }
}
