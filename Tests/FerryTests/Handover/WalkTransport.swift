import FerryCore
import FerryTesting
import HTTPTypes
import NIOCore
import Synchronization

@testable import Ferry
@testable import FerryEngine

/// The connections of one process to the servers of a ``ScriptedSystem``. The bodies go on as far as the test lets them.
final class WalkTransport: Transport {
    private struct State {
        var allowance: ByteCount = 0
        /// The number of times that all connections have ended.
        var breaks = 0
        var pieces = 0
    }
    private static let pieceBytes: ByteCount = 64 << 10

    private let system: ScriptedSystem
    private let look: @Sendable (_ path: String, _ asked: HTTPFields, _ head: ResponseHead) -> Void
    private let state = Mutex(State())
    private let news = AsyncEvent()

    /// - Parameter look: Called with each request and its response.
    init(
        _ system: ScriptedSystem,
        look: @escaping @Sendable (_ path: String, _ asked: HTTPFields, _ head: ResponseHead) -> Void
    ) {
        self.system = system
        self.look = look
    }

    /// Lets the bodies have this many bytes more, together.
    func permit(_ bytes: ByteCount) {
        state.withLock { $0.allowance = min(1 << 40, $0.allowance + bytes) }
        news.notify()
    }

    /// The number of responses and of pieces of their bodies.
    var pieces: Int { state.withLock { $0.pieces } }

    /// Ends all connections.
    func breakAll() {
        state.withLock { $0.breaks += 1 }
        news.notify()
    }

    func shutdown() async { breakAll() }

    func fetch(_ request: TransferRequest) async throws(TransferFailure) -> sending TransferResponse {
        if Task.isCancelled { throw TransferFailure(.cancelled, ErrorPhrase(.stopped)) }
        guard let answer = system.origin(request.url.path)?.answer(request.fields, nil) else {
            throw TransferFailure(.broken, ErrorPhrase(.stopped))
        }
        look(request.url.path, request.fields, answer.head)
        let breaks = state.withLock { state in
            state.pieces += 1
            return state.breaks
        }
        let body = Body(answer.body, breaks)
        return TransferResponse(
            head: answer.head, url: request.url,
            body: TransferBody { [self] () async throws(TransferFailure) -> ByteBuffer? in try await next(body) })
    }

    private final class Body: Sendable {
        let bytes: [UInt8]
        let breaks: Int
        let position = Mutex(0)

        init(_ bytes: [UInt8], _ breaks: Int) { (self.bytes, self.breaks) = (bytes, breaks) }
    }

    private func next(_ body: Body) async throws(TransferFailure) -> ByteBuffer? {
        while true {
            if Task.isCancelled { throw TransferFailure(.cancelled, ErrorPhrase(.stopped)) }
            let seen = news.count
            let start = body.position.withLock { $0 }
            guard start < body.bytes.count else { return nil }
            let (isBroken, count) = state.withLock { state in
                let count = min(state.allowance, Self.pieceBytes, ByteCount(body.bytes.count - start))
                state.allowance -= count
                if count > 0 { state.pieces += 1 }
                return (state.breaks != body.breaks, Int(count))
            }
            if isBroken { throw TransferFailure(.broken, ErrorPhrase(.bodyTooShort, "script", "1")) }
            if count > 0 {
                body.position.withLock { $0 = start + count }
                return ByteBuffer(bytes: body.bytes[start..<start + count])
            }
            await news.wait(after: seen)
        }
    }
}
