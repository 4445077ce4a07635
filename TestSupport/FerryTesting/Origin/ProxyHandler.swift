import NIOCore
import NIOPosix

/// One connection to the proxy: reads one head, connects, and becomes a pipe.
final class ProxyHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let rules: ProxyServer.Rules
    private let log: ProxyLog
    private var incoming = ByteBuffer()
    private var isDone = false

    init(rules: ProxyServer.Rules, log: ProxyLog) {
        self.rules = rules
        self.log = log
    }

    func channelActive(context: ChannelHandlerContext) { context.read() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        incoming.writeBuffer(&bytes)
        guard !isDone else { return }
        let text = String(buffer: incoming)
        guard let end = text.utf8.firstRange(of: "\r\n\r\n".utf8) else { return context.read() }
        isDone = true
        let count = text.utf8.distance(from: text.utf8.startIndex, to: end.upperBound)
        guard let head = incoming.readBytes(length: count).flatMap({ RequestHead($0) }) else {
            return refuse(context, .page(400, "not HTTP"))
        }
        log.note(head)
        if let authorization = rules.authorization, head["Proxy-Authorization"] != authorization {
            let challenge = Field("Proxy-Authenticate", "Basic realm=\"proxy\"")
            return refuse(context, .page(407, "who are you", fields: [challenge]))
        }
        if head.method == "CONNECT" {
            guard let (host, port) = Self.split(head.target[...], defaultPort: 443) else {
                return refuse(context, .page(400, "not a target"))
            }
            guard port != rules.refusesConnectToPort else { return refuse(context, .page(403, "not that port")) }
            connect(context, host, port, greeting: "HTTP/1.1 200 Connection established\r\n\r\n", upstreamHead: "")
        } else {
            forward(context, head)
        }
    }

    /// Forwards an absolute-form request in origin form, one per connection.
    private func forward(_ context: ChannelHandlerContext, _ head: RequestHead) {
        let prefix = "http://"
        guard head.target.lowercased().hasPrefix(prefix) else { return refuse(context, .page(400, "not absolute")) }
        let rest = head.target.dropFirst(prefix.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard let (host, port) = Self.split(authority, defaultPort: 80) else {
            return refuse(context, .page(400, "not a target"))
        }
        var path = String(rest.dropFirst(authority.count))
        if !path.hasPrefix("/") { path = "/" + path }
        var text = "\(head.method) \(path) HTTP/1.1\r\n"
        for field in head.fields
        where !["connection", "proxy-connection", "proxy-authorization"].contains(field.name.lowercased()) {
            text += "\(field.name): \(field.value)\r\n"
        }
        connect(
            context, host, port, greeting: "", upstreamHead: text + "Connection: close\r\nVia: 1.1 ferry-proxy\r\n\r\n")
    }

    private func connect(
        _ context: ChannelHandlerContext, _ host: String, _ port: Int, greeting: String, upstreamHead: String
    ) {
        let channel = context.channel
        let address = rules.hosts[host] ?? host
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        ClientBootstrap(group: context.eventLoop).channelOption(.autoRead, value: false)
            .connect(host: address, port: port).whenComplete { result in
                let (handler, context) = bound.value
                switch result {
                case .failure: handler.refuse(context, .page(502, "cannot connect"))
                case .success(let upstream):
                    if !greeting.isEmpty { channel.writeAndFlush(ByteBuffer(string: greeting), promise: nil) }
                    var first = ByteBuffer(string: upstreamHead)
                    first.writeBuffer(&handler.incoming)
                    if first.readableBytes > 0 { upstream.writeAndFlush(first, promise: nil) }
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

    private func refuse(_ context: ChannelHandlerContext, _ answer: Answer) {
        var answer = answer
        answer.fields.append(Field("Connection", "close"))
        var bytes = answer.head
        for case .literal(let body) in answer.body { bytes += body }
        let promise = context.eventLoop.makePromise(of: Void.self)
        let channel = context.channel
        promise.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// Parses `host:port`, `[::1]:port`, `host`.
    private static func split(_ authority: Substring, defaultPort: Int) -> (String, Int)? {
        var host = authority
        var port = defaultPort
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            guard let number = Int(authority[authority.index(after: colon)...]), (1...65_535).contains(number) else {
                return nil
            }
            port = number
            host = authority[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : (String(host), port)
    }
}
