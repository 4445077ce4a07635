import NIOCore

/// One end of a pipe between two channels of one event loop. Continues reading only when the previous data has been written.
final class PipeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    typealias Gatekeeper = @Sendable (@escaping @Sendable () -> Void) -> Bool

    private let peer: any Channel
    private let mayPass: Gatekeeper
    private var context: ChannelHandlerContext?

    private init(peer: any Channel, mayPass: @escaping Gatekeeper) {
        self.peer = peer
        self.mayPass = mayPass
    }

    /// Joins two channels with `autoRead` off; `mayPass` may hold back data.
    static func join(_ first: any Channel, _ second: any Channel, mayPass: @escaping Gatekeeper = { _ in true }) throws
    {
        try first.pipeline.syncOperations.addHandler(PipeHandler(peer: second, mayPass: mayPass))
        try second.pipeline.syncOperations.addHandler(PipeHandler(peer: first, mayPass: mayPass))
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { context.read() }
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) { context.read() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        pass(unwrapInboundIn(data))
    }

    private func pass(_ bytes: ByteBuffer) {
        guard let context else { return }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let loop = context.eventLoop
        guard mayPass({ loop.execute { bound.value.pass(bytes) } }) else { return }
        let promise = loop.makePromise(of: Void.self)
        promise.futureResult.whenComplete { result in
            if case .success = result {
                bound.value.context?.read()
            } else {
                bound.value.context?.close(promise: nil)
            }
        }
        peer.writeAndFlush(bytes, promise: promise)
    }

    func channelInactive(context: ChannelHandlerContext) {
        // The peer closes after its pending writes.
        peer.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
