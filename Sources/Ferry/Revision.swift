import Synchronization

/// Numbers the changes of downloads, over all of them and all managers of a process, from 1.
enum Revision {
    private static let last = Atomic<UInt64>(0)

    /// A larger one than all before.
    static func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
