import Dispatch
import FerryCore
import FerryTesting
import Synchronization

@testable import Ferry
@testable import FerryEngine

/// One process of an app, which a test can kill between any two calls of the file system, without a shutdown.
///
///     call of the file system ─► enter: from the fatal call on, threads stop here
///     stop ─► the catalogue is closed, as it would be left ─► bury: the threads go on, and every call fails
///
/// What the process did before it stopped is on the disk, in the list and with the system; what it does afterwards is not.
final class WalkLife: Sendable {
    private struct State {
        /// While the list is open.
        var calls = 0
        var allCalls = 0
        var isStopped = false
        var isDead = false
        weak var scheduler: Scheduler?
    }
    private let state = Mutex(State())
    private let fatalCall: Int
    private let burial = DispatchGroup()
    /// Notified when the process has stopped.
    let news = AsyncEvent()

    /// - Parameter fatalCall: The call of the file system before which the process stops, counted while its list is open.
    init(dyingAt fatalCall: Int) {
        self.fatalCall = fatalCall
        burial.enter()
    }

    deinit { if !isDead { burial.leave() } }

    /// Whether what the process does still counts.
    var isAlive: Bool { !isDead }
    private var isDead: Bool { state.withLock { $0.isDead } }
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// The calls of the file system so far.
    var calls: Int { state.withLock { $0.allCalls } }

    func follow(_ scheduler: Scheduler?) { state.withLock { $0.scheduler = scheduler } }

    /// Called on the thread of a call of the file system, before it; returns the error of a dead process' call.
    func enter() -> FileError.Kind? {
        let scheduler = state.withLock { $0.scheduler }
        let isOpen = scheduler?.store != nil
        let (stops, isNews) = state.withLock { state in
            state.allCalls += 1
            if isOpen { state.calls += 1 }
            let isNews = isOpen && state.calls > fatalCall && !state.isStopped
            if isNews { state.isStopped = true }
            return (state.isStopped, isNews)
        }
        if isNews { news.notify() }
        guard stops else { return nil }
        burial.wait()
        return .io
    }

    /// Stops the process: no call of its file system is made any more.
    func stop() { state.withLock { $0.isStopped = true } }

    /// Lets the threads of the process go on, without any effect.
    func bury() {
        let isFirst = state.withLock { state in
            defer { state.isDead = true }
            return !state.isDead
        }
        if isFirst { burial.leave() }
    }
}
