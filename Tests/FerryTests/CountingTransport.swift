import NIOCore
import Synchronization

@testable import FerryEngine

/// A transport that counts the answers that are open at once, from the request to the end of the body, or until that is
/// dropped, and the bytes of the bodies. Seen from the server a connection lives longer: until its end has come there; and
/// it counts what it sent, though on a busy machine megabytes of it are never read.
final class CountingTransport: Transport {
    private let base: HTTPTransport
    private let counts = Mutex((open: 0, peak: 0, peakSockets: 0, bodyBytes: 0))

    init(_ base: HTTPTransport) { self.base = base }

    /// The most that were open at once.
    var peak: Int { counts.withLock { $0.peak } }

    /// The most sockets that were seen when a head had come: one that is closing counts, for an instant.
    var peakSockets: Int { counts.withLock { $0.peakSockets } }

    /// What came of all bodies, in bytes.
    var bodyBytes: Int { counts.withLock { $0.bodyBytes } }

    /// Counts while it lives.
    private final class Open: Sendable {
        let transport: CountingTransport
        init(_ transport: CountingTransport) {
            self.transport = transport
            transport.counts.withLock { counts in
                counts.open += 1
                counts.peak = max(counts.peak, counts.open)
            }
        }
        deinit { transport.counts.withLock { $0.open -= 1 } }
    }

    func fetch(_ request: TransferRequest) async throws(TransferFailure) -> sending TransferResponse {
        let open = Open(self)
        let response = try await base.fetch(request)
        counts.withLock { $0.peakSockets = max($0.peakSockets, base.connectionCount) }
        let body = response.body
        return TransferResponse(
            head: response.head, url: response.url, redirects: response.redirects,
            body: TransferBody { () async throws(TransferFailure) in
                defer { withExtendedLifetime(open) {} }
                let piece = try await body.next()
                self.counts.withLock { $0.bodyBytes += piece?.readableBytes ?? 0 }
                return piece
            })
    }

    func shutdown() async { await base.shutdown() }
    func renew() { base.renew() }
    func limitPieces(to bytes: Int?) { base.limitPieces(to: bytes) }
}
