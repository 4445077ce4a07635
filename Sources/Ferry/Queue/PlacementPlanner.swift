/// Computes queue positions: the middle between two neighbours or, if that position is in use, new positions for as few
/// downloads as possible.
package enum PlacementPlanner {
    /// The distance between two downloads that are added in succession.
    static let spacing: Int64 = 1 << 20
    /// The minimum distance that renumbering leaves between two neighbours.
    private static let leastStep: Int64 = 1 << 8

    /// A target position within the moved download's priority.
    package enum Placement: Sendable, Hashable {
        case front, back
        /// Directly before or after the download with this key. If its priority differs, as close to it as the moved
        /// download's priority permits.
        case before(QueueKey)
        case after(QueueKey)

        /// Whether this target comes after the given key.
        func isBehind(_ key: QueueKey) -> Bool {
            switch self {
            case .front: false
            case .back: true
            case .before(let other): key < other
            case .after(let other): key <= other
            }
        }
    }

    /// Returns the new key between two neighbours: empty if the download is already there, `nil` if neighbours have to
    /// be renumbered.
    static func place(_ moved: QueuePlace, in gap: QueueGap) -> [QueuePlace]? {
        let (left, right) = (gap.left?.key, gap.right?.key)
        let isThere = (left.map { $0 < moved.key } ?? true) && (right.map { moved.key < $0 } ?? true)
        if isThere { return [] }
        return between(left?.position, right?.position).map { position in
            [QueuePlace(id: moved.id, key: QueueKey(priority: moved.key.priority, position: position))]
        }
    }

    /// Returns the changed keys: empty if the download is already there, otherwise its own and those of renumbered
    /// neighbours.
    ///
    /// - Parameter listed: All listed downloads, or all with the priority of the moved one, in ascending order of keys, with or
    ///   without the moved one. Only a few elements are read unless neighbours have to be renumbered.
    static func place(
        _ moved: QueuePlace, _ placement: Placement, among listed: some RandomAccessCollection<QueuePlace>
    ) -> [QueuePlace] {
        let list = Level(moved: moved, listed: listed)
        let gap = list.gap(placement)
        let nearest = QueueGap(
            left: list.neighbours(before: gap, atMost: 1).first, right: list.neighbours(from: gap, atMost: 1).first)
        if let changed = place(moved, in: nearest) { return changed }
        var reach = 1
        while true {
            // One more neighbour on each side gives the bounds of the new positions.
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

    /// Returns the changed keys that move several downloads of one priority to one place, in this order. These are the keys of
    /// the moved downloads or, if there is no room, of all listed downloads.
    ///
    /// - Parameter listed: All listed downloads of that priority, in ascending order of keys, with or without the moved ones.
    static func place(
        _ moved: [QueuePlace], _ placement: Placement, among listed: [QueuePlace]
    ) -> [QueuePlace] {
        guard let first = moved.first else { return [] }
        let own = Set(moved.map(\.id))
        let others = listed.filter { !own.contains($0.id) }
        let index = others.firstIndex { !placement.isBehind($0.key) } ?? others.count
        var ids = moved.map(\.id)
        var positions = spread(
            ids.count, index > 0 ? others[index - 1].key.position : nil,
            index < others.count ? others[index].key.position : nil)
        if positions == nil {
            ids = others[..<index].map(\.id) + ids + others[index...].map(\.id)
            positions = spread(ids.count, nil, nil)
        }
        let old = Dictionary((listed + moved).map { ($0.id, $0.key) }) { first, _ in first }
        return zip(ids, positions ?? []).map { id, position in
            QueuePlace(id: id, key: QueueKey(priority: first.key.priority, position: position))
        }.filter { old[$0.id] != $0.key }
    }

    /// Returns a position strictly between two bounds (`nil` for none); `nil` if there is no such position.
    static func between(_ lower: Int64?, _ upper: Int64?) -> Int64? {
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

    /// Returns `count` evenly spaced positions between two bounds; `nil` if they would be closer than ``leastStep``.
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

/// The listed downloads of one priority, without the moved one.
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

    /// The index in the list before which the moved download is inserted.
    func gap(_ placement: PlacementPlanner.Placement) -> List.Index {
        switch placement {
        case .front: start
        case .back: end
        case .before(let key): min(max(Self.first(in: list) { $0 >= key }, start), end)
        case .after(let key): min(max(Self.first(in: list) { $0 > key }, start), end)
        }
    }

    /// The neighbours before an index, nearest first.
    func neighbours(before index: List.Index, atMost count: Int) -> [QueuePlace] {
        Array(list[start..<index].reversed().lazy.filter { $0.id != moved.id }.prefix(count))
    }

    /// The neighbours from an index on, nearest first.
    func neighbours(from index: List.Index, atMost count: Int) -> [QueuePlace] {
        Array(list[index..<end].lazy.filter { $0.id != moved.id }.prefix(count))
    }

    /// Binary search for the first key that satisfies `isSo`; all keys after it must satisfy it too.
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
