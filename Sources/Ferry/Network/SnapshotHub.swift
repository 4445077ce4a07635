import Synchronization

/// Stores the newest snapshot and sends it to all listeners; a slow listener gets only the newest snapshot.
package final class SnapshotHub: Sendable {
    private let snapshot: Mutex<NetworkSnapshot>
    private let listeners = Broadcast<NetworkSnapshot>()

    package init(_ snapshot: NetworkSnapshot = .assumed) { self.snapshot = Mutex(snapshot) }

    package var current: NetworkSnapshot { snapshot.withLock { $0 } }

    /// The newest snapshot and every later one that differs from its predecessor.
    package func changes() -> AsyncStream<NetworkSnapshot> {
        listeners.stream { (current, isLast: false) }
    }

    /// Changes the snapshot; sends nothing if the result is equal.
    package func update(_ change: (inout NetworkSnapshot) -> Void) {
        listeners.send {
            snapshot.withLock { snapshot -> (NetworkSnapshot, isLast: Bool)? in
                let before = snapshot
                change(&snapshot)
                guard snapshot != before else { return nil }
                return (snapshot, isLast: false)
            }
        }
    }

    /// Ends all streams; streams created later are not affected.
    package func finish() { listeners.finish() }
}
