import FerryCore
import FerryTesting
import Testing

@testable import Ferry

@Suite("QueueMachine against a naive list", .timeLimit(.minutes(30)))
struct QueueMachineModelTests {
    @Test(
        "QueueMachine: random facts give the decisions of a naive list, within the limit and in order", arguments: 0..<8
    )
    func randomFacts(batch: Int) {
        for number in 0..<250 {
            let seed = UInt64(batch * 1000 + number)
            var run = RandomQueueRun(seed: seed)
            for _ in 0..<40 {
                run.step()
                #expect(run.problems == [], "seed \(seed)")
                if !run.problems.isEmpty { return }
            }
            run.drain()
            #expect(run.problems == [], "seed \(seed), at the end")
            if !run.problems.isEmpty { return }
        }
    }
}

/// Applies random facts to the queue and to a list, and compares their results.
private struct RandomQueueRun {
    var queue: QueueMachine
    var model: NaiveQueue
    var problems: [String] = []
    private var random: SeededGenerator
    private var now = Duration.zero

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let limit = Int.random(in: 0...4, using: &random)
        queue = QueueMachine(limit: limit)
        model = NaiveQueue(limit: limit)
    }

    mutating func step() {
        let id = DownloadID(rawValue: "\(Int.random(in: 0..<14, using: &random))")
        let until = now + .seconds(Int.random(in: -1...6, using: &random))
        switch Int.random(in: 0..<28, using: &random) {
        case 0...4: join(id, as: .queued)
        case 5: join(id, as: .waiting(until: until))
        case 6: take(.rest(.parked), of: id)
        case 7, 8:
            // Only a run can end without a request.
            guard model.items[id]?.hasRun ?? false else { break }
            take(.rest(.parked), of: id)
            take(.ended, of: id)
        case 9...12:
            guard let ending = model.items.keys.filter({ model.items[$0]?.isEnding ?? false }).min(by: ordered)
            else { break }
            take(.ended, of: ending)
        case 13:
            // A parked download is not retried automatically.
            if queue.entries[id]?.state.isParked == false { take(.rest(.waiting(until: until)), of: id) }
        case 14: take(.wake, of: id)
        case 15:
            let limit = Int.random(in: -1...5, using: &random)
            queue.set(limit: limit)
            model.limit = max(0, limit)
        case 16, 17:
            let network = NetworkStatus(
                isOnline: Int.random(in: 0..<4, using: &random) > 0, isMetered: Bool.random(using: &random),
                isConstrained: Int.random(in: 0..<4, using: &random) == 0)
            queue.set(network: network)
            model.network = network
        case 18:
            let needs = randomNeeds()
            if queue.entries[id]?.state.isParked == false {
                queue.setNeeds(needs, of: id)
                model.items[id]?.needs = needs
            }
        case 19:
            guard let key = model.items[id]?.key else { break }
            let new = QueueKey(priority: Int.random(in: -1...1, using: &random), position: key.position)
            queue.set(key: new, of: id)
            model.items[id]?.key = new
        case 20: move(id)
        case 21, 22: hold(id)
        case 23, 24:
            guard let held = model.items.keys.filter({ model.items[$0]?.isHeld ?? false }).min(by: ordered)
            else { break }
            take(.settle, of: held)
        case 25: take(.remove, of: id)
        case 26: if Int.random(in: 0..<4, using: &random) == 0 { restart() }
        default: now += .seconds(Int.random(in: 0...3, using: &random))
        }
        decide()
    }

    /// Every permitted download starts, and every completion starts the next.
    mutating func drain() {
        queue.set(network: .online)
        model.network = .online
        queue.set(limit: 2)
        model.limit = 2
        now += .seconds(100)
        let expected = Set(model.items.filter { !$1.hasRun && !$1.isHeld && $1.rest != .parked }.keys)
        var started: Set<DownloadID> = []
        for _ in 0..<60 {
            started.formUnion(decide())
            for (id, item) in model.items {
                if item.isHeld { take(.settle, of: id) }
                guard item.hasRun else { continue }
                if !item.isEnding { take(.rest(.parked), of: id) }
                take(.ended, of: id)
            }
        }
        if !expected.isSubset(of: started) { problems.append("never started: \(expected.subtracting(started))") }
        if queue.activeCount != 0 { problems.append("left over: \(queue.activeCount), \(model.items)") }
        if queue.occupiedCount != 0 { problems.append("slots are taken by nobody") }
    }

    private func ordered(_ left: DownloadID, _ right: DownloadID) -> Bool { left.rawValue < right.rawValue }

    private mutating func randomNeeds() -> NetworkNeeds {
        if Int.random(in: 0..<5, using: &random) == 0 { return NetworkNeeds(isLocal: true) }
        return NetworkNeeds(
            allowsMetered: Bool.random(using: &random), allowsConstrained: Bool.random(using: &random))
    }

    private mutating func take(_ fact: QueueEntry.Fact, of id: DownloadID) {
        queue.take(fact, of: id)
        model.take(fact, of: id)
    }

    private mutating func join(_ id: DownloadID, as rest: QueueEntry.Rest) {
        let key = queue.takeKey(DownloadPriority(rawValue: Int.random(in: -1...1, using: &random)))
        if key.position <= model.highestPosition {
            problems.append("\(id) joined at \(key.position), not behind \(model.highestPosition)")
        }
        let needs = randomNeeds()
        queue.enter(id, key: key, rule: needs.rule, host: needs.host, as: rest)
        model.join(id, key: key, needs: needs, as: rest)
    }

    private mutating func hold(_ id: DownloadID) {
        let run = queue.hold(id)
        let isExpected = model.items[id].map { $0.hasRun } ?? false
        if (run != nil) != isExpected { problems.append("\(id) is held with \(run == nil ? "no" : "a") run") }
        model.take(.hold, of: id)
    }

    /// The process ends now, and the list is opened again: without runs, and with every download.
    private mutating func restart() {
        model.restart()
        queue = QueueMachine(limit: model.limit, network: NetworkSnapshot(status: model.network))
        for (id, item) in model.items {
            queue.enter(id, key: item.key, rule: item.needs.rule, host: item.needs.host, as: item.rest)
        }
        _ = queue.takeKey(.normal)
    }

    private mutating func move(_ id: DownloadID) {
        guard let item = model.items[id] else { return }
        let listed = model.items.map { QueuePlace(id: $0, key: $1.key) }.sorted { $0.key < $1.key }
        let other = listed[Int.random(in: 0..<listed.count, using: &random)]
        let placement: PlacementPlanner.Placement =
            switch Int.random(in: 0..<4, using: &random) {
            case 0: .front
            case 1: .back
            case 2: .before(other.key)
            default: .after(other.key)
            }
        let changed = queue.move(QueuePlace(id: id, key: item.key), to: placement, among: listed)
        for place in changed {
            model.items[place.id]?.key = place.key
            model.highestPosition = max(model.highestPosition, place.key.position)
        }
    }

    @discardableResult
    private mutating func decide() -> [DownloadID] {
        let occupiedBefore = queue.occupiedCount
        let decision = queue.decide(at: now)
        let expected = model.decide(at: now)
        if decision != expected { problems.append("decided \(decision), not \(expected)") }
        if queue.occupiedCount > max(model.limit, occupiedBefore) { problems.append("more than the limit run") }
        if !decision.start.isEmpty, queue.occupiedCount > model.limit { problems.append("started above the limit") }
        let again = queue.decide(at: now)
        if again != .init(nextWake: expected.nextWake) { problems.append("asked again, it says \(again)") }
        for (id, item) in model.items {
            guard let entry = queue.entries[id] else {
                problems.append("\(id) is lost")
                continue
            }
            if entry.key != item.key { problems.append("\(id) has another key") }
            if (entry.state.run != nil) != item.hasRun || entry.state.isChanging != item.isHeld {
                problems.append("\(id) is \(entry.state), not \(item)")
            }
        }
        if queue.entries.count != model.items.count { problems.append("\(queue.entries.count) are listed") }
        if Set(queue.runs.map { ObjectIdentifier($0.value) }).count != model.items.values.count(where: \.hasRun) {
            problems.append("two downloads have the same run")
        }
        return decision.start
    }
}

