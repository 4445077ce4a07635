import FerryCore

/// The way between a server and this machine, as facts.
struct ModelLink {
    enum Cap: Equatable {
        case none
        /// The server sends so many bytes per second on each connection, evenly.
        case rate(Double)
        /// As nginx with `limit_rate`: the bytes of a second at once, then nothing until the next second.
        case bursts(Double)
        /// The server's send buffer: so many bytes per round trip on each connection.
        case window(Double)
    }

    enum Sender { case cubic, bbr }

    var sender = Sender.cubic
    var roundTrip = 0.05
    /// Bytes per second.
    var line = 12.5e6
    /// Bytes that wait in front of the line.
    var queue = 300e3
    /// The share of packets that are lost at random.
    var loss = 0.0
    var cap = Cap.none
    /// Round trips before a request can be sent: 1 for TCP, 2 and 3 with TLS.
    var setUpTrips = 2.0
    /// The time that the server needs for a response.
    var service = 0.002
    var size: ByteCount = 40 << 20
    /// Connections of others, and the seconds for which they alternately send and are silent.
    var rivals = 0
    var rivalPeriod = 2.0
    /// The rate is multiplied by this number from this time on.
    var change: (at: Double, factor: Double)?
    /// Nothing passes in these seconds.
    var outage: Range<Double>?

    static let segment = 1448.0
    /// The largest receive window, as Linux tunes it.
    static let largestWindow = 3e6

    func line(at now: Double) -> Double {
        if let outage, outage.contains(now) { return 0 }
        if let change, now >= change.at { return line * change.factor }
        return line
    }

    /// The bytes per second that this many connections get in the long run.
    func goodput(connections: Int) -> Double {
        var each = Self.largestWindow / roundTrip
        switch cap {
        case .none: break
        case .rate(let rate), .bursts(let rate): each = min(each, rate)
        case .window(let bytes): each = min(each, bytes / roundTrip)
        }
        // The response function of TCP (RFC 3649 §1, with CUBIC's constant), which bounds a connection by its losses.
        if loss > 0, sender == .cubic {
            each = min(
                each,
                max(
                    1.2 / loss.squareRoot() / roundTrip,
                    1.17 / (loss * loss * loss * roundTrip).squareRoot().squareRoot()) * Self.segment)
        }
        return min(line, each * Double(connections))
    }
}
