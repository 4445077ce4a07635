import FerryCore
import HTTPTypes
import HummingbirdCore
import NIOCore
import Synchronization

/// The result of one request to the gateway: recorded while the request is processed, and reported at its end.
final class GatewayNote: Sendable {
    enum Result: String, Sendable, Hashable, CaseIterable {
        /// The upstream's own response was sent.
        case passed
        /// A complete file from the cache, or a stored page, was sent without a request to the upstream.
        case hit
        /// The file was already being fetched for another client.
        case shared
        /// The file was fetched for this client.
        case miss
        /// Cached content was sent because the upstream is down.
        case stale
        /// The gateway refused the request, and sent a problem.
        case refused
        /// The response ended before its content was complete.
        case failed

        /// Whether the content was not fetched for this request.
        var isSaved: Bool { self == .hit || self == .shared || self == .stale }
    }

    /// A finished request.
    struct End: Sendable, Hashable {
        var kind: GatewayKind?
        var result = Result.passed
        /// The code of the problem, if the result is `refused` or `failed`.
        var reason: String?
        /// The bytes of the content that were sent.
        var bytes: ByteCount = 0
    }
    private let state = Mutex(End())

    func concerns(_ kind: GatewayKind) { state.withLock { $0.kind = kind } }

    func isHit() { state.withLock { $0.result = .hit } }

    /// Marks the result as `stale`. Otherwise, content that is sent while the upstream is down would count as a hit.
    func isStale() { state.withLock { $0.result = .stale } }

    func reads(_ origin: GatewayCache.Holding.Origin) {
        state.withLock { end in
            guard end.result != .stale else { return }
            end.result =
                switch origin {
                case .complete: .hit
                case .running: .shared
                case .new: .miss
                }
        }
    }

    func refused(_ code: String) { state.withLock { ($0.result, $0.reason) = (.refused, code) } }

    private func failed(_ error: any Error) {
        let reason =
            (error as? DownloadError)?.code.rawValue ?? (error is CancellationError ? "cancelled" : "connection")
        state.withLock { ($0.result, $0.reason) = (.failed, reason) }
    }

    private func sent(_ bytes: Int) { state.withLock { $0.bytes = $0.bytes.adding(ByteCount(bytes)) } }

    /// Returns the response with a body that calls `ended` when it ends, successfully or not; for an empty body, immediately.
    func following(_ response: Response, _ ended: @escaping @Sendable (End) async -> Void) async -> Response {
        let body = response.body
        guard body.contentLength != 0 else {
            await ended(state.withLock { $0 })
            return response
        }
        var response = response
        response.body = ResponseBody(contentLength: body.contentLength) { [self] writer in
            do {
                try await body.write(Writer(base: writer, note: self))
            } catch {
                failed(error)
                await ended(state.withLock { $0 })
                throw error
            }
            await ended(state.withLock { $0 })
        }
        return response
    }

    private struct Writer: ResponseBodyWriter {
        var base: any ResponseBodyWriter
        let note: GatewayNote

        @concurrent mutating func write(_ buffer: ByteBuffer) async throws {
            try await base.write(buffer)
            note.sent(buffer.readableBytes)
        }

        @concurrent consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
            try await base.finish(trailingHeaders)
        }
    }
}
