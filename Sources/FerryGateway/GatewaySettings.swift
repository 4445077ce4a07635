import FerryCore
public import FerryServer

/// The settings of the gateway.
extension DoorSetting {
    /// Whether the gateway is served, on a loopback port of its own.
    public static let gateway = flag("gateway")
    /// The loopback port of the gateway; 0 for any free port.
    public static let gatewayPort = port("gatewayPort", default: standardGatewayPort)
    /// The upstreams of the gateway, each `KIND=URL`.
    public static let gatewayUpstreams = texts("gatewayUpstreams") { texts in
        do throws(TextError) { _ = try GatewayUpstream.all(texts) } catch {
            return "gatewayUpstreams: \(error.message)."
        }
        return nil
    }
    /// The other users of this machine whose programs may use the gateway, by name or number; `all` for every user.
    public static let gatewayUsers = texts("gatewayUsers")
    /// The maximum size of the cache, in bytes.
    public static let gatewaySize = size("gatewaySize", default: 20_000_000_000)
    /// The time for which a file stays in the cache after its last use, in seconds.
    public static let gatewayAge = seconds("gatewayAge", default: 30 * 86_400)
    /// Whether each request to the gateway is logged.
    public static let gatewayLog = flag("gatewayLog")
    /// The directory of the cache; `nil` for one below the state directory.
    public static let gatewayDirectory = directory("gatewayDirectory")

    static let ofGateway = [
        gateway, gatewayPort, gatewayUpstreams, gatewayUsers, gatewaySize, gatewayAge, gatewayLog, gatewayDirectory,
    ]

    /// The default port of the gateway.
    static let standardGatewayPort = 3387
}
