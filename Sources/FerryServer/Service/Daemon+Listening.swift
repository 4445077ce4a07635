import CFerry
import Ferry
import FerryCore
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension Daemon {
    /// Checks, before downloads start, that no process accepts connections at the socket, and that each required port can be bound.
    ///
    /// Throws `conflict` if another program uses one of them.
    func checkAddresses() async throws {
        // An inherited socket already accepts connections.
        if sockets.path == nil {
            let isServed = await onFileThread { [place] in Self.isServed(place.socket) }
            guard !isServed else {
                throw DownloadError(
                    .conflict, ErrorPhrase(.servedSocket, place.socket), suggestion: ErrorPhrase(.anotherSocket),
                    recovery: .needsUser)
            }
        }
        let settings = settings.current
        if settings.loopback, sockets.loopback.isEmpty, mustHavePort {
            try await check(settings.port, option: "--port")
        }
        for door in doors.all { try await check(door.port, option: door.option) }
    }

    /// Binds a socket to the port and closes it. The socket never listens, because a client that connected to it would wait for
    /// ever.
    private func check(_ port: Int, option: String) async throws {
        guard port != 0 else { return }
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
        let number = await onFileThread { () -> Int32 in
            let descriptor = socket(AF_INET, ferry_SOCK_STREAM, 0)
            guard descriptor >= 0 else { return errno }
            defer { close(descriptor) }
            var isReused: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
            return address.withSockAddr { bind(descriptor, $0, socklen_t($1)) } == 0 ? 0 : errno
        }
        if number != 0 {
            throw LoopbackListeners.failure(IOError(errnoCode: number, reason: "bind"), port: port, option: option)
        }
    }

    /// Whether a process accepts connections at the socket.
    private static func isServed(_ path: String) -> Bool {
        guard let address = try? SocketAddress(unixDomainSocketPath: path) else { return false }
        let descriptor = socket(AF_UNIX, ferry_SOCK_STREAM, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return address.withSockAddr { connect(descriptor, $0, socklen_t($1)) } == 0
    }

    /// The ports for the page in the order in which they are tried: the configured port, the nine after it, then any free port.
    fileprivate var ports: [Int] {
        let port = settings.current.port
        return mustHavePort || port == 0 ? [port] : Array(port...min(port + 9, 65_535)) + [0]
    }

    /// Returns one service for each socket. The caller holds the state lock, so an existing socket is stale.
    func listeners() throws -> [any Service] {
        let socket = place.socket
        guard socket.utf8.count < 104 else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.longSocket, socket), suggestion: ErrorPhrase(.shorterSocket),
                recovery: .needsUser)
        }
        try PrivateFile.makeDirectory(Paths.parent(of: socket))
        if sockets.path == nil { try removeStaleSocket(socket) }
        SignInFile.sweep(place.signIn)
        var services: [any Service] = [unixListener(socket)]
        let settings = settings.current
        if !sockets.loopback.isEmpty {
            services += sockets.loopback.map(handedOver)
        } else if settings.loopback {
            services.append(FirstListener(daemon: self))
            services.append(SecondListener(daemon: self))
        }
        let doors = doors.all
        addresses.expect(services.count + doors.count)
        services += doors.map { door in
            front.listeners(of: door) { [addresses] in addresses.bound(door: (door.name, $0)) }
        }
        if services.count > 1, !peers.tells {
            logger.warning("this system does not tell whose connections over loopback are: the token decides alone")
        }
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

    private func unixListener(_ path: String) -> any Service {
        let user = user
        let handlers: @Sendable () -> [any RemovableChannelHandler] = { [limits] in
            [PeerCheck(user: user), RequestLineCheck.Installer(RequestLimiter(limits, table: nil))]
        }
        if let descriptor = sockets.path?.descriptor {
            return handedOver(descriptor, handlers: handlers) { [addresses, logger] _ in
                logger.info("listening on a socket that was handed over", metadata: ["socket": "\(path)"])
                addresses.bound(socket: path)
            }
        }
        return http.service(.unixDomainSocket(path: path), respond: responder.respond, handlers: handlers) {
            [addresses, logger] _ in
            chmod(path, 0o600)
            logger.info("listening", metadata: ["socket": "\(path)"])
            addresses.bound(socket: path)
        }
    }

    /// The listener on a loopback socket that was inherited from the service manager.
    private func handedOver(_ socket: InheritedSockets.Loopback) -> any Service {
        handedOver(socket.descriptor, handlers: front.handlers()) { [addresses, responder, logger] _ in
            responder.listens(on: socket.port)
            logger.info("listening on a socket that was handed over", metadata: ["address": "\(socket.address)"])
            addresses.bound(port: socket.port, host: socket.address)
        }
    }

    private func handedOver(
        _ descriptor: Int32, handlers: @escaping @Sendable () -> [any RemovableChannelHandler],
        running: @escaping @Sendable (any Channel) async -> Void
    ) -> any Service {
        InheritedListener(
            channel: http.channel(responder.respond, handlers), descriptor: descriptor,
            mostConnections: mostConnections, logger: quiet, running: running)
    }

    fileprivate func loopback(_ port: Int) -> any Service {
        http.service(.hostname("127.0.0.1", port: port), respond: responder.respond, handlers: front.handlers()) {
            [addresses, responder, logger] channel in
            let port = channel.localAddress?.port ?? port
            responder.listens(on: port)
            logger.info("listening", metadata: ["address": "127.0.0.1:\(port)"])
            addresses.bound(port: port, host: "127.0.0.1:\(port)")
        }
    }

    fileprivate func secondLoopback(_ port: Int) -> any Service {
        http.service(.hostname("::1", port: port), respond: responder.respond, handlers: front.handlers()) {
            [addresses, logger] _ in
            logger.info("listening", metadata: ["address": "[::1]:\(port)"])
            addresses.bound(host: "[::1]:\(port)")
        }
    }

    private var front: Front {
        Front(
            http: http, limits: limits, peers: peers, user: user, table: api.connections, strangers: strangers,
            logger: logger)
    }

    private var http: HTTPListener { HTTPListener(mostConnections: mostConnections, logger: quiet) }
}

/// The listener on 127.0.0.1. The daemon ends if no port can be bound.
private struct FirstListener: Service {
    let daemon: Daemon

    func run() async throws {
        var ports = daemon.ports[...]
        while let port = ports.popFirst() {
            do { return try await daemon.loopback(port).run() } catch {
                let error = LoopbackListeners.failure(error, port: port, option: "--port")
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

/// The listener on ::1, with the port of 127.0.0.1. Failure is not fatal, because the machine may lack IPv6.
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
