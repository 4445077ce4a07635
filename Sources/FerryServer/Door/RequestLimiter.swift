import FerryAPI
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Gives every request a time in which it must have come in, and throws away what follows a refusal.
///
/// Stands right behind the decoder. A request that is late is answered 408; one that was answered before the end of its body
/// over TCP is read no further: the connection says `close`, the rest is dropped, and after a moment it is closed. An answer,
/// as an event stream is, may take as long as it likes.
final class RequestLimiter: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Phase {
        /// Its client is not known to be admitted yet.
        case new
        /// Requests come and are answered.
        case open
        /// The last answer is written, or being written; what comes is dropped.
        case ending
    }
    private var phase = Phase.new
    /// Requests whose answers have not ended; the last of them may be incomplete.
    private var unanswered = 0
    /// The head of the newest request has come, and not the end of its body.
    private var isBodyOpen = false
    /// The head of the oldest unanswered request's answer is written.
    private var isAnswerBegun = false
    /// The token of the connection was withdrawn: it ends with the answer that is under way.
    private var isWithdrawn = false
    private var deadline: Scheduled<Void>?

    private let limits: RequestLimits
    /// `nil` for the Unix socket, whose connections are all known.
    private let table: ConnectionTable?

    init(_ limits: RequestLimits, table: ConnectionTable?) {
        self.limits = limits
        self.table = table
    }

    // MARK: The connection

    func handlerAdded(context: ChannelHandlerContext) { if table == nil { open(context) } }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is LoopbackPeerCheck.Admitted:
            table?.enter(context.channel)
            open(context)
        case let eviction as ConnectionTable.Eviction: evict(context, eviction)
        case ChannelEvent.inputClosed where phase == .ending: context.close(promise: nil)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func open(_ context: ChannelHandlerContext) {
        guard phase == .new else { return }
        phase = .open
        schedule(context)
    }

    private func evict(_ context: ChannelHandlerContext, _ eviction: ConnectionTable.Eviction) {
        guard phase == .open, unanswered > 0, !isAnswerBegun else { return context.close(promise: nil) }
        switch eviction {
        case .crowded: refuse(context, Problem(.tooMany, "Too many connections have shown no token. Try again."))
        case .withdrawn: isWithdrawn = true
        }
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase == .open else { return }
        switch unwrapInboundIn(data) {
        case .head:
            unanswered += 1
            isBodyOpen = true
            schedule(context)
        case .body: break
        case .end:
            isBodyOpen = false
            schedule(context)
        }
        context.fireChannelRead(data)
    }

    /// Begins the time of what is waited for: a head, or the end of a body; while only answers are under way, of nothing.
    private func schedule(_ context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = nil
        let time: TimeAmount
        if isBodyOpen {
            time = limits.body
        } else if unanswered == 0 {
            time = table.map { $0.isKnown(context.channel) } ?? true ? limits.knownHead : limits.unknownHead
        } else {
            return
        }
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) { self.expire(context) }
    }

    private func expire(_ context: ChannelHandlerContext) {
        // Where an answer has begun, or there is no request that it could be an answer to, there is nothing to say.
        guard phase == .open, unanswered == 1, !isAnswerBegun else { return context.close(promise: nil) }
        refuse(context, Problem(.timeout, "The request did not come in whole in time."))
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard phase == .open else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            // 1xx heads are no answers.
            guard head.status.code >= 200 else { break }
            isAnswerBegun = true
            // A stream, which does not end by itself, is cut.
            if isWithdrawn { scheduleClose(context) }
            guard isWithdrawn || unanswered == 1 && dropsBody else { break }
            head.headers.replaceOrAdd(name: "Connection", value: "close")
            return context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: break
        case .end:
            isAnswerBegun = false
            unanswered -= 1
            context.write(data, promise: promise)
            return isWithdrawn || unanswered == 0 && dropsBody ? end(context) : schedule(context)
        }
        context.write(data, promise: promise)
    }

    /// An answer that comes now ends the connection, and the body is read no further. Over the Unix socket it is read to its end
    /// and dropped: there clients of this library write a body whole before they look at the answer.
    private var dropsBody: Bool { isBodyOpen && table != nil }

    /// Answers with a problem in place of what would have come, and ends.
    private func refuse(_ context: ChannelHandlerContext, _ problem: Problem) {
        let data = (try? APICoding.encode(problem)) ?? Data()
        var fields = HTTPHeaders([
            ("Content-Type", Problem.mediaType), ("Content-Length", "\(data.count)"), ("Connection", "close"),
        ])
        for (name, value) in DaemonResponder.fields { fields.add(name: name.rawName, value: value) }
        let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: problem.status), headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: data)))), promise: nil)
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
        end(context)
    }

    /// Closes once the client has had time to read: closed at once, with bytes of it unread, the connection would be reset and
    /// the answer lost.
    private func end(_ context: ChannelHandlerContext) {
        phase = .ending
        context.flush()
        context.close(mode: .output, promise: nil)
        scheduleClose(context)
    }

    private func scheduleClose(_ context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: limits.linger) { context.close(promise: nil) }
    }
}
