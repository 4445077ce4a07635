import NIOCore
import Synchronization

@testable import FerryEngine

/// A transport that counts open responses, each from its request to the end or the release of its body, and body bytes.
/// The server counts differently: a connection until its end has arrived there, and all sent bytes, of which on a busy
/// machine megabytes are never read.
final class CountingTransport: Transport {
    private let base: HTTPTransport
    private let counts = Mutex((open: 0, peak: 0, peakSockets: 0, bodyBytes: 0))

    init(_ base: HTTPTransport) { self.base = base }

    /// The largest number of open responses.
    var peak: Int { counts.withLock { $0.peak } }

    /// The largest number of sockets at the arrival of a head: a closing one still counts for an instant.
    var peakSockets: Int { counts.withLock { $0.peakSockets } }

    /// The received bytes of all bodies.
    var bodyBytes: Int { counts.withLock { $0.bodyBytes } }

    /// Counts one open response for as long as it exists.
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
