public import FerryAPI
import FerryCore
import HTTPTypes

/// The conditions that a request to a port for programs, such as that of the metrics, must meet before it is processed.
///
/// The clients are programs, which send no `Origin`. Every page in a browser is therefore refused, and so is every host name
/// outside loopback, which could point to this machine because of DNS rebinding. Pure.
public struct ProgramAccess: Sendable, Hashable {
    /// The TCP port at which the request arrived.
    public var port: Int

    public init(port: Int) { self.port = port }

    /// Returns the problem with which a request is refused; `nil` if the request is allowed.
    public func refusal(_ request: AccessPolicy.RequestOrigin) -> Problem? {
        let hosts = AccessPolicy(port: port).hosts
        guard request.hosts.count == 1, hosts.contains(request.hosts[0].lowercased()) else {
            return Problem(.misdirected, "The Host must be \(hosts[0]).")
        }
        guard request.origins.isEmpty, request.sites.allSatisfy({ $0 == "none" }) else {
            return Problem(.forbidden, "This port is for programs, not for web pages.")
        }
        return nil
    }
}
