import Synchronization

/// A counter of download changes, over all managers of a process, from 1.
enum Revision {
    private static let last = Atomic<UInt64>(0)

    /// A number larger than all before.
    static func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
