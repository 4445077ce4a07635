import FerryCore
import Foundation

/// Connections over one link, in steps of virtual time. The queue follows from the windows: what is sent in a round trip
/// and does not fit on the line waits in front of it.
struct ModelNetwork {
    let link: ModelLink
    let step: Double
    private(set) var now = 0.0
    var flows: [Int: ModelFlow] = [:]
    private var rivals: [ModelFlow]
    var random: SeededBytes
    /// Seconds that a packet waits in front of the line.
    private(set) var waiting = 0.0

    init(_ link: ModelLink, seed: UInt64) {
        self.link = link
        step = link.roundTrip < 0.04 ? 0.005 : 0.01
        random = SeededBytes(seed: seed)
        rivals = Array(repeating: ModelFlow(), count: link.rivals)
        for index in rivals.indices {
            rivals[index].request(.infinity, on: link, at: 0, waiting: 0, random: &random)
        }
    }

    mutating func request(_ id: Int, bytes: Double) {
        flows[id, default: ModelFlow()].request(bytes, on: link, at: now, waiting: waiting, random: &random)
    }

    /// Passes one step; returns the bytes that each connection has for its reader.
    mutating func pass() -> [(id: Int, bytes: Double)] {
        now += step
        let line = link.line(at: now)
        let ids = flows.keys.sorted()
        let areRivalsOn = Int(now / link.rivalPeriod) % 2 == 1
        if line == 0, let outage = link.outage {
            for id in ids where flows[id]?.response.map({ $0.headAt <= now }) == true {
                let end = ModelFlow.retried(0.2 + link.roundTrip, from: outage.lowerBound, past: outage.upperBound)
                flows[id]?.falls(silentUntil: end, at: now)
            }
            for index in rivals.indices { rivals[index].falls(silentUntil: outage.upperBound, at: now) }
            waiting = 0
            return []
        }
        var all: [(id: Int?, index: Int, flow: ModelFlow)] = []
        for id in ids {
            if let flow = flows[id], flow.sends(at: now) || flow.holds { all.append((id, 0, flow)) }
        }
        if areRivalsOn {
            for index in rivals.indices where rivals[index].sends(at: now) { all.append((nil, index, rivals[index])) }
        }
        let allowances = all.map { entry in
            entry.flow.sends(at: now)
                ? entry.flow.allowance(
                    entry.id == nil ? .none : link.cap, roundTrip: link.roundTrip, at: now, step: step) : 0
        }
        func sum(_ trip: Double) -> Double {
            var sum = 0.0
            for index in all.indices { sum += min(all[index].flow.window / trip, allowances[index]) }
            return sum
        }
        // The queue is as long as makes the rates fit on the line.
        let most = link.queue / line
        var dropped = 0.0
        if sum(link.roundTrip) <= line {
            waiting = 0
        } else if sum(link.roundTrip + most) > line {
            waiting = most
            dropped = (sum(link.roundTrip + most) - line) * (link.roundTrip + most)
        } else {
            var (low, high) = (0.0, most)
            for _ in 0..<12 {
                let middle = (low + high) / 2
                if sum(link.roundTrip + middle) > line { low = middle } else { high = middle }
            }
            waiting = high
        }
        let trip = link.roundTrip + waiting
        let total = max(1, sum(trip))
        let share = min(1, line / total)
        var arrived: [(Int, Double)] = []
        for (index, entry) in all.enumerated() {
            var flow = entry.flow
            let rate = min(flow.window / trip, allowances[index])
            let bytes = flow.send(
                rate: rate * share, allowance: allowances[index], trip: trip, waiting: waiting,
                dropped: dropped * rate / total, on: link, at: now, step: step, random: &random)
            if let id = entry.id {
                flows[id] = flow
                if bytes > 0 { arrived.append((id, bytes)) }
            } else {
                rivals[entry.index] = flow
            }
        }
        return arrived
    }
}
