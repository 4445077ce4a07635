import Synchronization

/// A limit on the bytes that all request bodies hold together.
final class BodyBudget: Sendable {
    private let most: Int
    private let held = Mutex(0)

    init(_ most: Int) { self.most = most }

    /// The bytes of one body, returned to the budget at the end of the share's life.
    struct Share: ~Copyable, Sendable {
        private let budget: BodyBudget
        private var count = 0
        private var reserved = 0

        fileprivate init(_ budget: BodyBudget) { self.budget = budget }

        /// Reserves more bytes. Returns false if the budget is exhausted.
        mutating func take(_ bytes: Int) -> Bool {
            let more = max(0, count + bytes - RequestLimits.freeBytes) - reserved
            guard budget.reserve(more) else { return false }
            count += bytes
            reserved += more
            return true
        }

        deinit { budget.release(reserved) }
    }

    func share() -> Share { Share(self) }

    /// The bytes currently reserved.
    var bytes: Int { held.withLock { $0 } }

    private func reserve(_ bytes: Int) -> Bool {
        held.withLock { held in
            guard held + bytes <= most else { return false }
            held += bytes
            return true
        }
    }

    private func release(_ bytes: Int) { held.withLock { $0 -= bytes } }
}

/// Separate budgets for TCP and for the Unix socket, so that clients of one cannot exhaust the other's.
struct BodyBudgets: Sendable {
    private let local: BodyBudget
    let remote: BodyBudget

    init(_ most: Int) {
        local = BodyBudget(most)
        remote = BodyBudget(most)
    }

    /// The bytes currently reserved in both budgets.
    var held: Int { local.bytes + remote.bytes }

    subscript(call: APIRequest) -> BodyBudget { call.isLocal ? local : remote }
}
