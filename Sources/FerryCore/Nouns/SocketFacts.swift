/// What the system knows of a connection that receives; `nil` where it does not know.
package struct SocketFacts: Sendable, Hashable {
    /// The shortest round trip so far: without packets that waited in front of a line.
    package var shortestTrip: Duration?
    /// The present round trip, which the received data shows.
    package var trip: Duration?
    /// The data segments since the last facts of the connection.
    package var segments: Int?
    /// Those of ``segments`` that arrived before an earlier one: the receiver's only sign of lost packets.
    package var reordered: Int?
    /// The bytes that the peer may send without an acknowledgement.
    package var window: ByteCount?
    /// The bytes that waited to be read, after some were read.
    package var unread: ByteCount?

    package init(
        shortestTrip: Duration? = nil, trip: Duration? = nil, segments: Int? = nil, reordered: Int? = nil,
        window: ByteCount? = nil, unread: ByteCount? = nil
    ) {
        self.shortestTrip = shortestTrip
        self.trip = trip
        self.segments = segments
        self.reordered = reordered
        self.window = window
        self.unread = unread
    }
}

/// How busy this process was.
package struct ProcessorFacts: Sendable, Hashable {
    /// The share of the time in which the busiest thread ran or waited for a core.
    package var busiest: Double
    /// The cores that all threads used, on average.
    package var cores: Double
    /// The cores that they waited for, while others had them or the quota of a group was used up.
    package var missing: Double

    /// Whether the process does not get what it needs.
    package var isScarce: Bool { busiest >= 0.8 || missing >= max(0.4, cores) }

    package init(busiest: Double, cores: Double, missing: Double = 0) {
        self.busiest = busiest
        self.cores = cores
        self.missing = missing
    }
}
