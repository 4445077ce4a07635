import NIOCore

/// Handles a connection that is not served.
final class GreetingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let greeting: Greeting

    init(_ greeting: Greeting) { self.greeting = greeting }

    func channelActive(context: ChannelHandlerContext) {
        switch greeting {
        case .close: context.close(promise: nil)
        case .reset:
            context.channel.resetOnClose()
            context.close(promise: nil)
        case .garbage(let bytes):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            context.close(promise: nil)
        case .serve, .closeAtFirstBytes, .silence: break
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if greeting == .closeAtFirstBytes { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
