import FerryCore
import FerryServer
import NIOCore
import NIOWebSocket

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The last handler of a WebSocket. Responds to messages one after the other, and sends notifications.
///
/// Nothing is read while a message is being processed, so only the messages of one read are queued. A client that does not read
/// its notifications is disconnected. After a closing frame from either side, nothing is sent (RFC 6455 §5.5.1).
final class Aria2Socket: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = Never
    typealias OutboundOut = WebSocketFrame

    /// The maximum size of a message.
    static let mostBytes = 1 << 20

    /// The pipeline event that sends a notification.
    struct Notice: Sendable { let text: ByteBuffer }

    private let responder: Aria2Responder
    /// The messages of one read, in order.
    private var messages: [Data] = []
    private var isAnswering = false
    private var isReadWanted = false
    /// Whether the connection closes after the response that is being written.
    private var isEnding = false
    /// Whether the closing frame has been sent.
    private var isClosed = false

    init(_ responder: Aria2Responder) { self.responder = responder }

    func handlerAdded(context: ChannelHandlerContext) {
        if responder.notifiesUnknown { responder.notifier.enter(context.channel) }
    }

    // MARK: Messages

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isClosed { return }
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text, .binary:
            let message = frame.unmaskedData.readableBytesView
            guard frame.opcode == .binary || String(validating: message, as: UTF8.self) != nil else {
                return end(context, .dataInconsistentWithMessage)
            }
            messages.append(Data(message))
            answer(context)
        case .ping: send(.pong, frame.unmaskedData, context)
        case .pong: break
        case .connectionClose: end(context, WebSocketClosing.answer(to: frame.unmaskedData))
        default: end(context, .protocolError)
        }
    }

    func read(context: ChannelHandlerContext) {
        if isAnswering { isReadWanted = true } else { context.read() }
    }

    private func answer(_ context: ChannelHandlerContext) {
        guard !isAnswering, !isEnding, !isClosed, !messages.isEmpty else { return }
        isAnswering = true
        let message = messages.removeFirst()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let (responder, channel) = (responder, context.channel)
        context.eventLoop.makeFutureWithTask {
            let reply = await responder.rpc.answer(message)
            await responder.note(reply.visit, on: channel)
            return reply
        }.whenComplete { result in
            let (handler, context) = bound.value
            guard case .success(let reply) = result else { return context.close(promise: nil) }
            if reply.visit.isKnown { responder.notifier.enter(channel) }
            handler.send(.text, ByteBuffer(bytes: reply.text), context) { handler.answered(context) }
        }
    }

    /// Resumes reading after the response has been passed to the system.
    private func answered(_ context: ChannelHandlerContext) {
        isAnswering = false
        if isClosed { return }
        if isEnding { return end(context, .goingAway) }
        answer(context)
        guard !isAnswering, isReadWanted else { return }
        isReadWanted = false
        context.read()
    }

    private func send(
        _ opcode: WebSocketOpcode, _ data: ByteBuffer, _ context: ChannelHandlerContext, then: (() -> Void)? = nil
    ) {
        if isClosed { return }
        let promise = then.map { done in
            let promise = context.eventLoop.makePromise(of: Void.self)
            promise.futureResult.assumeIsolated().whenSuccess { _ in done() }
            return promise
        }
        context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: opcode, data: data)), promise: promise)
    }

    // MARK: Events

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let notice as Notice:
            guard context.channel.isWritable else { return context.close(promise: nil) }
            send(.text, notice.text, context)
        case is ConnectionEviction: end(context, .policyViolation)
        case ChannelEvent.inputClosed: context.close(promise: nil)
        // A response in progress is still sent, because it may be the response to `shutdown`.
        case is ChannelShouldQuiesceEvent:
            isEnding = true
            if !isAnswering { end(context, .goingAway) }
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let code = WebSocketClosing.code(of: error) else { return context.close(promise: nil) }
        end(context, code)
    }

    /// Sends the one closing frame, and closes the connection.
    ///
    /// - Parameter code: `nil` for a closing frame without a code.
    private func end(_ context: ChannelHandlerContext, _ code: WebSocketErrorCode?) {
        guard !isClosed else { return }
        var data = context.channel.allocator.buffer(capacity: 2)
        if let code { data.write(webSocketErrorCode: code) }
        send(.connectionClose, data, context)
        (isEnding, isClosed) = (true, true)
        context.close(promise: nil)
    }
}
