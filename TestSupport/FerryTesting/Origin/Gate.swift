import Synchronization

/// A point at which a response stops until a test lets it continue: ordering without sleeping.
///
/// A gate is closed until `open()` and then stays open. `arrived(_:)` waits until a number of responses have reached it.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrivals = 0
        var held: [@Sendable () -> Void] = []
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }
    private let state = Mutex(State())

    /// Creates a closed gate.
    public init() {}

    /// Releases all held responses, and lets later ones pass.
    public func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for release in held { release() }
    }

    /// Waits until `count` responses have reached the gate, held or not.
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

    /// Registers the arrival of a response. Returns true to continue; otherwise `release` is called later.
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
