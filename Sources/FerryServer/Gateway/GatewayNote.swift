import FerryCore
import HTTPTypes
import HummingbirdCore
import NIOCore
import Synchronization

/// What becomes of one request to the gateway: noted while it is answered, and told at its end.
final class GatewayNote: Sendable {
    enum Result: String, Sendable, Hashable, CaseIterable {
        /// The upstream's own response.
        case passed
        /// A file that was complete in the cache, or a page that is not asked for again.
        case hit
        /// A file that was being fetched for another client.
        case shared
        /// A file that was fetched for this client.
        case miss
        /// What the cache has, while the upstream is down.
        case stale
        /// A problem of the gateway, in place of a response.
        case refused
        /// The response ended before its content.
        case failed

        /// Whether the content was not fetched for this request.
        var isSaved: Bool { self == .hit || self == .shared || self == .stale }
    }

    /// A request that was answered.
    struct End: Sendable, Hashable {
        var kind: GatewayKind?
        var result = Result.passed
        /// The code of the problem, of a response that was refused or failed.
        var reason: String?
        /// The bytes of the content that were sent.
        var bytes: ByteCount = 0
    }
    private let state = Mutex(End())

    func concerns(_ kind: GatewayKind) { state.withLock { $0.kind = kind } }

    func isHit() { state.withLock { $0.result = .hit } }

    /// What is sent while the upstream is down is a hit too, but counts as this.
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

    /// The response with a body that calls back when it has ended, well or not; without a body at once.
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
