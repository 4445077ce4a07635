import Synchronization

/// Sends values to any number of streams, in the same order for all; a slow reader gets only the newest value.
///
/// Two locks avoid a deadlock. When a reading task is cancelled, its stream terminates while the task's state is locked, and
/// acquires `readers` to unregister. Sending wakes that task, and so waits for its state. Therefore `order` is held while
/// values are sent, and `readers` never is.
final class Broadcast<Value: Sendable>: Sendable {
    private struct Readers {
        var continuations: [Int: AsyncStream<Value>.Continuation] = [:]
        var last = 0
    }
    /// Held while values are made and sent; may be acquired before the locks that `value` takes, never after.
    private let order = Mutex<Void>(())
    private let readers = Mutex(Readers())

    var isEmpty: Bool { readers.withLock { $0.continuations.isEmpty } }

    /// Sends the value that `value` returns, if any, to all streams; with `isLast`, they end after it.
    func send(_ value: () -> (value: Value, isLast: Bool)?) {
        let ended: [AsyncStream<Value>.Continuation] = order.withLock { _ in
            guard let (value, isLast) = value() else { return [] }
            let all = readers.withLock { Array($0.continuations.values) }
            // allow(wakes): no stream unregisters under this lock.
            for continuation in all { continuation.yield(value) }
            return isLast ? takeAll() : []
        }
        for continuation in ended { continuation.finish() }
    }

    /// A stream that begins with `first` and continues with every value that is sent later; with `isLast`, it ends after the
    /// first value. `owner` is retained while the stream is read.
    func stream(
        retaining owner: (any Sendable)? = nil, beginningWith first: () -> (value: Value?, isLast: Bool)
    ) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let id: Int? = order.withLock { _ in
            let (value, isLast) = first()
            // allow(wakes): nobody reads the stream yet.
            if let value { continuation.yield(value) }
            guard !isLast else { return nil }
            return readers.withLock { readers in
                readers.last += 1
                readers.continuations[readers.last] = continuation
                return readers.last
            }
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            withExtendedLifetime(owner) {}
            self?.readers.withLock { $0.continuations[id] = nil }
        }
        return stream
    }

    /// Ends all existing streams.
    func finish() {
        let ended = order.withLock { _ in takeAll() }
        for continuation in ended { continuation.finish() }
    }

    private func takeAll() -> [AsyncStream<Value>.Continuation] {
        readers.withLock { readers in
            defer { readers.continuations = [:] }
            return Array(readers.continuations.values)
        }
    }
}
