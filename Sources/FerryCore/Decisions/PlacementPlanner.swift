/// Finds a position between others: their middle, and where there is none left, new positions for as few as need be.
package enum PlacementPlanner {
    /// What lies between two that join one after the other.
    package static let spacing: Int64 = 1 << 20
    /// The least distance that renumbering leaves inside a list.
    private static let leastStep: Int64 = 1 << 8

    /// Where to; all within the priority of what is moved.
    package enum Placement: Sendable, Hashable {
        case front, back
        /// Directly before or behind what has this key. If that has another priority: as near to it as its own allows.
        case before(QueueKey)
        case after(QueueKey)

        /// Whether this is behind what has a key.
        package func isBehind(_ key: QueueKey) -> Bool {
            switch self {
            case .front: false
            case .back: true
            case .before(let other): key < other
            case .after(let other): key <= other
            }
        }
    }

    /// The new key of what is moved between two neighbours: none when it is there already, `nil` when others have to make
    /// room.
    package static func place(_ moved: QueuePlace, in gap: QueueGap) -> [QueuePlace]? {
        let (left, right) = (gap.left?.key, gap.right?.key)
        let isThere = (left.map { $0 < moved.key } ?? true) && (right.map { moved.key < $0 } ?? true)
        if isThere { return [] }
        return between(left?.position, right?.position).map { position in
            [QueuePlace(id: moved.id, key: QueueKey(priority: moved.key.priority, position: position))]
        }
    }

    /// The new keys: none when it is there already, else that of what is moved and of those that had to make room.
    ///
    /// - Parameter listed: everything that is listed, or everything of that priority, ascending by key; it may hold the
    ///   moved one. It is read at a few places only, unless room must be made.
    package static func place(
        _ moved: QueuePlace, _ placement: Placement, among listed: some RandomAccessCollection<QueuePlace>
    ) -> [QueuePlace] {
        let list = Level(moved: moved, listed: listed)
        let gap = list.gap(placement)
        let nearest = QueueGap(
            left: list.neighbours(before: gap, atMost: 1).first, right: list.neighbours(from: gap, atMost: 1).first)
        if let changed = place(moved, in: nearest) { return changed }
        var reach = 1
        while true {
            // One more on each side says between what the new positions must lie.
            let before = Array(list.neighbours(before: gap, atMost: reach + 1).reversed())
            let after = list.neighbours(from: gap, atMost: reach + 1)
            let lower = before.count > reach ? before.first : nil
            let upper = after.count > reach ? after.last : nil
            let inner = before.suffix(reach).map(\.id) + [moved.id] + after.prefix(reach).map(\.id)
            if let positions = spread(inner.count, lower?.key.position, upper?.key.position) {
                let old = Dictionary((before + after).map { ($0.id, $0.key) }) { first, _ in first }
                return zip(inner, positions).map { list.place($0, at: $1) }.filter { old[$0.id] != $0.key }
            }
            reach *= 2
        }
    }

    /// A position strictly between two; `nil` stands for no bound. `nil` when there is none.
    package static func between(_ lower: Int64?, _ upper: Int64?) -> Int64? {
        switch (lower, upper) {
        case (nil, nil): return spacing
        case (let lower?, nil): return sum(lower, spacing)
        case (nil, let upper?): return sum(upper, -spacing)
        case (let lower?, let upper?):
            guard lower < upper else { return nil }
            let middle = lower + Int64((UInt64(bitPattern: upper) &- UInt64(bitPattern: lower)) / 2)
            return middle > lower ? middle : nil
        }
    }

    /// So many positions between two, evenly; `nil` when they would be too near to each other.
    private static func spread(_ count: Int, _ lower: Int64?, _ upper: Int64?) -> [Int64]? {
        let count = Int64(count)
        switch (lower, upper) {
        case (nil, nil):
            return (1...count).map { $0 * spacing }
        case (let lower?, nil):
            guard sum(lower, count * spacing) != nil else { return nil }
            return (1...count).map { lower + $0 * spacing }
        case (nil, let upper?):
            guard sum(upper, -count * spacing) != nil else { return nil }
            return (1...count).map { upper - (count + 1 - $0) * spacing }
        case (let lower?, let upper?):
            guard lower < upper else { return nil }
            let step = (UInt64(bitPattern: upper) &- UInt64(bitPattern: lower)) / UInt64(count + 1)
            guard step >= UInt64(leastStep) else { return nil }
            return (1...count).map { lower + Int64(min(step, UInt64(spacing))) * $0 }
        }
    }

    private static func sum(_ left: Int64, _ right: Int64) -> Int64? {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? nil : sum
    }
}

/// The listed ones of one priority, as if the moved one were not among them.
private struct Level<List: RandomAccessCollection<QueuePlace>> {
    let moved: QueuePlace
    let list: List
    private let start: List.Index
    private let end: List.Index

    init(moved: QueuePlace, listed: List) {
        self.moved = moved
        list = listed
        start = Self.first(in: listed) { $0.priority <= moved.key.priority }
        end = Self.first(in: listed) { $0.priority < moved.key.priority }
    }

    func place(_ id: DownloadID, at position: Int64) -> QueuePlace {
        QueuePlace(id: id, key: QueueKey(priority: moved.key.priority, position: position))
    }

    /// Before which of the list it is to be.
    func gap(_ placement: PlacementPlanner.Placement) -> List.Index {
        switch placement {
        case .front: start
        case .back: end
        case .before(let key): min(max(Self.first(in: list) { $0 >= key }, start), end)
        case .after(let key): min(max(Self.first(in: list) { $0 > key }, start), end)
        }
    }

    /// Those before a place, the nearest first.
    func neighbours(before index: List.Index, atMost count: Int) -> [QueuePlace] {
        Array(list[start..<index].reversed().lazy.filter { $0.id != moved.id }.prefix(count))
    }

    /// Those behind a place, the nearest first.
    func neighbours(from index: List.Index, atMost count: Int) -> [QueuePlace] {
        Array(list[index..<end].lazy.filter { $0.id != moved.id }.prefix(count))
    }

    /// The first whose key is so, and all behind it.
    private static func first(in list: List, where isSo: (QueueKey) -> Bool) -> List.Index {
        var low = list.startIndex
        var count = list.count
        while count > 0 {
            let half = count / 2
            let middle = list.index(low, offsetBy: half)
            if isSo(list[middle].key) {
                count = half
            } else {
                low = list.index(after: middle)
                count -= half + 1
            }
        }
        return low
    }
}
