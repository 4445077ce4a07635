import FerryCore
package import NIOCore
import Synchronization

/// The body of a response that is read completely before it is used: a page, a list, an error, metadata.
///
/// A server may send a byte from time to time for as long as it likes, while the reader of the body occupies memory, a place in
/// a queue, or a lock. Therefore such a body has a maximum size and two deadlines, for each piece and for the whole body. The
/// bytes of a file are not read here, because a transfer has its own rules for slow connections. `make lint` refuses other loops
/// over bodies.
package actor ShortBody {
    package struct Limits: Sendable {
        /// The maximum size in bytes.
        package var bytes: Int
        /// The time for the whole body. Default 10 minutes.
        package var whole: Duration
        /// The time for each piece of the body. Default 60 s.
        package var idle: Duration

        package init(bytes: Int, whole: Duration = .seconds(600), idle: Duration = .seconds(60)) {
            (self.bytes, self.whole, self.idle) = (bytes, whole, idle)
        }
    }

    /// A body, or the beginning of a body that exceeds its limit.
    package struct Content: Sendable {
        package var bytes = ByteBuffer()
        package var isWhole = true
    }

    private enum Outcome: Sendable {
        /// The payload: whether the body is complete.
        case read(Bool)
        case failed(TransferFailure)
        case late
        /// The wait for the deadline was cancelled.
        case stopped
    }

    /// The time when the last piece arrived.
    private final class Arrival: Sendable {
        private let time: Mutex<Duration>
        init(_ time: Duration) { self.time = Mutex(time) }
        var last: Duration {
            get { time.withLock { $0 } }
            set { time.withLock { $0 = newValue } }
        }
    }

    /// The pieces so far, joined.
    private final class Pieces: Sendable {
        private let joined = Mutex(ByteBuffer())
        var bytes: ByteBuffer { joined.withLock { $0 } }
        func append(_ piece: ByteBuffer) { joined.withLock { _ = $0.writeBytes(piece.readableBytesView) } }
    }

    private let body: TransferBody
    /// See ``TransferBody/endsWithConnection``.
    package nonisolated let endsWithConnection: Bool

    package init(_ body: sending TransferBody) {
        endsWithConnection = body.endsWithConnection
        self.body = body
    }

    /// Returns the next bytes, never empty; `nil` at the declared end. For a body that is forwarded while it arrives.
    package func next() async throws(TransferFailure) -> ByteBuffer? { try await body.next() }

    /// Returns the body, or its beginning if it is too large. Throws like ``read(_:clock:_:)``.
    package nonisolated func collect(
        _ limits: Limits, clock: any EngineClock
    ) async throws(TransferFailure) -> Content {
        let pieces = Pieces()
        let isWhole = try await read(limits, clock: clock) { piece in
            pieces.append(piece)
            return true
        }
        return Content(bytes: pieces.bytes, isWhole: isWhole)
    }

    /// Calls `take` with the pieces of the body, or of its beginning if it is too large, until `take` returns `false`. Returns
    /// whether the body was read completely. Throws a transient failure if a deadline passes. The connection is then closed, as
    /// it is if the body is too large.
    package nonisolated func read(
        _ limits: Limits, clock: any EngineClock, _ take: @escaping @Sendable (ByteBuffer) async -> Bool
    ) async throws(TransferFailure) -> Bool {
        let start = clock.now()
        let arrival = Arrival(start)
        let due: @Sendable () -> Duration = { min(start + limits.whole, arrival.last + limits.idle) }
        let outcome = await withTaskGroup(of: Outcome.self) { group in
            group.addTask {
                var room = limits.bytes
                do throws(TransferFailure) {
                    while var piece = try await self.next() {
                        let isWhole = piece.readableBytes <= room
                        guard let beginning = piece.readSlice(length: min(room, piece.readableBytes)),
                            await take(beginning), isWhole
                        else { return .read(false) }
                        room -= beginning.readableBytes
                        let now = clock.now()
                        if now >= due() { return .late }
                        arrival.last = now
                    }
                    return .read(true)
                } catch { return .failed(error) }
            }
            group.addTask {
                do {
                    while clock.now() < due() { try await clock.sleep(until: due()) }
                    return .late
                } catch { return .stopped }
            }
            var outcome = await group.next() ?? .stopped
            // The caller was cancelled. The task that reads the body then fails too, with the error to throw.
            if case .stopped = outcome { outcome = await group.next() ?? .stopped }
            group.cancelAll()
            return outcome
        }
        switch outcome {
        case .read(let isWhole): return isWhole
        case .failed(let failure): throw failure
        case .late: throw TransferFailure(.broken, ErrorPhrase(.slowBody))
        case .stopped: throw TransferFailure(.cancelled, ErrorPhrase(.stopped))
        }
    }
}
