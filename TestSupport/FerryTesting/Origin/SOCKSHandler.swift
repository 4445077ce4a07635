import NIOCore
import NIOPosix
import Synchronization

/// One connection to a SOCKS version 5 proxy (RFC 1928): a greeting, a CONNECT, then a pipe.
final class SOCKSHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase { case greeting, request, connecting }

    private let hosts: [String: String]
    private let targets: SOCKSServer.Targets
    private var incoming = ByteBuffer()
    private var phase = Phase.greeting

    init(hosts: [String: String], targets: SOCKSServer.Targets) {
        self.hosts = hosts
        self.targets = targets
    }

    func channelActive(context: ChannelHandlerContext) { context.read() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        incoming.writeBuffer(&bytes)
        if phase == .greeting, let methods = takeMethods() {
            guard methods.contains(0) else { return answer(context, [5, 0xFF], closes: true) }
            phase = .request
            answer(context, [5, 0], closes: false)
        }
        if phase == .request, let (host, port) = takeTarget() {
            phase = .connecting
            targets.note("\(host):\(port)")
            return connect(context, hosts[host] ?? host, port)
        }
        if phase != .connecting { context.read() }
    }

    private func takeMethods() -> [UInt8]? {
        guard let head = incoming.getBytes(at: incoming.readerIndex, length: 2),
            incoming.readableBytes >= 2 + Int(head[1])
        else { return nil }
        return incoming.readBytes(length: 2 + Int(head[1])).map { Array($0.dropFirst(2)) }
    }

    /// Reads version, command, 0, type, address and port; a name is returned as received.
    private func takeTarget() -> (String, Int)? {
        guard let head = incoming.getBytes(at: incoming.readerIndex, length: 5) else { return nil }
        let length = [1: 4, 4: 16][head[3]] ?? 1 + Int(head[4])
        guard let all = incoming.readBytes(length: 4 + length + 2) else { return nil }
        let address = all[4..<4 + length]
        let port = Int(all[4 + length]) << 8 | Int(all[5 + length])
        switch head[3] {
        case 1: return (address.map(String.init).joined(separator: "."), port)
        case 4:
            let packed = ByteBuffer(bytes: address)
            return ((try? SocketAddress(packedIPAddress: packed, port: port).ipAddress) ?? "", port)
        default: return (String(decoding: address.dropFirst(), as: UTF8.self), port)
        }
    }

    private func connect(_ context: ChannelHandlerContext, _ host: String, _ port: Int) {
        let channel = context.channel
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        ClientBootstrap(group: context.eventLoop).channelOption(.autoRead, value: false)
            .connect(host: host, port: port).whenComplete { result in
                let (handler, context) = bound.value
                switch result {
                case .failure: handler.answer(context, [5, 5, 0, 1, 0, 0, 0, 0, 0, 0], closes: true)
                case .success(let upstream):
                    handler.answer(context, [5, 0, 0, 1, 0, 0, 0, 0, 0, 0], closes: false)
                    if handler.incoming.readableBytes > 0 {
                        upstream.writeAndFlush(handler.incoming, promise: nil)
                    }
                    do {
                        channel.pipeline.syncOperations.removeHandler(context: context, promise: nil)
                        try PipeHandler.join(channel, upstream)
                    } catch {
                        channel.close(promise: nil)
                        upstream.close(promise: nil)
                    }
                }
            }
    }

    private func answer(_ context: ChannelHandlerContext, _ bytes: [UInt8], closes: Bool) {
        let promise = context.eventLoop.makePromise(of: Void.self)
        let channel = context.channel
        if closes { promise.futureResult.whenComplete { _ in channel.close(promise: nil) } }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
