import FerryAPI
import FerryCore
import HTTPTypes
package import NIOCore
import NIOHTTP1

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Sets a deadline for the arrival of every request, and discards input after a refusal.
///
/// Placed directly after the HTTP decoder. A late request is answered with 408. If a request over TCP is answered
/// before the end of its body, the response carries `Connection: close`, further input is dropped, and the connection
/// closes after a delay. Responses, such as event streams, have no deadline until the daemon ends.
final class RequestLimiter: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Phase {
        /// The peer has not been admitted yet.
        case new
        /// Requests are read and answered.
        case open
        /// The first request, whatever it is, is refused with this problem.
        case turnedAway(Problem)
        /// The last response is complete or being written; input is dropped.
        case ending
    }
    private var phase = Phase.new
    /// The number of requests without a complete response. The newest may be incomplete.
    private var unanswered = 0
    /// Whether the body of the newest request is still incomplete.
    private var isBodyOpen = false
    /// Whether the response head of the oldest unanswered request is written.
    private var isAnswerBegun = false
    /// Whether the connection's token was withdrawn: the connection ends with the current response.
    private var isWithdrawn = false
    /// Whether the daemon is ending: it waits for the responses, but not for a client that does not read.
    private var isQuiescing = false
    private var deadline: Scheduled<Void>?

    private let limits: RequestLimits
    /// `nil` for the Unix socket, whose connections need no token.
    private let table: ConnectionTable?
    /// The table of refused connections, separate so that they never evict a served connection.
    private let strangers: ConnectionTable?

    init(_ limits: RequestLimits, table: ConnectionTable?, strangers: ConnectionTable? = nil) {
        self.limits = limits
        self.table = table
        self.strangers = strangers
    }

    private var isOpen: Bool { if case .open = phase { true } else { false } }
    private var isEnding: Bool { if case .ending = phase { true } else { false } }

    // MARK: Connection

    func handlerAdded(context: ChannelHandlerContext) { if table == nil { open(context) } }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is PeerAdmission:
            table?.enter(context.channel)
            open(context)
            context.fireUserInboundEventTriggered(event)
        case let event as LoopbackPeerCheck.TurnedAway:
            guard case .new = phase else { break }
            phase = .turnedAway(event.problem)
            strangers?.enter(context.channel)
            schedule(context)
        case let eviction as ConnectionEviction: evict(context, eviction)
        case ChannelEvent.inputClosed where isEnding: context.close(promise: nil)
        case is ChannelShouldQuiesceEvent:
            isQuiescing = true
            if unanswered > 0 { scheduleClose(context) }
            context.fireUserInboundEventTriggered(event)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func open(_ context: ChannelHandlerContext) {
        guard case .new = phase else { return }
        phase = .open
        schedule(context)
    }

    private func evict(_ context: ChannelHandlerContext, _ eviction: ConnectionEviction) {
        guard isOpen, unanswered > 0, !isAnswerBegun else { return context.close(promise: nil) }
        switch eviction {
        case .crowded: refuse(context, Problem(.tooMany, "Too many connections have shown no token. Try again."))
        case .withdrawn: isWithdrawn = true
        }
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .turnedAway(let problem) = phase, case .head(let head) = unwrapInboundIn(data) {
            return refuse(context, problem, hasContent: head.method != .HEAD)
        }
        guard isOpen else { return }
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

    /// Starts the deadline for a request head or the end of a body. No deadline applies while only responses are
    /// pending.
    private func schedule(_ context: ChannelHandlerContext) {
        guard !isQuiescing else { return }
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
        // Only a single request without a response head can still be answered with a problem.
        guard isOpen, unanswered == 1, !isAnswerBegun else { return context.close(promise: nil) }
        refuse(context, Problem(.timeout, "The request was not received in time."))
    }

    // MARK: Responses

    /// The field of a response whose value becomes the reason in the status line. It is not sent.
    static let reasonField: HTTPField.Name = {
        guard let name = HTTPField.Name("Ferry-Reason") else { preconditionFailure("not a name of a field") }
        return name
    }()

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard isOpen else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            // Informational (1xx) heads are not the final response.
            guard head.status.code >= 200 else { break }
            isAnswerBegun = true
            if let reason = head.headers.first(name: Self.reasonField.rawName) {
                head.status = .custom(code: head.status.code, reasonPhrase: reason)
                head.headers.remove(name: Self.reasonField.rawName)
                if !(isWithdrawn || unanswered == 1 && dropsBody) {
                    return context.write(wrapOutboundOut(.head(head)), promise: promise)
                }
            }
            // Closes an event stream, which would otherwise not end.
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

    /// Whether a response sent now ends the connection without reading the rest of the body. Over the Unix socket the
    /// body is read and dropped instead: this library's clients write the whole body before they read the response.
    private var dropsBody: Bool { isBodyOpen && table != nil }

    /// Sends a problem as the response and ends the connection.
    private func refuse(_ context: ChannelHandlerContext, _ problem: Problem, hasContent: Bool = true) {
        let data = (try? JSONCoding.encode(problem)) ?? Data()
        var fields = HTTPHeaders([
            ("Content-Type", Problem.mediaType), ("Content-Length", "\(data.count)"), ("Connection", "close"),
        ])
        for (name, value) in Front.fields { fields.add(name: name.rawName, value: value) }
        // Programs that do not show the content still show the title.
        let status = HTTPResponseStatus.custom(code: UInt(problem.status), reasonPhrase: problem.title)
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if hasContent { context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: data)))), promise: nil) }
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
        end(context)
    }

    /// Closes the output, and the connection after a delay: an immediate close with unread input would reset the
    /// connection and lose the response.
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

/// Limits on unauthenticated connections, request bodies, and the time in which a request must arrive.
package struct RequestLimits: Sendable, Hashable {
    /// The time from the connection's start, or from the end of a response, to the end of the next request head, on a TCP
    /// connection without a token. Received bytes do not extend it.
    package var unknownHead: TimeAmount = .seconds(15)
    /// Like ``unknownHead``, but on a TCP connection with a token or on the Unix socket.
    package var knownHead: TimeAmount = .seconds(75)
    /// The time from the end of a request head to the end of its body.
    package var body: TimeAmount = .seconds(30)
    /// The time that a client has to read a response that was sent before the end of the request's body, or that is being sent when
    /// the daemon ends.
    package var linger: TimeAmount = .seconds(2)
    /// The delay before the response to a wrong token for a door or for the metrics.
    package var wrongToken: Duration = .seconds(1)
    /// The maximum number of TCP connections without a token; a new one evicts the oldest.
    package var mostUnknown = 32
    /// The maximum number of refused connections of other users that receive the reason; a new one evicts the oldest.
    package var mostStrangers = 16
    /// The maximum memory for all bodies together, in bytes, separately for TCP and for the Unix socket. The first ``freeBytes`` of
    /// each body do not count.
    package var bodyBudget = 32 << 20
    /// The maximum number of simultaneous responses with the content of downloads; each holds a block of 256 KiB in memory.
    package var mostReaders = 64
    /// The bytes of each body that do not count against the budget, so that small requests are always served.
    package static let freeBytes = 4096

    package init() {}
}
