import FerryCore
import FerryEngine

/// The real transport, except that fetching one path traps.
final class TrappingTransport: Transport {
    private let transport: HTTPTransport
    private let path: String

    init(_ transport: HTTPTransport, path: String) {
        self.transport = transport
        self.path = path
    }

    func fetch(_ request: TransferRequest) async throws(TransferFailure) -> sending TransferResponse {
        precondition(!request.url.text.hasSuffix(path), "asked to")
        return try await transport.fetch(request)
    }

    func shutdown() async { await transport.shutdown() }
    func renew() { transport.renew() }
    func limitPieces(to bytes: Int?) { transport.limitPieces(to: bytes) }
}