/// The queue as a list that is sorted each time.
private struct NaiveQueue {
    struct Item {
        var key: QueueKey
        var needs: NetworkNeeds
        /// The state without a run.
        var rest: QueueEntry.Rest
        var hasRun = false
        /// Its run is ending.
        var isEnding = false
        var isHeld = false
        var isLeaving = false
        /// It is held since its run, and is to run again.
        var keepsSlot = false
        var isRunning: Bool { hasRun && !isEnding }
        var takesSlot: Bool { hasRun || keepsSlot }
    }

    var limit: Int
    var network = NetworkStatus.online
    var items: [DownloadID: Item] = [:]
    var highestPosition: Int64 = 0

    mutating func join(_ id: DownloadID, key: QueueKey, needs: NetworkNeeds, as rest: QueueEntry.Rest) {
        highestPosition = key.position
        var item = items[id] ?? Item(key: key, needs: needs, rest: rest)
        (item.key, item.needs, item.isLeaving) = (key, needs, false)
        items[id] = item
        take(.rest(rest), of: id)
    }

    mutating func take(_ fact: QueueEntry.Fact, of id: DownloadID) {
        guard var item = items[id] else { return }
        switch fact {
        case .list(let rest), .rest(let rest):
            if item.isLeaving { return }
            item.rest = rest
            if item.hasRun, rest != .queued { item.isEnding = true }
        case .wake: if !item.isLeaving, case .waiting = item.rest { item.rest = .queued }
        case .start, .stop: return
        case .ended:
            if !item.hasRun { return }
            if item.isLeaving {
                items[id] = nil
                return
            }
            (item.hasRun, item.isEnding) = (false, false)
        case .hold:
            if item.isLeaving { return }
            item.keepsSlot = item.keepsSlot || item.isRunning
            item.isHeld = true
            item.isEnding = item.hasRun
        case .settle: item.isHeld = false
        case .remove:
            if !item.hasRun {
                items[id] = nil
                return
            }
            (item.isLeaving, item.isEnding, item.isHeld) = (true, true, false)
        }
        if !item.isHeld || item.rest != .queued { item.keepsSlot = false }
        items[id] = item
    }

