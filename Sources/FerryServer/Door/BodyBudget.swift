import Synchronization

/// The bytes that bodies of requests hold, all together.
final class BodyBudget: Sendable {
    private let most: Int
    private let held = Mutex(0)

    init(_ most: Int) { self.most = most }

    /// The bytes of one body; they are given back when it goes.
    struct Share: ~Copyable {
        private let budget: BodyBudget
        private var count = 0
        private var reserved = 0

        fileprivate init(_ budget: BodyBudget) { self.budget = budget }

        /// Takes so many bytes more. Returns false where they are not left.
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

    /// The bytes that are held now.
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

/// The budgets of both doors: clients over TCP take nothing from those of the Unix socket.
struct BodyBudgets: Sendable {
    private let local: BodyBudget
    private let remote: BodyBudget

    init(_ most: Int) {
        local = BodyBudget(most)
        remote = BodyBudget(most)
    }

    /// The bytes that are held now.
    var held: Int { local.bytes + remote.bytes }

    subscript(visit: APIRequest) -> BodyBudget { visit.isLocal ? local : remote }
}
