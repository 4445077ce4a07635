/// The user whose request takes a share of a limited resource.
public enum Claimant: Sendable, Hashable {
    /// The daemon's own user, or root.
    case own
    /// Another user; `nil` if the system does not report which.
    case other(UInt32?)
}

/// The shares of a limited resource, such as readers or bytes of pages, by claimant. Pure.
///
/// Other users, whom a door admits, can be arbitrarily slow. Each of them may hold only a part, and all of them together leave a
/// quarter to the daemon's own user.
struct Portions: Sendable {
    private let most: Int
    /// The maximum amount for one other user. ``mostOfOthers`` is the maximum for all other users together.
    private let mostOfOther: Int
    private let mostOfOthers: Int
    private(set) var held = 0
    private var heldByOther: [Claimant: Int] = [:]

    init(_ most: Int, ofOther mostOfOther: Int) {
        (self.most, self.mostOfOther, mostOfOthers) = (most, mostOfOther, most / 4 * 3)
    }

    var hasRoom: Bool { held < most }

    /// Takes an amount. Returns false if that much is not available to this claimant.
    mutating func take(_ amount: Int, for claimant: Claimant) -> Bool {
        guard amount <= most - held else { return false }
        if claimant != .own {
            let held = heldByOther[claimant] ?? 0
            guard amount <= mostOfOther - held, amount <= mostOfOthers - heldByOther.values.reduce(0, +) else {
                return false
            }
            heldByOther[claimant] = held + amount
        }
        held += amount
        return true
    }

    mutating func giveBack(_ amount: Int, of claimant: Claimant) {
        held -= amount
        guard claimant != .own, let held = heldByOther[claimant] else { return }
        heldByOther[claimant] = held > amount ? held - amount : nil
    }
}
