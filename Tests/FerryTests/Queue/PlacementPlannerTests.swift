import FerryCore
import FerryTesting
import Testing

@testable import Ferry

@Suite("PlacementPlanner")
struct PlacementPlannerTests {
    @Test(
        "PlacementPlanner: random moves in dense lists give the requested order and change few keys", arguments: 0..<40)
    func randomMoves(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let count = Int.random(in: 1...60, using: &random)
        let spacings: [Int64] = [1, 3, 1000, PlacementPlanner.spacing]
        let spacing = spacings[seed % spacings.count]
        var list = (0..<count).map { place("\($0)", Int64($0) * spacing) }
        for _ in 0..<200 {
            let from = Int.random(in: 0..<count, using: &random)
            let moved = list[from]
            let other = list[Int.random(in: 0..<count, using: &random)]
            var expected = list.map(\.id)
            expected.remove(at: from)
            let placement: PlacementPlanner.Placement
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                placement = .front
                expected.insert(moved.id, at: 0)
            case 1:
                placement = .back
                expected.append(moved.id)
            case 2:
                placement = .before(other.key)
                expected.insert(moved.id, at: expected.firstIndex(of: other.id) ?? from)
            default:
                placement = .after(other.key)
                expected.insert(moved.id, at: expected.firstIndex(of: other.id).map { $0 + 1 } ?? from)
            }
            let changed = PlacementPlanner.place(moved, placement, among: list)
            let keys = Dictionary(uniqueKeysWithValues: changed.map { ($0.id, $0.key) })
            list = list.map { QueuePlace(id: $0.id, key: keys[$0.id] ?? $0.key) }.sorted { $0.key < $1.key }
            #expect(list.map(\.id) == expected, "seed \(seed), \(placement)")
            #expect(Set(list.map(\.key)).count == count, "seed \(seed)")
            if spacing > 1000 { #expect(changed.count <= 1 + count / 2 || count < 8, "seed \(seed)") }
        }
    }

    @Test("PlacementPlanner: a move to the current place changes no key")
    func alreadyThere() {
        let list = [place("a", 1), place("b", 2), place("c", 3)]
        #expect(PlacementPlanner.place(list[0], .front, among: list) == [])
        #expect(PlacementPlanner.place(list[2], .back, among: list) == [])
        #expect(PlacementPlanner.place(list[1], .before(list[2].key), among: list) == [])
        #expect(PlacementPlanner.place(list[1], .after(list[0].key), among: list) == [])
        #expect(PlacementPlanner.place(list[1], .after(list[1].key), among: list) == [])
    }

    @Test("PlacementPlanner: beside a download of another priority the own priority is kept")
    func otherPriority() {
        let list = [place("high", 50, priority: 1), place("a", 10), place("b", 20), place("low", 5, priority: -1)]
        func first(_ placement: PlacementPlanner.Placement) -> [QueuePlace] {
            PlacementPlanner.place(list[2], placement, among: list)
        }
        #expect(first(.before(list[0].key)).allSatisfy { $0.key.priority == 0 && $0.key.position < 10 })
        #expect(!first(.before(list[0].key)).isEmpty)
        #expect(first(.after(list[3].key)) == [])
    }

    @Test("PlacementPlanner: equal keys and keys at the limits of Int64 never trap")
    func extremes() {
        let lists: [[Int64]] = [
            [7, 7, 7, 7], [.min, .max], [.max, .max], [.min, .min, .max], [.min, .min + 1], [0],
        ]
        for positions in lists {
            let list = positions.enumerated().map { place("\($0.offset)", $0.element) }
            let new = place("new", 0)
            for placement: PlacementPlanner.Placement in [.front, .back, .before(list[0].key), .after(list[0].key)] {
                let changed = PlacementPlanner.place(new, placement, among: list)
                let keys = Dictionary(uniqueKeysWithValues: changed.map { ($0.id, $0.key) })
                let after = (list + [new]).map { keys[$0.id] ?? $0.key }
                if placement == .front { #expect(after.min() == after.last, "\(positions)") }
                if placement == .back { #expect(after.max() == after.last, "\(positions)") }
            }
        }
        #expect(PlacementPlanner.between(.min, .max).map { $0 > .min && $0 < .max } ?? false)
        #expect(PlacementPlanner.between(5, 6) == nil)
        #expect(PlacementPlanner.between(6, 5) == nil)
        #expect(PlacementPlanner.between(.max, nil) == nil)
        #expect(PlacementPlanner.between(nil, .min) == nil)
    }

    private func place(_ id: String, _ position: Int64, priority: Int = 0) -> QueuePlace {
        QueuePlace(id: DownloadID(rawValue: id), key: QueueKey(priority: priority, position: position))
    }

    @Test("PlacementPlanner: several come to one place in their order, and all are renumbered only without a gap")
    func several() {
        func list(_ positions: [Int64]) -> [QueuePlace] {
            positions.enumerated().map { index, position in
                QueuePlace(
                    id: DownloadID(rawValue: "\(index)"), key: QueueKey(priority: 0, position: position))
            }
        }
        func order(_ listed: [QueuePlace], _ changes: [QueuePlace]) -> [String] {
            var keys = Dictionary(uniqueKeysWithValues: listed.map { ($0.id, $0.key) })
            for change in changes { keys[change.id] = change.key }
            return keys.sorted { $0.value < $1.value }.map(\.key.rawValue)
        }
        for spacing in [Int64(1), PlacementPlanner.spacing] {
            let listed = list((1...6).map { $0 * spacing })
            let moved = [listed[4], listed[1]]
            let cases: [(PlacementPlanner.Placement, [String])] = [
                (.front, ["4", "1", "0", "2", "3", "5"]), (.back, ["0", "2", "3", "5", "4", "1"]),
                (.before(listed[3].key), ["0", "2", "4", "1", "3", "5"]),
                (.after(listed[3].key), ["0", "2", "3", "4", "1", "5"]),
            ]
            for (placement, expected) in cases {
                let changes = PlacementPlanner.place(moved, placement, among: listed)
                #expect(order(listed, changes) == expected, "\(placement)")
                if spacing > 1 { #expect(changes.count == 2) }
            }
        }
        #expect(PlacementPlanner.place([], .front, among: list([1])).isEmpty)
    }
}
