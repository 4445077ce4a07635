public import FerryCore
public import FerryMetrics
public import HummingbirdCore
public import NIOCore

/// An interface of the daemon in another protocol, on a port of its own on 127.0.0.1 and ::1.
///
/// The daemon's one HTTP front (``Front``) accepts the connections of a door, and checks the users to whom they belong; it bounds
/// connections, heads, bodies and times, and adds the fields that every response has. A door adds the rule of its access, and
/// answers:
///
/// ```
/// connection ─► PeerRule ─► RequestLimiter ─► RequestLineCheck ─► upgrade() ─► respond(to:on:) ─► fields, Date
/// ```
///
/// The program has the list of its doors (``DoorKind``). The daemon has their settings, and none of their code.
public protocol Door: Sendable {
    /// The name under which addresses of the daemon have the port: `aria2`.
    var name: String { get }
    /// The port that the settings give; 0 for any that is free.
    var port: Int { get }
    /// The option that gives the port, for errors: `--aria2-rpc`.
    var option: String { get }
    /// The connections that are accepted; by default those of the daemon's user.
    var peers: PeerRule { get }

    /// Called once the port is bound, before the first request.
    func listens(on port: Int)

    /// Answers a request. Called for requests on all connections at the same time.
    func respond(to request: Request, on channel: any Channel) async -> Response

    /// Returns what takes over a connection from HTTP, placed directly after the checks of requests; `nil`, the default, if
    /// nothing does. It leaves HTTP by ``Front/leaveHTTP(in:)``.
    func upgrade() -> (any ChannelInboundHandler & RemovableChannelHandler)?

    /// Returns further handlers of a connection, placed after the check of its peer; by default none.
    func handlers() -> [any RemovableChannelHandler]

    /// Called with each event of the downloads of the kind's session, or without one with each new event of the session
    /// `default`; by default nothing.
    func heard(_ event: DownloadEvent)

    /// Works in the background until it is cancelled, at the end of the daemon; by default there is nothing to do.
    func run() async

    /// Returns the families of the kind's metrics; by default none.
    func families() async -> [MetricFamily]

    /// Returns the line that the daemon prints once all doors listen.
    ///
    /// - Parameter showsSecret: Whether a token that was made by this start is shown, once: on a terminal.
    func announcement(port: Int, showsSecret: Bool) -> String
}

extension Door {
    public var peers: PeerRule { .own }
    public func upgrade() -> (any ChannelInboundHandler & RemovableChannelHandler)? { nil }
    public func handlers() -> [any RemovableChannelHandler] { [] }
    public func heard(_ event: DownloadEvent) {}
    public func run() async {}
    public func families() async -> [MetricFamily] { [] }
}

/// A door that a program has: makes that of a daemon, if the daemon's settings ask for it.
public struct DoorKind: Sendable {
    let session: String?
    let metrics: [Metric]
    let make: @Sendable (DoorHost) throws(DownloadError) -> (any Door)?

    /// - Parameters:
    ///   - session: The session whose downloads are the door's own: they have slots of their own, and no app follows their
    ///     events. `nil` if the door is one to the session `default`.
    ///   - metrics: Those of the door. A daemon without the door has them without values.
    ///   - make: Returns `nil` if the settings ask for no such door. Throws `invalidRequest` for settings that cannot be used,
    ///     `disk` if a token cannot be written; the daemon does not start then.
    public init(
        session: String? = nil, metrics: [Metric] = [],
        _ make: @escaping @Sendable (DoorHost) throws(DownloadError) -> (any Door)?
    ) {
        (self.session, self.metrics, self.make) = (session, metrics, make)
    }
}

/// The connections over loopback that a listener accepts.
public struct PeerRule: Sendable {
    /// The users whose connections are served; `nil` for the front's own user.
    let users: AdmittedUsers?
    /// Whether the system is asked for the user of a connection even if all users are admitted.
    let mustKnow: Bool
    /// The connections and who has shown a token; `nil` for those that the front's listeners share.
    let table: ConnectionTable?
    /// Whether a connection of another user is told why it is refused.
    let refusal: LoopbackPeerCheck.Refusal?
    /// The path before targets in absolute form of `http:`, as to a proxy; `nil` if there is no such resource.
    let proxyPath: String?

    init(
        users: AdmittedUsers? = nil, mustKnow: Bool = false, table: ConnectionTable? = nil,
        refusal: LoopbackPeerCheck.Refusal? = nil, proxyPath: String? = nil
    ) {
        (self.users, self.mustKnow, self.table) = (users, mustKnow, table)
        (self.refusal, self.proxyPath) = (refusal, proxyPath)
    }

    /// Those of the front's own user; without a token they count with those of its other listeners.
    public static let own = PeerRule()
}
