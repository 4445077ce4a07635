/// The system's information about a receiving connection; `nil` where it is unknown.
package struct SocketFacts: Sendable, Hashable {
    /// The shortest round trip so far, without queueing on the path.
    package var shortestTrip: Duration?
    /// The current round trip, measured from the received data.
    package var trip: Duration?
    /// The data segments received since the connection's previous facts.
    package var segments: Int?
    /// The number of ``segments`` that arrived out of order: the receiver's only sign of packet loss.
    package var reordered: Int?
    /// The bytes that the peer may send without an acknowledgement.
    package var window: ByteCount?
    /// The bytes that were still waiting to be read after a read.
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

/// The load of this process.
package struct ProcessorFacts: Sendable, Hashable {
    /// The fraction of the time in which the busiest thread ran or waited for a core.
    package var busiest: Double
    /// The average number of cores that all threads used.
    package var cores: Double
    /// The average number of cores that the threads waited for, because other processes used them or the quota of a control
    /// group was used up.
    package var missing: Double

    /// Whether the process does not get the processor time that it needs.
    package var isScarce: Bool { busiest >= 0.8 || missing >= max(0.4, cores) }

    package init(busiest: Double, cores: Double, missing: Double = 0) {
        self.busiest = busiest
        self.cores = cores
        self.missing = missing
    }
}
