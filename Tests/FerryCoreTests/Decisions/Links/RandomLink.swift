import FerryCore
import Foundation

/// Links of many kinds, by seed.
enum RandomLink: String, CaseIterable {
    /// One connection fills the line.
    case full
    /// The server limits each connection.
    case capped
    /// Packets are lost at random.
    case lossy
    /// The round trip is long: slow start takes a good part of the time.
    case long
    /// Others use the line half of the time.
    case shared
    /// The rate changes, or nothing passes for five seconds.
    case changing

    func link(seed: UInt64) -> ModelLink {
        var random = SeededBytes(seed: seed)
        func between(_ low: Double, _ high: Double) -> Double {
            exp(Double.random(in: log(low)...log(high), using: &random))
        }
        var link = ModelLink()
        link.sender = Double.random(in: 0..<1, using: &random) < 0.3 ? .bbr : .cubic
        link.roundTrip = self == .long ? between(0.08, 0.3) : between(0.001, 0.3)
        link.line = between(1e6, 125e6)
        if self == .full || self == .shared || self == .changing {
            link.line = min(link.line, 0.8 * ModelLink.largestWindow / link.roundTrip)
        }
        link.queue = max(30e3, link.line * between(0.02, 0.3))
        if self == .full { link.queue = max(link.queue, 0.7 * link.line * link.roundTrip) }
        link.setUpTrips = Double(Int.random(in: 1...3, using: &random))
        link.service = between(0.0005, 0.05)
        switch self {
        case .capped:
            let rate = link.line / between(2, 40)
            link.cap =
                [.rate(rate), .bursts(rate), .window(rate * link.roundTrip)].randomElement(using: &random) ?? .none
        case .lossy: link.loss = between(0.0001, 0.02)
        case .shared:
            link.rivals = Int.random(in: 1...4, using: &random)
            link.rivalPeriod = between(0.5, 5)
        case .changing where Bool.random(using: &random):
            link.change = (between(1, 5), [0.2, 0.5, 2, 5].randomElement(using: &random) ?? 2)
        case .changing:
            let start = between(1, 5)
            link.outage = start..<start + 5
        default: break
        }
        let seconds = between(1.5, 12)
        link.size = ByteCount(max(20e6, link.goodput(connections: 16) * seconds))
        return link
    }
}
