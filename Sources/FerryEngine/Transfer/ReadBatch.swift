import NIOCore

/// The number of bytes for which a socket waits before it is read.
///
/// On a line that is slower than the processor each segment of 1.4 KB would wake the event loop, which costs several
/// times the processing of the bytes. The socket's low-water mark (`SO_RCVLOWAT`) lets them gather for a part of a round
/// trip. It does not delay acknowledgements: the kernel sends those itself, and earlier with a mark.
///
/// Invariants: the mark is 1 until a body has delivered ``start`` bytes, and again when fewer than ``reserve`` bytes
/// more than the mark are missing, so that the end of a body never waits for bytes that do not come; no bytes wait
/// longer than ``longestWait``.
struct ReadBatch {
    /// The bytes of a response without batches, in which TCP's slow start ends and short bodies are complete.
    static let start: Int64 = 256 * 1024
    /// The bytes before the end of a body that may be in buffers above the socket: a TLS record, and a spare one.
    static let reserve: Int64 = 32 * 1024
    static let smallest: Int64 = 4 * 1024
    /// Half of what a socket's buffer holds at first on macOS, which does not wake when a buffer with less than the mark is
    /// full.
    static let largest: Int64 = 64 * 1024
    /// The round trips by parts of which bytes gather: three eighths at most, since ``BottleneckPolicy`` takes half of one
    /// for a pause of the server.
    static let trips: ClosedRange<TimeAmount> = .milliseconds(4) ... .milliseconds(32)
    static let longestWait = TimeAmount.milliseconds(16)

    /// The low-water mark in bytes; 1 is the system's default.
    private(set) var mark = 1
    /// The time of the last read; `nil` before the first of a response.
    private(set) var lastRead: NIODeadline?
    /// The bytes of the response, head included.
    private var received: Int64 = 0

    /// Begins a new response.
    mutating func begin() {
        self = ReadBatch()
    }

    mutating func receive(_ count: Int) {
        received += Int64(count)
    }

    /// Sets the mark after a read.
    ///
    /// The mark doubles while less than three sixteenths of a round trip pass between two reads, so that twice as many
    /// bytes come in three eighths, and is halved when more than that passes.
    ///
    /// - Parameters:
    ///   - trip: The shortest round trip, of which 4 to 32 ms count.
    ///   - length: The length of the body; 0 if it is not known.
    ///   - buffer: The size of the receive buffer, of which half is gathered at most.
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

    /// Gives up the mark if it has delayed bytes for too long. Returns when to call again; `nil` while there is no mark.
    mutating func checkWait(at now: NIODeadline) -> NIODeadline? {
        guard mark > 1, let lastRead else { return nil }
        let end = lastRead + Self.longestWait
        if now < end { return end }
        mark = 1
        return nil
    }
}
