import FerryCore
import NIOCore
import NIOHTTP1

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The handler between a connection's socket and AsyncHTTPClient's HTTP handlers.
///
/// Outbound, it sets the exact request target: AsyncHTTPClient only accepts Foundation's URLs, which re-escape some valid paths,
/// and always requests a path where a proxy needs the absolute URL (RFC 9112 §3.2.2). It also checks the peer's address before
/// the first byte of a request that needs a public one.
/// Inbound, it records the first byte of a response, which distinguishes a connection that closed before the response from one
/// that closed during it. It also stores bytes that arrive without a read request: NIO drains a socket that the peer has closed,
/// and AsyncHTTPClient discards those bytes when the body is incomplete. It sets the low-water mark of the socket
/// (``ReadBatch``), observes the socket about once a second, and lets ``ResponseHeadMender`` rewrite unusual heads.
final class HTTPExchangeHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let exchanges: HTTPExchangeRegistry
    private var current: HTTPExchange?
    private var hasServed = false
    private var isAnswered = false
    /// Whether the peer's address was refused; nothing more is written.
    private var isRefused = false
    /// Whether a read was requested. Data between ``channelReadComplete(context:)`` and ``read(context:)`` reaches
    /// the consumer only if the response is complete.
    private var isWanted = true
    /// The time of the socket's last observation, and its counters then.
    private var observation: (time: NIODeadline, counters: SocketReading)?
    private static let observationInterval = TimeAmount.seconds(1)
    /// The size of the receive buffer; `nil` if the socket's options cannot be set.
    private let bufferSize: (() -> Int)?
    private var batch = ReadBatch()
    private var mender = ResponseHeadMender()
    private var batchTimer: Scheduled<Void>?

    init(exchanges: HTTPExchangeRegistry, bufferSize: (() -> Int)? = nil) {
        self.exchanges = exchanges
        self.bufferSize = bufferSize
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isRefused else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        guard case .head(var head) = unwrapOutboundIn(data) else {
            context.write(data, promise: promise)
            return
        }
        if let number = head.headers.first(name: HTTPExchange.fieldName).flatMap({ UInt64($0) }),
            let exchange = exchanges[number]
        {
            guard admits(exchange, context.channel) else {
                promise?.fail(ChannelError.ioOnClosedChannel)
                return
            }
            exchange.wentOut(onReusedConnection: hasServed)
            if !hasServed { exchange.trace?.opened(context.channel.peerName) }
            head.uri = exchange.target
            current = exchange
            isAnswered = false
            mender.begin()
            changeBatch(context) { $0.begin() }
        }
        head.headers.remove(name: HTTPExchange.fieldName)
        hasServed = true
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    /// Returns whether the request may be sent on this connection, and closes the connection if not.
    private func admits(_ exchange: HTTPExchange, _ channel: any Channel) -> Bool {
        guard exchange.needsPublicPeer else { return true }
        let peer = channel.remoteAddress?.ip
        if let peer, PrivateAddress.kind(ofPeer: peer, local: channel.localAddress?.ip) == nil { return true }
        isRefused = true
        exchange.refuse(peer.map { "\($0)" } ?? "?")
        // Deferred, because a write is in progress.
        channel.eventLoop.execute { channel.close(promise: nil) }
        return false
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if let exchange = current {
            batch.receive(unwrapInboundIn(data).readableBytes)
            if !isAnswered {
                exchange.answerBegan()
                isAnswered = true
            }
            if !isWanted { exchange.leave(unwrapInboundIn(data)) }
        }
        guard let passed = mender.receive(unwrapInboundIn(data).readableBytesView) else {
            return context.fireChannelRead(data)
        }
        pass(passed, context)
    }

    private func pass(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        if !bytes.isEmpty { context.fireChannelRead(wrapInboundOut(context.channel.allocator.buffer(bytes: bytes))) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { pass(mender.finish(), context) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        current?.trace?.closed(context.channel.peerName)
        batchTimer?.cancel()
        pass(mender.finish(), context)
        context.fireChannelInactive()
    }

    func read(context: ChannelHandlerContext) {
        isWanted = true
        context.read()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // The requested data is now delivered, together with all data that arrived before it.
        if isWanted { current?.forgetLeftover() }
        isWanted = false
        if let current {
            let now = NIODeadline.now()
            observe(for: current, at: now, context)
            gather(for: current, at: now, context)
        }
        context.fireChannelReadComplete()
    }

    private func gather(for exchange: HTTPExchange, at now: NIODeadline, _ context: ChannelHandlerContext) {
        guard let bufferSize, let trip = observation?.counters.shortestTrip, trip > 0 else { return }
        changeBatch(context) {
            $0.readCompleted(
                at: now, trip: .microseconds(Int64(trip)), length: exchange.bodyLength, buffer: bufferSize())
        }
        if batch.mark > 1, batchTimer == nil { checkWait(at: now, context) }
    }

    private func checkWait(at now: NIODeadline, _ context: ChannelHandlerContext) {
        let next = changeBatch(context) { $0.checkWait(at: now) }
        batchTimer = next.map { time in
            context.eventLoop.assumeIsolated().scheduleTask(deadline: time) {
                self.checkWait(at: .now(), context)
            }
        }
    }

    /// Changes the batch, and sets the socket's low-water mark if it has changed.
    private func changeBatch<Result>(_ context: ChannelHandlerContext, _ change: (inout ReadBatch) -> Result) -> Result
    {
        let before = batch.mark
        let result = change(&batch)
        if batch.mark != before {
            try? context.channel.syncOptions?.setOption(.receiveLowWaterMark, value: SocketOptionValue(batch.mark))
        }
        return result
    }

    private func observe(for exchange: HTTPExchange, at now: NIODeadline, _ context: ChannelHandlerContext) {
        guard let observe = exchange.observe else { return }
        if let observation, now - observation.time < Self.observationInterval { return }
        let before = observation?.counters ?? SocketReading()
        observation = (now, before)
        let reading = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { SocketReading(of: $0) }
        guard let reading = reading ?? nil else { return }
        observation = (now, reading)
        observe(reading.facts(since: before))
    }
}

extension ChannelOption where Self == ChannelOptions.Types.SocketOption {
    fileprivate static var receiveLowWaterMark: Self {
        .socketOption(NIOBSDSocket.Option(rawValue: SO_RCVLOWAT))
    }
}

extension Channel {
    fileprivate var peerName: String { remoteAddress.flatMap { $0.ipAddress } ?? "?" }
}

extension SocketAddress {
    /// The address without its port and zone; `nil` for a Unix socket.
    fileprivate var ip: IPAddress? {
        guard let text = ipAddress else { return nil }
        return IPAddress(String(text.prefix { $0 != "%" }))
    }
}
