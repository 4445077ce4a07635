import Synchronization

/// True the first time it is asked.
final class Once: Sendable {
    private let done = Atomic<Bool>(false)
    var isFirst: Bool { !done.exchange(true, ordering: .relaxed) }
    var isDone: Bool { done.load(ordering: .relaxed) }
}
