import NIOCore

/// The number of bytes for which a socket waits before it is read.
///
/// On a link that is slower than the processor, each segment of 1.4 KB would wake the event loop, which costs several times as
/// much as processing the bytes. With the socket's low-water mark (`SO_RCVLOWAT`), they accumulate for a part of a round trip.
/// The mark does not delay acknowledgements: the kernel sends them itself, and even earlier with a mark.
///
/// Invariants: the mark is 1 until ``start`` bytes of a response have arrived. After that, at least ``reserve`` more bytes than
/// the mark are missing, or the mark is 1 again, so that the end of a body never waits for bytes that do not come. No bytes wait
/// longer than ``longestWait``.
struct ReadBatch {
    /// The number of bytes at the start of a response that are not batched. TCP's slow start and short bodies end in them.
    static let start: Int64 = 256 * 1024
    /// The bytes before the end of a body that may be in buffers above the socket: a TLS record and one to spare.
    static let reserve: Int64 = 32 * 1024
    static let smallest: Int64 = 4 * 1024
    /// Half of the initial size of a socket's buffer on macOS, which does not wake the reader when a full buffer contains less
    /// than the mark.
    static let largest: Int64 = 64 * 1024
    /// The round-trip times that are taken into account. Bytes accumulate for three eighths of one at most, because
    /// ``BottleneckPolicy`` regards half of a round trip as a pause of the server.
    static let trips: ClosedRange<TimeAmount> = .milliseconds(4) ... .milliseconds(32)
    static let longestWait = TimeAmount.milliseconds(16)

    /// The low-water mark in bytes; 1 is the system's default.
    private(set) var mark = 1
    /// The time of the last read; `nil` before the first of a response.
    private(set) var lastRead: NIODeadline?
    /// The bytes of the response, including its head.
    private var received: Int64 = 0

    /// Starts a new response.
    mutating func begin() {
        self = ReadBatch()
    }

    mutating func receive(_ count: Int) {
        received += Int64(count)
    }

    /// Sets the mark after a read.
    ///
    /// The mark doubles if less than three sixteenths of a round trip pass between two reads, so that twice as many bytes take
    /// less than three eighths, and is halved if more than three eighths pass.
    ///
    /// - Parameters:
    ///   - trip: The shortest round trip, clamped to 4 to 32 ms.
    ///   - length: The length of the body; 0 if it is not known.
    ///   - buffer: The size of the receive buffer; the mark is at most half of it.
    mutating func readCompleted(at now: NIODeadline, trip: TimeAmount, length: Int64, buffer: Int) {
        defer { lastRead = now }
        let missing = max(0, length) - received
        let most = min(Self.largest, Int64(buffer / 2), missing - Self.reserve)
        guard let lastRead, received >= Self.start, most >= Self.smallest else {
            mark = 1
            return
        }
        let trip = min(max(trip, Self.trips.lowerBound), Self.trips.upperBound)
        let longest = TimeAmount.nanoseconds(trip.nanoseconds * 3 / 8)
        let interval = now - lastRead
        if mark == 1 {
            // The smallest mark is three segments.
            if interval * 3 < longest { mark = Int(Self.smallest) }
        } else if interval * 2 < longest {
            mark *= 2
        } else if interval > longest {
            mark = mark > Self.smallest ? mark / 2 : 1
        }
        mark = min(mark, Int(most))
    }

    /// Resets the mark if it has delayed bytes for too long. Returns when to call again; `nil` if there is no mark.
    mutating func checkWait(at now: NIODeadline) -> NIODeadline? {
        guard mark > 1, let lastRead else { return nil }
        let end = lastRead + Self.longestWait
        if now < end { return end }
        mark = 1
        return nil
    }
}
