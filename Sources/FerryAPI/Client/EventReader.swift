import AsyncHTTPClient
import NIOCore

/// The events of an event stream.
///
/// The sequence ends when the daemon has ended the stream, and throws when the connection is lost. All received bytes show that the
/// daemon is alive, including the comments that it sends every 15 s; see ``hearing(_:)``.
package struct EventReader: AsyncSequence, Sendable {
    private let body: HTTPClientResponse.Body
    private let heard: @Sendable () -> Void

    init(_ body: HTTPClientResponse.Body, heard: @escaping @Sendable () -> Void = {}) {
        self.body = body
        self.heard = heard
    }

    /// Returns a reader that also calls `heard` when bytes arrive.
    package func hearing(_ heard: @escaping @Sendable () -> Void) -> EventReader { EventReader(body, heard: heard) }

    package func makeAsyncIterator() -> Iterator { Iterator(body: body.makeAsyncIterator(), heard: heard) }

    package struct Iterator: AsyncIteratorProtocol {
        private var body: HTTPClientResponse.Body.AsyncIterator
        private let heard: @Sendable () -> Void
        private var parser = EventStreamParser()
        private var ready: ArraySlice<ServerSentEvent> = []

        init(body: HTTPClientResponse.Body.AsyncIterator, heard: @escaping @Sendable () -> Void) {
            self.body = body
            self.heard = heard
        }

        @concurrent package mutating func next() async throws(DaemonFailure) -> ServerSentEvent? {
            while true {
                if let event = ready.popFirst() { return event }
                let buffer: ByteBuffer?
                do { buffer = try await body.next() } catch { throw .unreachable(by: error) }
                guard let buffer else { return nil }
                heard()
                do throws(EventStreamParser.TooLong) {
                    ready = try parser.feed(buffer.readableBytesView)[...]
                } catch { throw .unreadable("an event is too long") }
            }
        }
    }
}
