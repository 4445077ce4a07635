import Synchronization

/// A limit on the memory for all bodies of one kind together, in bytes, such as those of requests.
public final class BodyBudget: Sendable {
    private let held: Mutex<Portions>

    /// - Parameters:
    ///   - most: The maximum number of bytes of all bodies. The first 4 KiB of each do not count.
    ///   - mostOfOther: The maximum number of bytes for one other user, where other users are admitted.
    public init(_ most: Int, ofOther mostOfOther: Int = 0) { held = Mutex(Portions(most, ofOther: mostOfOther)) }

    /// The bytes of one body, which return to the budget at the end of the share's lifetime.
    public struct Share: ~Copyable, Sendable {
        private let budget: BodyBudget
        private let claimant: Claimant
        private var count = 0
        private var reserved = 0

        fileprivate init(_ budget: BodyBudget, _ claimant: Claimant) {
            (self.budget, self.claimant) = (budget, claimant)
        }

        /// Reserves more bytes. Returns false if the budget is exhausted.
        public mutating func take(_ bytes: Int) -> Bool {
            let more = max(0, count + bytes - RequestLimits.freeBytes) - reserved
            guard budget.held.withLock({ $0.take(more, for: claimant) }) else { return false }
            count += bytes
            reserved += more
            return true
        }

        /// Returns all bytes to the budget.
        public mutating func giveBack() {
            let (given, claimant) = (reserved, claimant)
            budget.held.withLock { $0.giveBack(given, of: claimant) }
            (count, reserved) = (0, 0)
        }

        deinit { budget.held.withLock { $0.giveBack(reserved, of: claimant) } }
    }

    /// Returns the share of a body, which is empty at first.
    ///
    /// - Parameter claimant: The user of the request.
    public func share(for claimant: Claimant = .own) -> Share { Share(self, claimant) }

    /// The bytes currently reserved.
    public var bytes: Int { held.withLock { $0.held } }
}

/// Separate budgets for TCP and for the Unix socket, so that clients of one cannot exhaust the budget of the other.
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
