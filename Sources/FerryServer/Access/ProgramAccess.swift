package import FerryAPI
import FerryCore
import HTTPTypes

/// The conditions that a request to the gateway, or for the metrics, must meet before it is read.
///
/// Their clients are programs, which send no `Origin`: every page in a browser is refused, and so is a host name that is
/// not of loopback, which a page could have led here (DNS rebinding). Pure.
package struct ProgramAccess: Sendable, Hashable {
    /// The TCP port that it came to.
    package var port: Int

    package init(port: Int) { self.port = port }

    /// Returns the problem that a request is refused with; `nil` if it is allowed.
    package func refusal(_ request: AccessPolicy.RequestOrigin) -> Problem? {
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
