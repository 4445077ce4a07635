import Synchronization

/// A point where an answer stops until a test lets it go on: order without sleeping.
///
/// A gate is closed until `open()`; then it stays open. `arrived(_:)` returns when that many answers have come to it.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrivals = 0
        var held: [@Sendable () -> Void] = []
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }
    private let state = Mutex(State())

    /// A closed gate.
    public init() {}

    /// Lets everything through from now on.
    public func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for release in held { release() }
    }

    /// Waits until `count` answers have come to the gate, held or not.
    public func arrived(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.arrivals >= count { return true }
                state.waiting.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Says that an answer has come; true: go on, false: `release` will be called.
    func pass(_ release: @escaping @Sendable () -> Void) -> Bool {
        let (isOpen, ready) = state.withLock { state in
            state.arrivals += 1
            let arrivals = state.arrivals
            let ready = state.waiting.filter { $0.count <= arrivals }
            state.waiting.removeAll { $0.count <= arrivals }
            if !state.isOpen { state.held.append(release) }
            return (state.isOpen, ready)
        }
        for waiter in ready { waiter.continuation.resume() }
        return isOpen
    }
}
