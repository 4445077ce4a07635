/// The observations of a transfer over some seconds, from which a ``Bottleneck`` is derived.
package struct TransferFacts: Sendable, Hashable {
    /// The observed time.
    package var seconds = 0.0
    package var bytes: ByteCount = 0
    /// The bytes of each connection that received any.
    package var carried: [ConnectionID: ByteCount] = [:]

    package var times = Times()
    package var sockets = Sockets()
    package var surroundings = Surroundings()

    package init() {}

    /// Adds later facts.
    package mutating func add(_ later: TransferFacts) {
        seconds += later.seconds
        bytes += later.bytes
        // The bytes of a connection that existed for only a part of the time do not show its speed.
        carried = carried.filter { later.carried[$0.key] != nil }.merging(
            later.carried.filter { carried[$0.key] != nil }, uniquingKeysWith: +)
        times.add(later.times)
        sockets.add(later.sockets)
        surroundings.follow(later.surroundings)
    }

    /// The connections' use of time in seconds. Times are summed over all connections unless noted otherwise.
    package struct Times: Sendable, Hashable {
        /// The time during which a request was in progress.
        package var connected = 0.0
        /// The part of ``connected`` spent waiting for a response head.
        package var awaited = 0.0
        /// The part of ``connected`` spent waiting because of a rate limit.
        package var limited = 0.0
        /// The part of ``connected`` in which a piece was written, or too many bytes were unclaimed.
        package var stored = 0.0
        /// The part of ``connected`` in pauses of half a round trip or more without any bytes.
        package var silent = 0.0
        /// The number of these pauses.
        package var pauses = 0
        /// The time in such pauses in which no connection received any bytes; not summed.
        package var idle = 0.0
        /// The longest time from a request to the head of its response, or until now.
        package var firstByte = 0.0

        mutating func add(_ later: Times) {
            connected += later.connected
            awaited += later.awaited
            limited += later.limited
            stored += later.stored
            silent += later.silent
            pauses += later.pauses
            idle += later.idle
            firstByte = max(firstByte, later.firstByte)
        }
    }

    /// The system's information about the connections' sockets.
    package struct Sockets: Sendable, Hashable {
        package var segments = 0
        package var reordered = 0
        /// The shortest round trip in seconds.
        package var shortestTrip: Double?
        /// The sum of the current round trips, the sum of the windows, and the number of sockets in both sums.
        package var trips = 0.0
        package var windows = 0.0
        package var count = 0
        /// The sum of the bytes that waited in sockets.
        package var unread: ByteCount = 0
        package var readings = 0

        mutating func add(_ later: Sockets) {
            segments += later.segments
            reordered += later.reordered
            shortestTrip = [shortestTrip, later.shortestTrip].compactMap(\.self).min()
            trips += later.trips
            windows += later.windows
            count += later.count
            unread += later.unread
            readings += later.readings
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
            count += 1
        }

        /// The current round trip on average, in seconds.
        var trip: Double? { count > 0 ? trips / Double(count) : nil }
        /// The receive window of a connection on average; `nil` if it is unknown.
        package var window: Double? { count > 0 && windows > 0 ? windows / Double(count) : nil }
        /// Whether bytes wait in the sockets right after a read, because they are not read as fast as they arrive.
        var lags: Bool { readings > 0 && unread / ByteCount(readings) >= 65_536 }
        /// The time in seconds that packets spend in queues on the path.
        package var queueing: Double { trip.flatMap { trip in shortestTrip.map { max(0, trip - $0) } } ?? 0 }
        /// The fraction of segments that arrived out of order.
        var disorder: Double { segments > 0 ? Double(reordered) / Double(segments) : 0 }
    }

    /// The conditions around the transfer, as last observed.
    package struct Surroundings: Sendable, Hashable {
        /// The user's limit in bytes per second.
        package var rateLimit: ByteCount?
        /// The minimum load observed, and the average number of cores that Ferry used.
        package var processor: ProcessorFacts?
        /// The number of connections above which the server has refused connections.
        package var ceiling: Int?
        /// The factor by which the goodput changed when the number of connections was last increased.
        package var gain: Double?

        mutating func follow(_ later: Surroundings) {
            (rateLimit, ceiling, gain) = (later.rateLimit, later.ceiling, later.gain)
            guard let new = later.processor else { return }
            let old = processor ?? new
            processor = ProcessorFacts(
                busiest: min(old.busiest, new.busiest), cores: (old.cores + new.cores) / 2,
                missing: min(old.missing, new.missing))
        }
    }
}

extension TransferFacts {
    var speed: Double { seconds > 0 ? Double(bytes) / seconds : 0 }
    /// The average number of connections.
    var connections: Int { max(1, Int((times.connected / max(seconds, 0.001)).rounded())) }
    var speedOfEach: Double { speed / Double(connections) }
    var meanPause: Double { times.pauses > 0 ? times.silent / Double(times.pauses) : 0 }

    /// The spread of the speeds of three or more connections: their standard deviation as a fraction of the mean.
    package var spread: Double? {
        guard carried.count >= 3 else { return nil }
        let values = carried.values.map(Double.init)
        let mean = values.reduce(0, +) / Double(values.count)
        guard mean > 0 else { return nil }
        return (values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count)).squareRoot() / mean
    }

    /// The estimated fraction of packets that were lost.
    ///
    /// All segments that arrive between a lost packet and its retransmission, about a round trip later, are out of
    /// order. If losses are independent, the fraction of segments in order is therefore exp(-loss · segments per round
    /// trip).
    var loss: Double {
        guard sockets.segments > 0, let trip = sockets.trip ?? sockets.shortestTrip, seconds > 0 else { return 0 }
        let inOrder = max(0.002, 1 - sockets.disorder)
        let ofTrip = max(1, Double(sockets.segments) / seconds / Double(connections) * trip)
        return min(1, -Self.logarithm(inOrder) / ofTrip)
    }

    /// The natural logarithm of a positive number, which the standard library lacks.
    private static func logarithm(_ value: Double) -> Double {
        let root = (0..<16).reduce(value) { root, _ in root.squareRoot() }
        return (root - 1) * 0x1p16
    }
}
