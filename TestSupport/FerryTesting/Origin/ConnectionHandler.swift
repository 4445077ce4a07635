import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// One connection: reads a request head, gets the response, sends its steps, and repeats. Runs on its event loop only.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let state: OriginState
    let connection: Int
    let wire: WireHandler
    var context: ChannelHandlerContext?

    private var incoming = ByteBuffer()
    private var bodyToSkip = 0
    private var isAdmitted = false
    private var isWaitingForSlot = false
    private var isHung = false

    /// The response being sent, with the position in its steps.
    var sending: Sending?
    /// Lives as long as the connection, so that a new request does not reset the limit.
    var connectionLimiter: RateLimiter?
    var isPumping = false
    var scratch = ByteBuffer()

    init(state: OriginState, connection: Int, wire: WireHandler) {
        self.state = state
        self.connection = connection
        self.wire = wire
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        incoming.writeBuffer(&bytes)
        processInput()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let sending {
            self.sending = nil
            state.ended(sending.number, isFinished: false)
        }
        self.context = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// Starts the next request if no response is being sent.
    func processInput() {
        guard sending == nil, !isWaitingForSlot, !isHung, let context else { return }
        if bodyToSkip > 0 {
            let skipped = min(bodyToSkip, incoming.readableBytes)
            incoming.moveReaderIndex(forwardBy: skipped)
            bodyToSkip -= skipped
        }
        incoming.discardReadBytes()
        guard bodyToSkip == 0, let end = headEnd() else {
            if incoming.readableBytes > 1 << 20 { context.close(promise: nil) }
            return
        }
        guard isAdmitted || admit(context) else { return }
        guard let bytes = incoming.readBytes(length: end), let head = RequestHead(bytes) else {
            let (answer, number) = state.answer(RequestHead(method: "?", target: "?"), connection: connection)
            _ = answer
            start(
                .page(400, "not HTTP", fields: [Field("Connection", "close")]), number: number, path: "?", closes: true)
            return
        }
        bodyToSkip = head["Content-Length"].flatMap(Int.init).map { max(0, $0) } ?? 0
        let (answer, number) = state.answer(head, connection: connection)
        start(answer, number: number, path: head.path, closes: false)
    }

    private func start(_ answer: Answer, number: Int, path: String, closes: Bool) {
        var answer = answer
        if closes { answer.ending = .close }
        sending = Sending(answer: answer, number: number, path: path)
        pump()
    }

    /// Requests a slot, which the connection then keeps.
    private func admit(_ context: ChannelHandlerContext) -> Bool {
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let loop = context.eventLoop
        isAdmitted = state.admit(connection) {
            loop.execute {
                bound.value.isAdmitted = true
                bound.value.isWaitingForSlot = false
                bound.value.processInput()
            }
        }
        isWaitingForSlot = !isAdmitted
        return isAdmitted
    }

    /// Returns the length of the next head, including its empty line; nil if it is incomplete.
    private func headEnd() -> Int? {
        let view = incoming.readableBytesView
        var index = view.startIndex
        while let newline = view[index...].firstIndex(of: 10) {
            index = newline + 1
            if index < view.endIndex, view[index] == 10 { return index + 1 - view.startIndex }
            if index + 1 < view.endIndex, view[index] == 13, view[index + 1] == 10 {
                return index + 2 - view.startIndex
            }
        }
        return nil
    }

    /// Ends the response.
    func finish(_ ending: Answer.Ending, number: Int) {
        sending = nil
        state.ended(number, isFinished: true)
        guard let context else { return }
        switch ending {
        case .keepAlive:
            // Deferred, because the calling `pump` is still on the stack.
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            context.eventLoop.execute { bound.value.processInput() }
        case .close: context.close(promise: nil)
        case .cut: wire.close()
        case .reset: wire.reset()
        case .hang: isHung = true
        }
    }
}

/// The handler next to the socket, which closes it without involving TLS.
final class WireHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private var context: ChannelHandlerContext?
    private let whenActive: () -> Void

    init(whenActive: @escaping () -> Void) { self.whenActive = whenActive }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        whenActive()
        context.fireChannelActive()
    }

    /// Sends FIN without close_notify.
    func close() { context?.close(promise: nil) }

    /// Sends RST.
    func reset() {
        guard let context else { return }
        context.channel.resetOnClose()
        context.close(promise: nil)
    }
}

extension Channel {
    /// Makes the next close send RST.
    func resetOnClose() {
        (self as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in }
    }
}
