package import FerryCore
package import FerryMetrics
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// Serves the metrics of a program that is no daemon, on a port of loopback with a token, as a daemon does.
package struct MetricsServer: Sendable {
    private let responder: MetricsResponder
    private let port: Int
    /// The option that gives the port.
    private let option: String
    private let limits = RequestLimits()
    private let logger: Logger

    /// The maximum number of open connections.
    private static let mostConnections = 64

    /// Reads the token of the metrics, or makes one.
    ///
    /// - Parameters:
    ///   - port: 0 for any that is free.
    ///   - tokenFile: Where the token is kept (0600).
    ///   - option: The option that gives the port, for errors.
    ///
    /// Throws `disk` if a token cannot be written. Blocks: called on a file thread.
    package init(
        _ metrics: any MetricsSource, port: Int, tokenFile: String, option: String
    ) throws(DownloadError) {
        var logger = Logger(label: "ferry") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        responder = MetricsResponder(
            metrics, token: try SharedToken.read(nil, else: tokenFile), port: port,
            connections: ConnectionTable(mostUnknown: limits.mostUnknown), delay: limits.wrongToken, logger: logger)
        (self.port, self.option, self.logger) = (port, option, logger)
    }

    /// Serves while `body` runs, which begins once the port is bound, with the address of the metrics.
    ///
    /// Throws `conflict` if the port is taken, `invalidRequest` if it may not be used, and what `body` throws.
    package func serving<Value: Sendable>(
        _ body: (_ address: String) async throws -> Value
    ) async throws -> Value {
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let listeners = LoopbackListeners(port: port, option: option, logger: logger, listener: listener) { port in
            found.yield(port)
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: [listeners], logger: logger))
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { found.finish() }
                try await group.run()
            }
            guard let port = await ports.first(where: { _ in true }) else {
                try await tasks.waitForAll()
                throw CancellationError()
            }
            let result: Result<Value, any Error>
            do {
                result = .success(try await body("http://127.0.0.1:\(port)\(MetricsResponder.path)"))
            } catch { result = .failure(error) }
            await group.triggerGracefulShutdown()
            // The end of `body` is the program's, also if the listeners have failed meanwhile.
            _ = await tasks.nextResult()
            return try result.get()
        }
    }

    private func listener(
        _ host: String, _ port: Int, _ running: @escaping LoopbackListeners.Running
    ) -> any Service {
        responder.listener(
            host, port, HTTPListener(mostConnections: Self.mostConnections, logger: logger), limits, LoopbackPeers(),
            running: running)
    }
}

extension MetricsResponder {
    /// A listener on one address of loopback: connections of every user of the machine are accepted, none of others.
    func listener(
        _ host: String, _ port: Int, _ http: HTTPListener, _ limits: RequestLimits, _ peers: LoopbackPeers,
        running: @escaping LoopbackListeners.Running
    ) -> any Service {
        let table = connections
        return http.service(.hostname(host, port: port), respond: respond) {
            [
                RequestLineCheck.Installer(RequestLimiter(limits, table: table)),
                LoopbackPeerCheck(users: .everyone, peers: peers),
            ]
        } running: { [self] channel in
            let port = channel.localAddress?.port ?? port
            listens(on: port)
            running(port)
        }
    }
}
