public import FerryCore
public import FerryMetrics
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// Serves the metrics of a program that is not a daemon, on a loopback port with a token, as a daemon does.
public struct MetricsServer: Sendable {
    private let responder: MetricsResponder
    private let limits = RequestLimits()
    private let logger: Logger

    /// The maximum number of open connections.
    private static let mostConnections = 64

    /// Reads the token of the metrics, or generates one.
    ///
    /// - Parameters:
    ///   - port: 0 for any free port.
    ///   - tokenFile: The file of the token (mode 0600).
    ///   - option: The option that sets the port, for errors.
    ///
    /// Throws `disk` if a token cannot be written. Blocks while it reads or writes the file.
    public init(
        _ metrics: any MetricsSource, port: Int, tokenFile: String, option: String
    ) throws(DownloadError) {
        var logger = Logger(label: "ferry") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        responder = MetricsResponder(
            metrics, token: try SharedToken.read(nil, else: tokenFile), port: port, option: option, limits: limits,
            logger: logger)
        self.logger = logger
    }

    /// Serves while `body` runs. `body` starts once the port is bound, with the address of the metrics.
    ///
    /// Throws `conflict` if the port is in use, `invalidRequest` if it may not be used, and the errors of `body`.
    public func serving<Value: Sendable>(
        _ body: (_ address: String) async throws -> Value
    ) async throws -> Value {
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let front = Front(
            http: HTTPListener(mostConnections: Self.mostConnections, logger: logger), limits: limits,
            peers: LoopbackPeers(), user: PeerCheck.ownUser, table: ConnectionTable(mostUnknown: limits.mostUnknown),
            strangers: ConnectionTable(mostUnknown: limits.mostStrangers), logger: logger)
        let listeners = front.listeners(of: responder) { found.yield($0) }
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
            // The result of `body` is the program's result, even if the listeners have failed meanwhile.
            _ = await tasks.nextResult()
            return try result.get()
        }
    }
}
