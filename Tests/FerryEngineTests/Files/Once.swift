import Synchronization

/// `true` the first time it is read.
final class Once: Sendable {
    private let done = Atomic<Bool>(false)
    var isFirst: Bool { !done.exchange(true, ordering: .relaxed) }
    var isDone: Bool { done.load(ordering: .relaxed) }
}
