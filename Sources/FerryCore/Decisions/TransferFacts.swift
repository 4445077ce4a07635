/// What was observed of a transfer in some seconds: the facts of a ``Bottleneck``.
package struct TransferFacts: Sendable, Hashable {
    /// The observed time.
    package var seconds = 0.0
    package var bytes: ByteCount = 0
    /// The bytes of each connection that received some.
    package var carried: [ConnectionID: ByteCount] = [:]

    // Times, summed over all connections.
    /// With a request.
    package var connected = 0.0
    /// Of these, until the response head.
    package var awaited = 0.0
    /// Of these, because of a rate limit.
    package var limited = 0.0
    /// Of these, while a piece was written, or because of too many unsynced bytes.
    package var stored = 0.0
    /// Of these, in pauses of half a round trip or more in which nothing arrived.
    package var silent = 0.0
    /// The number of these pauses.
    package var pauses = 0
    /// The time in which nothing arrived on any connection, in such pauses; not summed.
    package var idle = 0.0

    /// The longest time from a request to the head of its response, or until now.
    package var firstByte = 0.0

    // Of the connections' sockets.
    package var segments = 0
    package var reordered = 0
    /// The shortest round trip in seconds.
    package var shortestTrip: Double?
    /// The sum of the present round trips, and of the windows, and the number of sockets in them.
    package var trips = 0.0
    package var windows = 0.0
    package var sockets = 0
    /// The sum of the bytes that waited in sockets.
    package var unread: ByteCount = 0
    package var readings = 0

    // Of the surroundings, at the end.
    package var rateLimit: ByteCount?
    package var processor: ProcessorFacts?
    /// The number of connections above which the server has refused some.
    package var ceiling: Int?
    /// The factor of the goodput when the number of connections was last increased.
    package var gain: Double?

    package init() {}

    /// Adds later facts.
    package mutating func add(_ later: TransferFacts) {
        seconds += later.seconds
        bytes += later.bytes
        // A connection that was not there all the time tells nothing about its speed.
        carried = carried.filter { later.carried[$0.key] != nil }.merging(
            later.carried.filter { carried[$0.key] != nil }, uniquingKeysWith: +)
        connected += later.connected
        awaited += later.awaited
        limited += later.limited
        stored += later.stored
        silent += later.silent
        pauses += later.pauses
        idle += later.idle
        firstByte = max(firstByte, later.firstByte)
        segments += later.segments
        reordered += later.reordered
        shortestTrip = [shortestTrip, later.shortestTrip].compactMap(\.self).min()
        trips += later.trips
        windows += later.windows
        sockets += later.sockets
        unread += later.unread
        readings += later.readings
        (rateLimit, ceiling, gain) = (later.rateLimit, later.ceiling, later.gain)
        if let new = later.processor {
            let old = processor ?? new
            processor = ProcessorFacts(
                busiest: min(old.busiest, new.busiest), cores: (old.cores + new.cores) / 2,
                missing: min(old.missing, new.missing))
        }
    }

    package mutating func add(_ socket: SocketFacts) {
        segments += socket.segments ?? 0
        reordered += socket.reordered ?? 0
        if let trip = socket.shortestTrip?.seconds, trip > 0 { shortestTrip = min(shortestTrip ?? trip, trip) }
        unread += socket.unread ?? 0
        readings += 1
        guard let trip = socket.trip?.seconds, trip > 0 else { return }
        trips += trip
        windows += Double(socket.window ?? 0)
        sockets += 1
    }
}

extension TransferFacts {
    var speed: Double { seconds > 0 ? Double(bytes) / seconds : 0 }
    /// The number of connections on average.
    var connections: Int { max(1, Int((connected / max(seconds, 0.001)).rounded())) }
    var speedOfEach: Double { speed / Double(connections) }
    /// The present round trip on average, in seconds.
    var trip: Double? { sockets > 0 ? trips / Double(sockets) : nil }
    /// The receive window of a connection; `nil` if it is not known.
    package var window: Double? { sockets > 0 && windows > 0 ? windows / Double(sockets) : nil }
    /// Whether bytes wait in the sockets although some were just read: they are not read as fast as they arrive.
    var lags: Bool { readings > 0 && unread / ByteCount(readings) >= 65_536 }
    /// The time in which packets wait on the way, in seconds.
    package var queueing: Double { trip.flatMap { trip in shortestTrip.map { max(0, trip - $0) } } ?? 0 }
    var meanPause: Double { pauses > 0 ? silent / Double(pauses) : 0 }

    /// How much the speeds of three connections or more differ: their standard deviation, as a share of the mean.
    package var spread: Double? {
        guard carried.count >= 3 else { return nil }
        let values = carried.values.map(Double.init)
        let mean = values.reduce(0, +) / Double(values.count)
        guard mean > 0 else { return nil }
        return (values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count)).squareRoot() / mean
    }

    /// The estimated share of packets that were lost.
    ///
    /// All that arrives between a lost packet and its repetition, about a round trip later, is out of order. If losses
    /// are independent, the share of segments that are in order is therefore exp(-loss · segments of a round trip).
    var loss: Double {
        guard segments > 0, let trip = trip ?? shortestTrip, seconds > 0 else { return 0 }
        let inOrder = max(0.002, 1 - Double(reordered) / Double(segments))
        let ofTrip = max(1, Double(segments) / seconds / Double(connections) * trip)
        return min(1, -Self.logarithm(inOrder) / ofTrip)
    }

    /// The natural logarithm of a positive number, as the standard library has none.
    private static func logarithm(_ value: Double) -> Double {
        let root = (0..<16).reduce(value) { root, _ in root.squareRoot() }
        return (root - 1) * 0x1p16
    }
}
