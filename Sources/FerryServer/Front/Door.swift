public import FerryAPI
public import FerryCore
public import FerryMetrics
public import HummingbirdCore
public import NIOCore

/// An interface of the daemon in another protocol, on its own port on 127.0.0.1 and ::1.
///
/// The daemon's HTTP front (``Front``) accepts the connections of a door and checks the users to whom they belong. It limits
/// connections, heads, bodies and times, and adds the fields that every response has. A door adds its access rule, and responds
/// to the requests:
///
/// ```
/// connection ─► PeerRule ─► RequestLimiter ─► RequestLineCheck ─► upgrade() ─► respond(to:on:) ─► fields, Date
/// ```
///
/// The program lists its doors (``DoorKind``). The daemon reads their settings (``DoorSetting``), but contains none of their
/// code.
public protocol Door: Sendable {
    /// The name of the door's port in the daemon's addresses, such as `aria2`.
    var name: String { get }
    /// The port from the settings; 0 for any free port.
    var port: Int { get }
    /// The option that sets the port, for errors, such as `--aria2-rpc`.
    var option: String { get }
    /// The rule for accepted connections; by default, only the daemon's user may connect.
    var peers: PeerRule { get }

    /// Called once the port is bound, before the first request.
    func listens(on port: Int)

    /// Responds to a request. Called concurrently for requests on different connections.
    func respond(to request: Request, on channel: any Channel) async -> Response

    /// Responds to a request to one of the kind's routes of the daemon's API (``DoorRoutes``) with a value, which is sent as JSON. By
    /// default throws the problem of an unknown path.
    func answer(_ call: DoorCall) async throws -> any Encodable & Sendable

    /// Returns a handler that can take over a connection from HTTP, placed directly after the checks of requests; by default `nil`.
    /// The handler leaves HTTP with ``Front/leaveHTTP(in:)``.
    func upgrade() -> (any ChannelInboundHandler & RemovableChannelHandler)?

    /// Returns further handlers for a connection, placed after the check of its peer; by default none.
    func handlers() -> [any RemovableChannelHandler]

    /// Called with each event of the downloads in the kind's session; if the kind has no session, with each new event of the
    /// session `default`. By default does nothing.
    func heard(_ event: DownloadEvent)

    /// Runs background work until it is cancelled when the daemon ends. By default does nothing.
    func run() async

    /// Returns the metric families of the kind; by default none.
    func families() async -> [MetricFamily]

    /// Returns the line that the daemon prints once all doors listen.
    ///
    /// - Parameter showsSecret: Whether a token that this start generated is shown, once; true on a terminal.
    func announcement(port: Int, showsSecret: Bool) -> String
}

extension Door {
    public var peers: PeerRule { .own }
    public func answer(_ call: DoorCall) async throws -> any Encodable & Sendable { throw Problem(.noSuchPath) }
    public func upgrade() -> (any ChannelInboundHandler & RemovableChannelHandler)? { nil }
    public func handlers() -> [any RemovableChannelHandler] { [] }
    public func heard(_ event: DownloadEvent) {}
    public func run() async {}
    public func families() async -> [MetricFamily] { [] }
}

/// A kind of door that a program has. Makes the door of a daemon, if the daemon's settings enable it.
public struct DoorKind: Sendable {
    /// The settings of the door; none of them is a setting of the daemon or of another door.
    package let settings: [DoorSetting]
    let session: String?
    let metrics: [Metric]
    let routes: DoorRoutes?
    let make: @Sendable (DoorHost) throws(DownloadError) -> (any Door)?

    /// - Parameters:
    ///   - settings: The door's settings, including those that enable it; ``DoorHost/settings`` contains their values.
    ///   - session: The session of the door's own downloads, which have their own slots and no app that handles their events. `nil`
    ///     if the door serves the session `default`.
    ///   - metrics: The metrics of the door. A daemon without the door reports them without values.
    ///   - routes: The routes of the daemon's API to which the door responds.
    ///   - make: Returns `nil` if the settings do not enable the door. Throws `invalidRequest` for unusable settings, or `disk` if
    ///     a token cannot be written; then the daemon does not start.
    public init(
        settings: [DoorSetting] = [], session: String? = nil, metrics: [Metric] = [],
        routes: DoorRoutes? = nil,
        _ make: @escaping @Sendable (DoorHost) throws(DownloadError) -> (any Door)?
    ) {
        (self.settings, self.session, self.metrics) = (settings, session, metrics)
        (self.routes, self.make) = (routes, make)
    }
}

/// The connections over loopback that a listener accepts.
public struct PeerRule: Sendable {
    /// The users whose connections are served; `nil` for the front's own user.
    let users: AdmittedUsers?
    /// Whether the user of a connection is looked up even if all users are admitted.
    let mustKnow: Bool
    /// The table of connections and their tokens; `nil` for the table that the front's listeners share.
    let table: ConnectionTable?
    /// Returns the reason that another user's connection receives; `nil` if it receives none.
    let refusal: LoopbackPeerCheck.Refusal?
    /// The path to prepend to absolute-form `http:` targets, which clients send to a proxy; `nil` if the listener is not a
    /// proxy.
    let proxyPath: String?

    init(
        users: AdmittedUsers? = nil, mustKnow: Bool = false, table: ConnectionTable? = nil,
        refusal: LoopbackPeerCheck.Refusal? = nil, proxyPath: String? = nil
    ) {
        (self.users, self.mustKnow, self.table) = (users, mustKnow, table)
        (self.refusal, self.proxyPath) = (refusal, proxyPath)
    }

    /// Admits the front's own user. Connections without a token count together with those of the front's other listeners.
    public static let own = PeerRule()

    /// Admits the users of a setting. Their connections are counted separately, so that they cannot evict those of the page.
    ///
    /// - Parameters:
    ///   - host: The daemon.
    ///   - proxyPath: The path to prepend to absolute-form `http:` targets, which clients send to a proxy; `nil` if the door is not
    ///     a proxy.
    ///   - refusal: Returns the problem that the connection of another user receives.
    public init(
        admitting users: AdmittedUsers, of host: DoorHost, proxyPath: String? = nil,
        refusal: @escaping @Sendable (_ user: UInt32) -> Problem
    ) {
        self.init(
            users: users, mustKnow: true, table: ConnectionTable(mostUnknown: host.options.limits.mostUnknown),
            refusal: { if case .user(let number) = $0 { refusal(number) } else { nil } }, proxyPath: proxyPath)
    }
}
