import FerryAPI
import FerryCore
import FerryMetrics
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Answers `GET /metrics` on the port of the metrics, for monitoring programs of any user of this machine.
///
/// Each request needs the token, which gives access to nothing else. `Host` and the absence of `Origin` are checked first, so that
/// no page in a browser can try tokens.
final class MetricsResponder: Door {
    static let path = "/metrics"
    /// The name under which connections with the token are recorded.
    private static let tokenName = "metrics"

    let name = "metrics"
    let port: Int
    let option: String
    /// Admits every user of the machine. This port has its own table, because other users must not be able to evict the connections
    /// of the page.
    let peers: PeerRule
    private let connections: ConnectionTable
    let token: SharedToken
    private let metrics: any MetricsSource
    private let access: Mutex<ProgramAccess>
    /// The time before a response to a wrong token, so that few can be tried.
    private let delay: Duration
    private let logger: Logger

    init(
        _ metrics: any MetricsSource, token: SharedToken, port: Int, option: String, limits: RequestLimits,
        logger: Logger
    ) {
        self.metrics = metrics
        self.token = token
        self.port = port
        self.option = option
        self.logger = logger
        delay = limits.wrongToken
        connections = ConnectionTable(mostUnknown: limits.mostUnknown)
        peers = PeerRule(users: .everyone, table: connections)
        access = Mutex(ProgramAccess(port: port))
    }

    func listens(on port: Int) { access.withLock { $0.port = port } }

    func respond(to request: Request, on channel: any Channel) async -> Response {
        do { return try await answer(request, channel) } catch {
            return Answer.problem(Front.problem(error, at: Self.path[...], logger), at: nil)
        }
    }

    func announcement(port: Int, showsSecret: Bool) -> String { "metrics http://127.0.0.1:\(port)\(Self.path)" }

    private func answer(_ request: Request, _ channel: any Channel) async throws -> Response {
        if let refusal = access.withLock({ $0 }).refusal(AccessPolicy.RequestOrigin(request)) { throw refusal }
        guard let given = TokenStore.token(in: request.headers[values: .authorization]), token.matches(String(given))
        else {
            try? await Task.sleep(for: delay)
            throw Problem(.unauthorized, "Send Authorization: Bearer and the token of the file metrics-token.")
        }
        connections.identify(channel, token: Self.tokenName)
        let path = request.uri.string.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard Substring(path).hasSameBytes(as: Self.path) else { throw Problem(.noSuchPath) }
        guard request.method == .get else { throw Problem(.methodNotAllowed, "The metrics can only be read.") }
        return try await Self.answer(metrics)
    }

    /// Returns the metrics as a response.
    static func answer(_ metrics: any MetricsSource) async throws(DownloadError) -> Response {
        Answer.body(Data(Exposition.text(try await metrics.families()).utf8), type: Exposition.mediaType)
    }
}

extension DoorSetting {
    /// The loopback port of the metrics; 0 for any free port, `nil` if they are served only over the Unix socket.
    package static let metricsPort = port("metricsPort")
}

extension DoorKind {
    /// The metrics over TCP, if the settings have a port for the metrics.
    static let metrics = DoorKind(settings: [.metricsPort]) { host throws(DownloadError) in
        guard let port = host.settings.whole(.metricsPort) else { return nil }
        return MetricsResponder(
            host.api.metrics, token: try SharedToken.read(nil, else: host.path(of: "metrics-token")), port: port,
            option: "--metrics-port", limits: host.options.limits, logger: host.logger)
    }
}
