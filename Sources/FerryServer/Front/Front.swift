import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore
import Logging
public import NIOCore
import NIOHTTP1
import ServiceLifecycle

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The HTTP front of a program: makes the listeners of all doors, and the handlers for the listeners of the page.
///
/// It enforces the rules for every request: which users may connect, the number of connections, the limits of heads and times,
/// and the fields of every response.
public struct Front: Sendable {
    /// The limits of HTTP/1.1 connections.
    let http: HTTPListener
    let limits: RequestLimits
    let peers: LoopbackPeers
    /// The user whose connections are accepted.
    let user: UInt32
    /// The connections of all listeners without a table of their own.
    let table: ConnectionTable
    /// The connections of other users that receive the reason for their refusal.
    let strangers: ConnectionTable
    let logger: Logger

    /// The listeners of a door, on both addresses of loopback.
    ///
    /// - Parameter bound: Called with the port once the first listener is bound.
    func listeners(of door: any Door, bound: @escaping LoopbackListeners.Running) -> any Service {
        LoopbackListeners(
            port: door.port, option: door.option, logger: logger,
            listener: { host, port, running in
                http.service(
                    .hostname(host, port: port), respond: Self.respond(door),
                    handlers: handlers(door.peers, upgrade: door.upgrade, more: door.handlers)
                ) { channel in
                    let port = channel.localAddress?.port ?? port
                    door.listens(on: port)
                    logger.info(
                        "a door is open", metadata: ["door": "\(door.name)", "address": "\(host):\(port)"])
                    running(port)
                }
            }, bound: bound)
    }

    private static func respond(_ door: any Door) -> HTTPListener.Respond {
        { request, channel in
            var response = await door.respond(to: request, on: channel)
            complete(&response)
            return response
        }
    }

    /// Returns the handlers for each connection over loopback. The limiter must be in the pipeline before the peer check admits the
    /// client.
    func handlers(
        _ rule: PeerRule = .own,
        upgrade: @escaping @Sendable () -> (any ChannelInboundHandler & RemovableChannelHandler)? = { nil },
        more: @escaping @Sendable () -> [any RemovableChannelHandler] = { [] }
    ) -> HTTPListener.Handlers {
        let users = rule.users ?? AdmittedUsers(own: user)
        return { [peers, limits, table, strangers] in
            [
                RequestLineCheck.Installer(
                    RequestLimiter(limits, table: rule.table ?? table, strangers: strangers), then: upgrade(),
                    proxyPath: rule.proxyPath),
                LoopbackPeerCheck(
                    users: users, peers: peers, mustKnow: rule.mustKnow, refusal: rule.refusal ?? { _ in nil }),
            ] + more()
        }
    }

    /// Removes the handlers that decode, encode and check HTTP, before another protocol is written to the connection. The handlers
    /// after them stay, and the server waits for the end of the connection.
    public static func leaveHTTP(in pipeline: ChannelPipeline.SynchronousOperations) throws {
        _ = pipeline.removeHandler(try pipeline.handler(type: HTTPResponseEncoder.self))
        _ = pipeline.removeHandler(try pipeline.handler(type: RequestLimiter.self))
        _ = pipeline.removeHandler(try pipeline.handler(type: RequestLineCheck.self))
        _ = pipeline.removeHandler(try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self))
    }

    // MARK: Responses

    /// Header fields that are added to every response that does not set them itself.
    static let fields: [(name: HTTPField.Name, value: String)] = [
        (FerryAPI.versionHeader, String(FerryAPI.version)), ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"), ("Cache-Control", "no-store"),
    ].compactMap { name, value in HTTPField.Name(name).map { ($0, value) } }

    /// Adds the fields that every response has, and its date.
    static func complete(_ response: inout Response) {
        for (name, value) in fields where response.headers[name] == nil { response.headers[name] = value }
        response.headers[.date] = HTTPDate.format(Date())
    }

    /// Returns the problem with which to respond to a request that has failed. Logs the error if the client did not cause it.
    static func problem(_ error: any Error, at path: Substring, _ logger: Logger) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let error as DownloadError: return Problem(error)
        case is CancellationError: return Problem(.shuttingDown)
        default:
            logger.error("a request failed", metadata: ["path": "\(path)", "error": "\(error)"])
            return Problem(.internal)
        }
    }
}
