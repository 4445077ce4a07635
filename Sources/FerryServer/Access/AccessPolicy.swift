package import FerryAPI
import FerryCore
package import HTTPTypes

/// The conditions that a request must meet before it is processed.
///
/// Any web page can send requests to loopback, and DNS rebinding makes them look same-site. A request over TCP
/// therefore needs a `Host` of this daemon, no foreign `Origin`, a token, and JSON as its content type. Pure.
package struct AccessPolicy: Sendable, Hashable {
    /// The TCP port of the daemon.
    package var port: Int

    package init(port: Int) { self.port = port }

    /// The fields of a request that the policy examines.
    package struct RequestOrigin: Sendable, Hashable {
        package var method: HTTPRequest.Method
        /// The request target, as sent.
        package var target: String
        /// Every `Host` that was sent.
        package var hosts: [String]
        /// Every `Origin` that was sent.
        package var origins: [String] = []
        /// Every `Sec-Fetch-Site` that was sent.
        package var sites: [String] = []
        /// Whether a browser navigates to the page: `Sec-Fetch-Mode: navigate` and `Sec-Fetch-Dest: document`.
        package var isNavigation = false
        /// Every `Content-Type` that was sent.
        package var contentTypes: [String] = []
        /// Whether the request came over the Unix socket, whose clients have the rights of its user.
        package var isLocal = false
        /// The session that the request's header names; `nil` without that header.
        package var session: String?
        /// Whether the request carries a valid token, or the code of a link to the content that it requests.
        package var hasToken = false

        package init(method: HTTPRequest.Method, target: String, hosts: [String]) {
            self.method = method
            self.target = target
            self.hosts = hosts
        }
    }

    /// The target of a request's path.
    package enum Resource: Sendable, Hashable {
        /// The web page and its assets, which are public and contain no data.
        case page
        /// The daemon's metrics, over the Unix socket; over TCP they have a port of their own.
        case metrics
        case api(Route.Match)
    }

    /// Returns the problem that a request is refused with; `nil` if it is allowed.
    package func refusal(_ origin: RequestOrigin, to resource: Resource) -> Problem? {
        if !origin.isLocal, let problem = outside(origin, to: resource) { return problem }
        // An absolute-form target may name another host than `Host`; asterisk and authority forms have no resource.
        guard origin.target.utf8.first == UInt8(ascii: "/") else {
            return Problem(.badRequest, "The target of the request must be a path.")
        }
        switch resource {
        case .page:
            guard origin.method == .get || origin.method == .head else {
                return Problem(.methodNotAllowed, "The page can only be read.")
            }
        case .metrics:
            guard origin.isLocal else {
                return Problem(.forbidden, "Only available over the Unix socket, and on the port of --metrics-port.")
            }
            guard origin.method == .get else {
                return Problem(.methodNotAllowed, "The metrics can only be read.")
            }
        case .api(.found(let route, _)):
            if route.isLocalOnly, !origin.isLocal {
                return Problem(.forbidden, "Only available over the Unix socket.")
            }
            if let session = origin.session, session != FerryAPI.defaultSession, !origin.isLocal {
                return Problem(
                    .forbidden,
                    "Only the session default is available over TCP. Use the Unix socket for others.")
            }
        case .api(.none): break
        // The responder answers these with the allowed methods.
        case .api(.wrongMethod): return nil
        }
        if origin.method != .get, origin.method != .head, !isJSON(origin.contentTypes) {
            return Problem(.unsupportedMediaType, "Send Content-Type: application/json.")
        }
        return nil
    }

    private func outside(_ origin: RequestOrigin, to resource: Resource) -> Problem? {
        guard origin.hosts.count == 1, hosts.contains(origin.hosts[0].lowercased()) else {
            return Problem(.misdirected, "The Host must be \(hosts[0]).")
        }
        for origin in origin.origins where !origins.contains(origin.lowercased()) {
            return Problem(.forbidden, "Cross-origin requests are refused.")
        }
        // Links from other sites may open the front page, which is public. The sign-in file is such a link.
        let isLink =
            resource == .page && origin.method == .get && origin.isNavigation && Self.isFrontPage(origin.target)
        for site in origin.sites where site != "same-origin" && site != "none" && !isLink {
            return Problem(.forbidden, "Cross-site requests are refused.")
        }
        switch resource {
        case .page: return nil
        case .api(.found(let route, _)) where route.isOpen: return nil
        case .metrics, .api:
            return origin.hasToken ? nil : Problem(.unauthorized, "Send Authorization: Bearer and the token.")
        }
    }

    private static func isFrontPage(_ target: String) -> Bool { target == "/" }

    private var names: [String] { ["127.0.0.1", "localhost", "[::1]"] }

    /// The accepted values of `Host`: the names of loopback, with the port.
    package var hosts: [String] {
        names.map { "\($0):\(port)" } + (port == 80 ? names : [])
    }

    /// The accepted values of `Origin`.
    package var origins: [String] { hosts.map { "http://\($0)" } }

    private func isJSON(_ types: [String]) -> Bool {
        guard types.count == 1 else { return false }
        let parts = types[0].split(at: ";", maxSplits: 1, omittingEmptySubsequences: false)
        return trimmed(parts[0]).lowercased() == "application/json"
    }

    private func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
