import FerryCore

/// The system's information about a TCP connection, with counters since it was opened.
struct SocketReading: Sendable {
    /// Round trips in microseconds; 0 if not known.
    var shortestTrip: UInt32 = 0
    var trip: UInt32 = 0
    var segments: UInt32 = 0
    var reordered: UInt32 = 0
    /// The receive window in bytes; 0 if not known.
    var window: UInt32 = 0
    /// The number of bytes that wait to be read.
    var unread: UInt32 = 0

    init() {}

    /// Returns the facts about the connection since an earlier reading.
    func facts(since earlier: SocketReading) -> SocketFacts {
        SocketFacts(
            shortestTrip: shortestTrip > 0 ? .microseconds(Int64(shortestTrip)) : nil,
            trip: trip > 0 ? .microseconds(Int64(trip)) : nil, segments: Int(segments &- earlier.segments),
            reordered: Int(reordered &- earlier.reordered), window: window > 0 ? ByteCount(window) : nil,
            unread: ByteCount(unread))
    }
}
