import FerryCore
import Foundation

/// A TCP connection: its congestion window (slow start, then CUBIC or BBR), and the response it carries.
struct ModelFlow {
    /// The response in progress: when its head is here, and the bytes that are to come.
    struct Response {
        var headAt: Double
        var left: Double
        var sent = 0.0
    }

    private static let initial = 10 * ModelLink.segment
    private static let decrease = 0.7

    var response: Response?
    var hasHead = false
    private(set) var window = ModelFlow.initial
    private var threshold = Double.infinity
    private var peak = 0.0
    private var epoch = 0.0
    /// No second reaction within one round trip.
    private var deafUntil = 0.0
    /// Bytes behind a lost packet, and when its retransmission is here.
    private var held = 0.0
    private var heldUntil = 0.0
    /// Nothing is sent before: a retransmission timer runs.
    var silentUntil = 0.0
    private var isEstablished = false
    /// Bytes sent in the last round trip, or on the way to it.
    private(set) var inFlight = 0.0
    /// BBR: the largest delivery rate of each of the last round trips, and the number of round trips.
    private var rates: [Double] = []
    private var trips = 0
    private var tripEnd = 0.0
    private var tripBytes = 0.0
    private var isStarting = true

    /// Sends a request; the head of its response arrives after the set-up, if any, and one round trip.
    mutating func request(
        _ bytes: Double, on link: ModelLink, at now: Double, waiting: Double, random: inout SeededBytes
    ) {
        let trip = link.roundTrip + waiting
        var at = now + (isEstablished ? 1 : 1 + link.setUpTrips) * trip + link.service
        func isLost() -> Bool { link.loss > 0 && Double.random(in: 0..<1, using: &random) < link.loss * 2 }
        if !isEstablished, isLost() { at += 1 }
        if isLost() { at += 0.2 + trip }
        if let outage = link.outage, at > outage.lowerBound, now < outage.upperBound {
            at = max(
                at,
                Self.retried(isEstablished ? 0.2 + trip : 1, from: max(now, outage.lowerBound), past: outage.upperBound)
            )
        }
        isEstablished = true
        hasHead = false
        response = Response(headAt: at, left: bytes)
    }

    /// The first retransmission after an outage: the timer doubles each time.
    static func retried(_ first: Double, from start: Double, past end: Double) -> Double {
        var (at, delay) = (start + first, first)
        while at < end {
            delay *= 2
            at += delay
        }
        return at
    }

    /// Whether it has bytes to send at this time.
    func sends(at now: Double) -> Bool {
        response.map { $0.headAt <= now && $0.left > 0 } ?? false && now >= silentUntil
    }

    /// The bytes per second that the server would send, without regard to the window.
    func allowance(_ cap: ModelLink.Cap, roundTrip: Double, at now: Double, step: Double) -> Double {
        guard let response else { return 0 }
        var most = response.left / step
        switch cap {
        case .none: break
        case .rate(let rate): most = min(most, rate)
        case .bursts(let rate):
            most = min(most, max(0, rate * ((now - response.headAt).rounded(.down) + 1) - response.sent) / step)
        case .window(let bytes): most = min(most, bytes / roundTrip)
        }
        return min(most, ModelLink.largestWindow / roundTrip)
    }

    /// Sends for one step at this rate; returns the bytes that the receiver can read.
    mutating func send(
        rate: Double, allowance: Double, trip: Double, waiting: Double, dropped: Double, on link: ModelLink,
        at now: Double, step: Double, random: inout SeededBytes
    ) -> Double {
        let bytes = min(response?.left ?? 0, rate * step)
        response?.left -= bytes
        response?.sent += bytes
        inFlight = min(window, rate * trip)
        var readable = 0.0
        if now >= heldUntil { (readable, held) = (held, 0) }
        let packets = bytes / ModelLink.segment
        let chance = 1 - exp(-dropped / ModelLink.segment - packets * link.loss)
        if chance > 0, now >= deafUntil, Double.random(in: 0..<1, using: &random) < chance {
            loses(trip: trip, at: now, isReduced: link.sender == .cubic)
        }
        if link.sender == .bbr {
            paces(
                bytes, trip: trip, roundTrip: link.roundTrip, isLimited: allowance < 0.9 * window / trip, at: now,
                step: step)
        } else if now > deafUntil || deafUntil == 0, allowance >= 0.9 * window / trip {
            grows(by: bytes, trip: trip, waiting: waiting, at: now, step: step)
        }
        guard now < heldUntil else { return readable + bytes }
        held += bytes
        return readable
    }

    /// Whether bytes are behind a lost packet.
    var holds: Bool { held > 0 }

    private mutating func loses(trip: Double, at now: Double, isReduced: Bool) {
        (deafUntil, heldUntil) = (now + trip, now + trip)
        guard isReduced else { return }
        if window < 4 * ModelLink.segment { silentUntil = now + 0.2 + trip }
        peak = window
        window = max(2 * ModelLink.segment, window * Self.decrease)
        (threshold, epoch) = (window, now)
    }

    /// BBR: doubles the window each round trip until the delivery rate stays, then keeps what was delivered at most.
    private mutating func paces(
        _ bytes: Double, trip: Double, roundTrip: Double, isLimited: Bool, at now: Double, step: Double
    ) {
        if tripEnd == 0 { tripEnd = now + trip }
        tripBytes += bytes
        if isStarting, !isLimited { window = min(window + bytes, window * exp2(step / trip)) }
        guard now >= tripEnd else { return }
        let rate = tripBytes / (now - tripEnd + trip)
        if !isLimited || rate > rates.max() ?? 0 { rates = rates.suffix(9) + [rate] }
        (tripBytes, tripEnd, trips) = (0, now + trip, trips + 1)
        if isStarting {
            guard !isLimited, rates.count > 3, let last = rates.last, last < 1.25 * rates[rates.count - 4] else {
                return
            }
            isStarting = false
        }
        let gain = trips % 8 == 0 ? 1.25 : trips % 8 == 1 ? 0.75 : 1.0
        window = max(4 * ModelLink.segment, gain * (rates.max() ?? 0) * roundTrip)
    }

    private mutating func grows(by bytes: Double, trip: Double, waiting: Double, at now: Double, step: Double) {
        if window < threshold {
            window = min(window + bytes, window * exp2(step / trip))
            if waiting > min(0.016, max(0.004, (trip - waiting) / 8)), window > 16 * ModelLink.segment {
                (threshold, peak, epoch) = (window, window, now)
            }
            return
        }
        let (top, time) = (peak / ModelLink.segment, now - epoch)
        let turn = cbrt(top * (1 - Self.decrease) / 0.4)
        let cubic = 0.4 * pow(time - turn, 3) + top
        let friendly = top * Self.decrease + 0.53 * time / trip
        window = max(window, min(window * exp2(step / trip), max(cubic, friendly) * ModelLink.segment))
    }

    /// An outage of the link: the window is lost, and the timer decides when sending resumes.
    mutating func falls(silentUntil end: Double, at now: Double) {
        guard end > silentUntil else { return }
        silentUntil = end
        threshold = max(2 * ModelLink.segment, window / 2)
        peak = window
        (window, epoch) = (Self.initial / 10, end)
        (rates, isStarting, tripEnd, tripBytes) = ([], true, 0, 0)
    }
}
