import Synchronization

/// Links that are valid for a limited number of uses.
final class TokenBook: Sendable {
    private let uses: Mutex<[Int: Int]> = Mutex([:])
    private let hits: Int

    init(hits: Int) { self.hits = hits }

    func issue() -> Int {
        uses.withLock { uses in
            uses[uses.count] = hits
            return uses.count - 1
        }
    }

    func use(_ token: Int?) -> Bool {
        guard let token else { return false }
        return uses.withLock { uses in
            guard let left = uses[token], left > 0 else { return false }
            uses[token] = left - 1
            return true
        }
    }
}
