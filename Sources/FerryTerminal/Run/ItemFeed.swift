import Dispatch
import Synchronization

/// Reads the items of lists that are still being written to, on its own thread, because a read blocks until the writer writes.
final class ItemFeed: Sendable {
    private let queue = DispatchQueue(label: "ferry.list")
    /// Accessed only on the queue.
    private let items: Mutex<PlannedItems.Iterator>
    private let waiting = Mutex<CheckedContinuation<PlannedItems.Placed?, Never>?>(nil)

    init(_ items: PlannedItems.Iterator) { self.items = Mutex(items) }

    /// Returns the next item; `nil` at the end, or when the task is cancelled. Not reentrant.
    func next() async -> PlannedItems.Placed? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.withLock { $0 = continuation }
                if Task.isCancelled { return resume(with: nil) }
                queue.async { self.resume(with: self.items.withLock { $0.nextPlaced() }) }
            }
        } onCancel: {
            resume(with: nil)
        }
    }

    private func resume(with item: PlannedItems.Placed?) {
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(returning: item)
    }
}
