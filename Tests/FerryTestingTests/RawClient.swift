import NIOCore
import NIOPosix
import Synchronization

/// A client that sends bytes as they are and reads until the connection ends, or until enough bytes have arrived.
final class RawClient: Sendable {
    private struct State {
        var received: [UInt8] = []
        var end: End?
        var waiters: [(condition: @Sendable ([UInt8], End?) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
            []
    }

    /// The end of a connection.
    enum End: Sendable, Hashable { case closed, reset }

    private let state = Mutex(State())
    private let connection: Mutex<(any Channel)?> = Mutex(nil)

    private init() {}

    static func connect(_ port: Int) async throws -> RawClient {
        let client = RawClient()
        // The handler is added before the connection: the server may close it at once.
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { $0.pipeline.addHandler(Collector(client: client)) }
            .connect(host: "127.0.0.1", port: port).get()
        client.connection.withLock { $0 = channel }
        return client
    }

    /// Sends a GET with these header lines.
    func get(_ target: String, _ fields: String...) async throws {
        try await send("GET \(target) HTTP/1.1\r\nHost: x\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
    }

    func send(_ text: String) async throws {
        try await connection.withLock { $0 }?.writeAndFlush(ByteBuffer(string: text)).get()
    }

    /// Everything until the connection ends, and how it ended.
    func rest() async -> (bytes: [UInt8], end: End?) {
        await wait { _, end in end != nil }
        return state.withLock { ($0.received, $0.end) }
    }

    /// One whole response by its Content-Length; later responses stay for the next call.
    func response() async -> Response {
        await wait { bytes, end in end != nil || Response.count(bytes) != nil }
        return state.withLock { state in
            let count = Response.count(state.received) ?? state.received.count
            defer { state.received.removeFirst(count) }
            return Response(Array(state.received.prefix(count)))
        }
    }

    /// Waits until so many bytes are there (or the end).
    func bytes(atLeast count: Int) async -> [UInt8] {
        await wait { bytes, end in end != nil || bytes.count >= count }
        return state.withLock { $0.received }
    }

    func close() { connection.withLock { $0 }?.close(promise: nil) }

    private func wait(_ condition: @escaping @Sendable ([UInt8], End?) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isMet = state.withLock { state in
                if condition(state.received, state.end) { return true }
                state.waiters.append((condition, continuation))
                return false
            }
            if isMet { continuation.resume() }
        }
    }

    fileprivate func change(_ body: (inout [UInt8], inout End?) -> Void) {
        let ready = state.withLock { state in
            body(&state.received, &state.end)
            let met = state.waiters.filter { $0.condition(state.received, state.end) }
            state.waiters.removeAll { $0.condition(state.received, state.end) }
            return met
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    private final class Collector: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        private let client: RawClient
        init(client: RawClient) { self.client = client }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            client.change { received, _ in received.append(contentsOf: bytes.readableBytesView) }
        }

        func channelInactive(context: ChannelHandlerContext) { client.change { _, end in end = end ?? .closed } }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            client.change { _, end in end = .reset }
            context.close(promise: nil)
        }
    }
}

/// A response as received.
struct Response: Sendable {
    let status: Int
    let head: String
    let fields: [String: String]
    let body: [UInt8]

    init(_ bytes: [UInt8]) {
        let end = Self.headEnd(bytes) ?? bytes.count
        head = String(decoding: bytes[..<end], as: UTF8.self)
        body = Array(bytes[end...])
        let lines = head.split(separator: "\r\n")
        status = lines.first.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) } ?? 0
        fields = Dictionary(
            lines.dropFirst().compactMap { line in
                line.firstIndex(of: ":").map {
                    (line[..<$0].lowercased(), String(line[line.index(after: $0)...].drop { $0 == " " }))
                }
            }, uniquingKeysWith: { first, _ in first })
    }

    subscript(_ name: String) -> String? { fields[name.lowercased()] }

    static func headEnd(_ bytes: [UInt8]) -> Int? {
        bytes.firstRange(of: [13, 10, 13, 10]).map(\.upperBound)
    }

    /// The length of the first response, once it is complete.
    static func count(_ bytes: [UInt8]) -> Int? {
        guard let end = headEnd(bytes) else { return nil }
        let response = Response(Array(bytes[..<end]))
        let length = response["Content-Length"].flatMap { Int($0) } ?? 0
        return bytes.count >= end + length ? end + length : nil
    }
}
