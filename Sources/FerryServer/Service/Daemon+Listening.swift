import Ferry
import FerryCore
import Foundation
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension Daemon {
    /// Checks before downloads start that nothing answers at the socket, and that a port that must be had can be bound.
    ///
    /// Throws `conflict` if another program uses one of them.
    func checkAddresses() async throws {
        let isServed = await onFileThread { [place] in Self.isServed(place.socket) }
        guard !isServed else {
            throw DownloadError(
                .conflict, ErrorPhrase(.servedSocket, place.socket), suggestion: ErrorPhrase(.anotherSocket),
                recovery: .needsUser)
        }
        let settings = settings.current
        guard settings.loopback, mustHavePort, settings.port != 0 else { return }
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: "127.0.0.1", port: settings.port).get()
            try await channel.close()
        } catch {
            throw Self.failure(error, port: settings.port)
        }
    }

    /// Whether a process accepts connections at the socket.
    private static func isServed(_ path: String) -> Bool {
        guard let address = try? SocketAddress(unixDomainSocketPath: path) else { return false }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return address.withSockAddr { connect(descriptor, $0, socklen_t($1)) } == 0
    }

    /// The ports for the page in the order in which they are tried: its own, the nine after it, and any that is free.
    fileprivate var ports: [Int] {
        let port = settings.current.port
        return mustHavePort || port == 0 ? [port] : Array(port...min(port + 9, 65_535)) + [0]
    }

    /// Translates a failure to bind the port.
    fileprivate static func failure(_ error: any Error, port: Int) -> any Error {
        guard let error = error as? IOError else { return error }
        switch error.errnoCode {
        case EADDRINUSE:
            return DownloadError(
                .conflict, ErrorPhrase(.takenPort, "\(port)"), suggestion: ErrorPhrase(.anotherPort),
                recovery: .needsUser)
        case EACCES:
            return DownloadError(
                .invalidRequest, ErrorPhrase(.closedPort, "\(port)"), suggestion: ErrorPhrase(.anotherPort),
                recovery: .needsUser)
        default: return error
        }
    }

    /// Returns one service for each socket. Requires the state lock: an existing socket is then stale.
    func listeners() throws -> [any Service] {
        let socket = place.socket
        guard socket.utf8.count < 104 else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.longSocket, socket), suggestion: ErrorPhrase(.shorterSocket),
                recovery: .needsUser)
        }
        try PrivateFile.makeDirectory(Paths.parent(of: socket))
        try removeStaleSocket(socket)
        SignInFile.sweep(place.signIn)
        var services: [any Service] = [try unixListener(socket)]
        let settings = settings.current
        if settings.loopback {
            if !peers.tells {
                logger.warning("this system does not tell whose connections over loopback are: the token decides alone")
            }
            services.append(FirstListener(daemon: self))
            services.append(SecondListener(daemon: self))
        }
        addresses.expect(services.count)
        return services
    }

    private func removeStaleSocket(_ path: String) throws(DownloadError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == user else {
            throw DownloadError(.conflict, ErrorPhrase(.notOurSocket, path), recovery: .needsUser)
        }
        unlink(path)
    }

    private func unixListener(_ path: String) throws -> any Service {
        let user = user
        return try listener(
            .unixDomainSocket(path: path),
            handlers: { [limits] in
                [PeerCheck(user: user), RequestLineCheck.Installer(RequestLimiter(limits, table: nil))]
            }
        ) { [addresses, logger] _ in
            chmod(path, 0o600)
            logger.info("listening", metadata: ["socket": "\(path)"])
            addresses.bound(socket: path)
        }
    }

    fileprivate func loopback(_ port: Int) throws -> any Service {
        try listener(.hostname("127.0.0.1", port: port), handlers: loopbackHandlers) {
            [addresses, responder, logger] channel in
            let port = channel.localAddress?.port ?? port
            responder.listens(on: port)
            logger.info("listening", metadata: ["address": "127.0.0.1:\(port)"])
            addresses.bound(port: port, host: "127.0.0.1:\(port)")
        }
    }

    fileprivate func secondLoopback(_ port: Int) throws -> any Service {
        try listener(.hostname("::1", port: port), handlers: loopbackHandlers) {
            [addresses, logger] _ in
            logger.info("listening", metadata: ["address": "[::1]:\(port)"])
            addresses.bound(host: "[::1]:\(port)")
        }
    }

    /// The limiter must be in the pipeline before the peer check admits the client.
    private var loopbackHandlers: @Sendable () -> [any RemovableChannelHandler] {
        let (user, peers, limits, table) = (user, peers, limits, api.connections)
        return {
            [
                RequestLineCheck.Installer(RequestLimiter(limits, table: table)),
                LoopbackPeerCheck(user: user, peers: peers),
            ]
        }
    }

    private func listener(
        _ address: BindAddress, handlers: @escaping @Sendable () -> [any RemovableChannelHandler],
        running: @escaping @Sendable (any Channel) async -> Void
    ) throws -> any Service {
        var decoder = HTTP1Channel.Configuration.DecoderConfiguration()
        decoder.maxHeaderFieldSize = 16 << 10
        decoder.maxHeaderListSize = 32 << 10
        decoder.maxHeaderFieldCount = 100
        let server = HTTPServerBuilder.http1(
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: handlers(), httpDecoderConfiguration: decoder))
        return try server.buildServer(
            configuration: ServerConfiguration(
                address: address,
                availableConnectionsDelegate: MaximumAvailableConnections(mostConnections, logger: quiet)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quiet,
            responder: { [responder] request, writer, channel in
                let response = await responder.respond(to: request, on: channel)
                try await writer.write(response: response.head, body: response.body)
            }, onServerRunning: running)
    }
}

/// The listener on 127.0.0.1. The daemon ends if no port can be bound.
private struct FirstListener: Service {
    let daemon: Daemon

    func run() async throws {
        var ports = daemon.ports[...]
        while let port = ports.popFirst() {
            do { return try await daemon.loopback(port).run() } catch {
                let error = Daemon.failure(error, port: port)
                guard !ports.isEmpty, error is DownloadError else {
                    // The IPv6 listener waits for this one's port.
                    daemon.addresses.close()
                    throw error
                }
                daemon.logger.warning("the page takes another port", metadata: ["error": "\(error)"])
            }
        }
    }
}

/// The listener on ::1, with the port of 127.0.0.1. Failure is not fatal, as the machine may lack IPv6.
private struct SecondListener: Service {
    let daemon: Daemon

    func run() async throws {
        guard let port = await daemon.addresses.port() else { return }
        do { try await daemon.secondLoopback(port).run() } catch {
            daemon.logger.warning("::1 cannot be listened on", metadata: ["error": "\(error)"])
            daemon.addresses.bound()
            try? await gracefulShutdown()
        }
    }
}