    mutating func restart() {
        items = items.filter { !$1.isLeaving }
        for id in items.keys {
            items[id]?.hasRun = false
            items[id]?.isEnding = false
            items[id]?.isHeld = false
            items[id]?.keepsSlot = false
        }
    }

    mutating func decide(at now: Duration) -> QueueMachine.Decision {
        var decision = QueueMachine.Decision()
        for (id, item) in items where !item.hasRun && !item.isHeld {
            if case .waiting(let until, _) = item.rest, until <= now { items[id]?.rest = .queued }
        }
        for (id, item) in inOrder where item.isRunning && !network.permits(item.needs) {
            items[id]?.isEnding = true
            decision.stop.append(.init(id, .network))
        }
        while let last = inOrder.last(where: { $0.1.isRunning }), items.values.count(where: \.isRunning) > limit {
            items[last.0]?.isEnding = true
            decision.stop.append(.init(last.0, .slot))
        }
        let order = Dictionary(uniqueKeysWithValues: inOrder.enumerated().map { ($0.element.0, $0.offset) })
        decision.stop.sort { order[$0.id, default: 0] < order[$1.id, default: 0] }
        while items.values.count(where: \.takesSlot) < limit,
            let first = inOrder.first(where: {
                !$0.1.hasRun && !$0.1.isHeld && $0.1.rest == .queued && network.permits($0.1.needs)
            })
        {
            items[first.0]?.hasRun = true
            decision.start.append(first.0)
        }
        let waiting = items.values.filter { !$0.hasRun && !$0.isHeld }
        decision.nextWake = waiting.compactMap { if case .waiting(let until, _) = $0.rest { until } else { nil } }.min()
        return decision
    }

    /// Ordered by key; downloads of different priority may have equal keys, and then the id decides.
    private var inOrder: [(DownloadID, Item)] {
        items.map { ($0, $1) }.sorted { left, right in
            left.1.key == right.1.key ? left.0.rawValue < right.0.rawValue : left.1.key < right.1.key
        }
    }
}
