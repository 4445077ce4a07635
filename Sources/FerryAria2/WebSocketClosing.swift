import NIOCore
import NIOWebSocket

/// The codes of closing frames (RFC 6455 §7.4). Pure.
enum WebSocketClosing {
    /// Returns the code for the response to a closing frame: the frame's own code, or `nil` if it has none (§5.5.1).
    static func answer(to data: ByteBuffer) -> WebSocketErrorCode? {
        var data = data
        if data.readableBytes == 0 { return nil }
        guard let number = data.readInteger(as: UInt16.self), isPermitted(number) else { return .protocolError }
        guard String(validating: data.readableBytesView, as: UTF8.self) != nil else {
            return .dataInconsistentWithMessage
        }
        return WebSocketErrorCode(codeNumber: Int(number))
    }

    /// Whether a closing frame may have this code: codes registered for frames, and codes for applications.
    private static func isPermitted(_ number: UInt16) -> Bool {
        switch number {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// Returns the code for a failed connection; `nil` for an error of the connection itself, because nothing can be sent over
    /// it.
    static func code(of error: any Error) -> WebSocketErrorCode? {
        switch error {
        case NIOWebSocketError.invalidFrameLength, NIOWebSocketFrameAggregator.Error.accumulatedFrameSizeIsTooLarge,
            NIOWebSocketFrameAggregator.Error.tooManyFragments:
            .messageTooLarge
        case is NIOWebSocketError, is NIOWebSocketFrameAggregator.Error, is WebSocketFrameCheck.Violation:
            .protocolError
        default: nil
        }
    }
}

/// Refuses frames that the decoder accepts: unmasked frames, which a client must not send (RFC 6455 §5.1), and frames with
/// reserved bits, because no extension has been negotiated (§5.2).
final class WebSocketFrameCheck: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = WebSocketFrame

    struct Violation: Error {}

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
            return context.fireErrorCaught(Violation())
        }
        context.fireChannelRead(data)
    }
}
