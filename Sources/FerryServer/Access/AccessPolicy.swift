package import FerryAPI
import FerryCore
public import HTTPTypes

/// The conditions that a request must meet before it is processed.
///
/// Any web page can send requests to loopback, and DNS rebinding makes them look same-site. A request over TCP therefore needs this
/// daemon's `Host` and no foreign `Origin`. A request to the API also needs a token, except for open routes, and JSON as its
/// content type, unless it only reads. The policy has no side effects.
public struct AccessPolicy: Sendable, Hashable {
    /// The TCP port of the daemon.
    public var port: Int

    public init(port: Int) { self.port = port }

    /// The fields of a request that the policy examines.
    public struct RequestOrigin: Sendable, Hashable {
        public var method: HTTPRequest.Method
        /// The request target, as sent.
        public var target: String
        /// The values of all `Host` fields.
        public var hosts: [String]
        /// The values of all `Origin` fields.
        public var origins: [String] = []
        /// The values of all `Sec-Fetch-Site` fields.
        public var sites: [String] = []
        /// Whether a browser navigates to the page: `Sec-Fetch-Mode: navigate` and `Sec-Fetch-Dest: document`.
        public var isNavigation = false
        /// The values of all `Content-Type` fields.
        public var contentTypes: [String] = []
        /// Whether the request came over the Unix socket, whose clients have the rights of its user.
        public var isLocal = false
        /// The session that the request's header names; `nil` without that header.
        public var session: String?
        /// Whether the request carries a valid token, or the code of a link to the requested content.
        public var hasToken = false

        public init(method: HTTPRequest.Method, target: String, hosts: [String]) {
            self.method = method
            self.target = target
            self.hosts = hosts
        }
    }

    /// The resource that the path of a request identifies.
    package enum Resource: Sendable, Hashable {
        /// The web page and its assets, which are public and contain no data.
        case page
        /// The daemon's metrics, over the Unix socket; over TCP they have their own port.
        case metrics
        case api(Route.Match)
    }

    /// Returns the problem with which a request is refused; `nil` if the request is allowed.
    package func refusal(_ origin: RequestOrigin, to resource: Resource) -> Problem? {
        if !origin.isLocal, let problem = outside(origin, to: resource) { return problem }
        // An absolute-form target may name a host other than `Host`; asterisk-form and authority-form targets identify no resource.
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
        // The responder answers with the allowed methods.
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
        // Links from other sites may open the front page, which is public. The sign-in file contains such a link.
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

    /// The accepted values of `Host`: the loopback names and addresses with the port.
    public var hosts: [String] {
        names.map { "\($0):\(port)" } + (port == 80 ? names : [])
    }

    /// The accepted values of `Origin`.
    public var origins: [String] { hosts.map { "http://\($0)" } }

    /// Whether a text can be an origin (RFC 6454 §6.2): a scheme, a host and optionally a port, or `null`, the origin of local
    /// files.
    public static func isOrigin(_ text: String) -> Bool {
        if text == "null" { return true }
        let parts = text.split(at: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let rest = parts[1].dropping(prefix: "//"), !parts[0].isEmpty, !rest.isEmpty else {
            return false
        }
        let isPlain = { (bytes: Substring.UTF8View, others: String) in
            bytes.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || others.utf8.contains(byte)
            }
        }
        return isPlain(parts[0].utf8, "+-.") && isPlain(rest.utf8, "-._~:[]")
    }

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
