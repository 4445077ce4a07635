import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The limits that all listeners of a program share, for HTTP/1.1 and for connections.
struct HTTPListener: Sendable {
    typealias Respond = @Sendable (Request, any Channel) async -> Response
    typealias Handlers = @Sendable () -> [any RemovableChannelHandler]

    /// The maximum number of open connections; further connections wait to be accepted.
    let mostConnections: Int
    let logger: Logger

    /// Returns a listener on an address.
    ///
    /// - Parameters:
    ///   - handlers: Makes the handlers of each connection, placed before the responder.
    ///   - running: Called with the listening channel.
    func service(
        _ address: BindAddress, respond: @escaping Respond, handlers: @escaping Handlers,
        running: @escaping @Sendable (any Channel) async -> Void
    ) -> any Service {
        channel(respond, handlers).server(
            configuration: ServerConfiguration(
                address: address,
                availableConnectionsDelegate: MaximumAvailableConnections(mostConnections, logger: logger)),
            onServerRunning: running, eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
    }

    /// Returns the channel that sets up each connection of a listener.
    func channel(_ respond: @escaping Respond, _ handlers: @escaping Handlers) -> HTTP1Channel {
        var decoder = HTTP1Channel.Configuration.DecoderConfiguration()
        decoder.maxHeaderFieldSize = 16 << 10
        decoder.maxHeaderListSize = 32 << 10
        decoder.maxHeaderFieldCount = 100
        return HTTP1Channel(
            responder: { request, writer, channel in
                let response = await respond(request, channel)
                try await writer.write(response: response.head, body: response.body)
            },
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: handlers(), httpDecoderConfiguration: decoder))
    }
}
