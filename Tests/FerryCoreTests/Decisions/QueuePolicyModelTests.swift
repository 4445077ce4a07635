import FerryCore
import Testing

@Suite("QueuePolicy against a naive model", .timeLimit(.minutes(30)))
struct QueuePolicyModelTests {
    @Test("QueuePolicy: random events give the model's decisions, in order and within the limit", arguments: 0..<8)
    func randomEvents(batch: Int) {
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

/// Applies random events to the policy and to a naive list, and compares their decisions.
private struct RandomQueueRun {
    var queue: QueuePolicy
    var model: NaiveQueue
    var problems: [String] = []
    private var random: SeededBytes
    private var now = Duration.zero

    init(seed: UInt64) {
        random = SeededBytes(seed: seed)
        let limit = Int.random(in: 0...4, using: &random)
        queue = QueuePolicy(limit: limit)
        model = NaiveQueue(limit: limit)
    }

    mutating func step() {
        let id = DownloadID(rawValue: "\(Int.random(in: 0..<14, using: &random))")
        let until = now + .seconds(Int.random(in: -1...6, using: &random))
        switch Int.random(in: 0..<22, using: &random) {
        case 0...4: join(id, until: nil)
        case 5: join(id, until: until)
        case 6:
            queue.leave(id)
            model.leave(id)
        case 7, 8:
            // Only a run can end by itself.
            guard let item = model.items[id], item.phase != .waiting else { break }
            queue.ended(id)
            model.items[id] = nil
        case 9...12:
            guard let ending = model.items.keys.filter({ model.items[$0]?.phase.isEnding ?? false }).min(by: ordered)
            else { break }
            queue.stopped(ending)
            model.stopped(ending)
        case 13:
            queue.block(id, until: until)
            model.block(id, until: until)
        case 14:
            queue.ready(id)
            model.items[id]?.until = nil
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
            queue.setNeeds(needs, of: id)
            model.items[id]?.needs = needs
        case 19:
            let priority = DownloadPriority(rawValue: Int.random(in: -1...1, using: &random))
            queue.setPriority(priority, of: id)
            model.items[id]?.key.priority = priority.rawValue
        case 20: move(id)
        default: now += .seconds(Int.random(in: 0...3, using: &random))
        }
        decide()
    }

    /// Every download gets a slot when nothing prevents it.
    mutating func drain() {
        queue.set(network: .online)
        model.network = .online
        queue.set(limit: 2)
        model.limit = 2
        now += .seconds(100)
        for _ in 0..<60 {
            decide()
            for (id, item) in model.items where item.phase != .waiting {
                if item.phase == .leaving || item.phase == .stopping {
                    queue.stopped(id)
                    model.stopped(id)
                } else {
                    queue.ended(id)
                    model.items[id] = nil
                }
            }
        }
        if queue.count != 0 || !model.items.isEmpty { problems.append("left over: \(queue.count), \(model.items)") }
        if queue.occupiedCount != 0 { problems.append("slots are taken by nobody") }
    }

    private func ordered(_ left: DownloadID, _ right: DownloadID) -> Bool { left.rawValue < right.rawValue }

    private mutating func randomNeeds() -> NetworkNeeds {
        NetworkNeeds(
            isLocal: Int.random(in: 0..<5, using: &random) == 0, allowsMetered: Bool.random(using: &random),
            allowsConstrained: Bool.random(using: &random))
    }

    private mutating func join(_ id: DownloadID, until: Duration?) {
        let priority = DownloadPriority(rawValue: Int.random(in: -1...1, using: &random))
        let needs = randomNeeds()
        let highest = model.highestPosition
        let key = queue.join(id, priority: priority, needs: needs, notBefore: until)
        if let item = model.items[id], item.phase != .leaving {
            if item.key != key { problems.append("joining twice changed the key of \(id)") }
            return
        }
        if key.position <= highest { problems.append("\(id) joined at \(key.position), not behind \(highest)") }
        model.join(id, key: key, needs: needs, until: until)
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

    private mutating func decide() {
        let occupiedBefore = queue.occupiedCount
        let decision = queue.decide(at: now)
        let expected = model.decide(at: now)
        if decision != expected { problems.append("decided \(decision), not \(expected)") }
        if queue.occupiedCount > max(model.limit, occupiedBefore) { problems.append("more than the limit run") }
        if !decision.start.isEmpty, queue.occupiedCount > model.limit { problems.append("started above the limit") }
        let again = queue.decide(at: now)
        if again != .init(nextWake: expected.nextWake) { problems.append("asked again, it says \(again)") }
        for (id, item) in model.items where queue.key(of: id) != item.key { problems.append("\(id) has another key") }
        if queue.count != model.items.count { problems.append("\(queue.count) are queued, not \(model.items.count)") }
    }
}

/// The queue as a list that is sorted each time.
private struct NaiveQueue {
    enum Phase {
        case waiting, running, stopping, leaving
        var isEnding: Bool { self == .stopping || self == .leaving }
    }
    struct Item {
        var key: QueueKey
        var needs: NetworkNeeds
        var until: Duration?
        var phase: Phase
    }

    var limit: Int
    var network = NetworkStatus.online
    var items: [DownloadID: Item] = [:]
    var highestPosition: Int64 = 0

    mutating func join(_ id: DownloadID, key: QueueKey, needs: NetworkNeeds, until: Duration?) {
        highestPosition = key.position
        items[id] = Item(key: key, needs: needs, until: until, phase: items[id] == nil ? .waiting : .stopping)
    }

    mutating func leave(_ id: DownloadID) {
        guard let item = items[id] else { return }
        if item.phase == .waiting {
            items[id] = nil
        } else {
            items[id]?.phase = .leaving
            items[id]?.until = nil
        }
    }

    mutating func stopped(_ id: DownloadID) {
        if items[id]?.phase == .leaving { items[id] = nil } else { items[id]?.phase = .waiting }
    }

    mutating func block(_ id: DownloadID, until: Duration) {
        guard let item = items[id], item.phase != .leaving else { return }
        items[id]?.until = until
        if item.phase == .running { items[id]?.phase = .waiting }
    }

    mutating func decide(at now: Duration) -> QueuePolicy.Decision {
        var decision = QueuePolicy.Decision()
        for (id, item) in items where item.phase == .waiting {
            if let until = item.until, until <= now { items[id]?.until = nil }
        }
        for (id, item) in inOrder where item.phase == .running && !network.permits(item.needs) {
            items[id]?.phase = .stopping
            decision.stop.append(.init(id, .network))
        }
        while let last = inOrder.last(where: { $0.1.phase == .running }), count([.running]) > limit {
            items[last.0]?.phase = .stopping
            decision.stop.append(.init(last.0, .slot))
        }
        let order = Dictionary(uniqueKeysWithValues: inOrder.enumerated().map { ($0.element.0, $0.offset) })
        decision.stop.sort { order[$0.id, default: 0] < order[$1.id, default: 0] }
        while count([.running, .stopping, .leaving]) < limit,
            let first = inOrder.first(where: {
                $0.1.phase == .waiting && $0.1.until == nil && network.permits($0.1.needs)
            })
        {
            items[first.0]?.phase = .running
            decision.start.append(first.0)
        }
        decision.nextWake = items.values.filter { $0.phase == .waiting }.compactMap(\.until).min()
        return decision
    }

    /// By key; a changed priority may give two downloads the same key, and then the id decides.
    private var inOrder: [(DownloadID, Item)] {
        items.map { ($0, $1) }.sorted { left, right in
            left.1.key == right.1.key ? left.0.rawValue < right.0.rawValue : left.1.key < right.1.key
        }
    }
    private func count(_ phases: Set<Phase>) -> Int { items.values.count { phases.contains($0.phase) } }
}
