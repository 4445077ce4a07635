package import FerryAPI
import FerryCore
package import HTTPTypes

/// What a request over TCP must be like before anything of it is done.
///
/// Any page in a browser on this machine can send requests to loopback, and a name that points here makes them look as if
/// they were of the same site. So: a Host of ours, first of all; no other origin; a token; JSON. Pure.
package struct AccessPolicy: Sendable, Hashable {
    /// The port that is listened on.
    package var port: Int

    package init(port: Int) { self.port = port }

    /// What is looked at of a request.
    package struct RequestOrigin: Sendable, Hashable {
        package var method: HTTPRequest.Method
        /// The target of the request line, as sent.
        package var target: String
        /// Every Host that was sent.
        package var hosts: [String]
        /// Every Origin that was sent.
        package var origins: [String] = []
        /// Every Sec-Fetch-Site that was sent.
        package var sites: [String] = []
        /// A browser goes to a page: `Sec-Fetch-Mode: navigate` and `Sec-Fetch-Dest: document`.
        package var isNavigation = false
        /// Every Content-Type that was sent.
        package var contentTypes: [String] = []
        /// Came through the Unix socket: who may open that has its user's rights.
        package var isLocal = false
        /// The session that it is about, by its header; `nil` without one.
        package var session: String?
        /// Has a token that is right.
        package var hasToken = false

        package init(method: HTTPRequest.Method, target: String, hosts: [String]) {
            self.method = method
            self.target = target
            self.hosts = hosts
        }
    }

    /// What the path of a request leads to.
    package enum Resource: Sendable, Hashable {
        /// The page and its assets: public, and without data.
        case page
        case api(Route.Match)
    }

    /// Why a request is turned away; `nil` when it may come in.
    package func refusal(_ origin: RequestOrigin, to resource: Resource) -> Problem? {
        if !origin.isLocal, let problem = outside(origin, to: resource) { return problem }
        // Absolute forms name another host than Host may; asterisks and authorities lead nowhere.
        guard origin.target.utf8.first == UInt8(ascii: "/") else {
            return Problem(.badRequest, "The target of the request must be a path.")
        }
        switch resource {
        case .page:
            guard origin.method == .get || origin.method == .head else {
                return Problem(.methodNotAllowed, "The page can only be read.")
            }
        case .api(.found(let route, _)):
            if route.isLocalOnly, !origin.isLocal {
                return Problem(.forbidden, "This is done through the Unix socket only.")
            }
            if let session = origin.session, session != FerryAPI.defaultSession, !origin.isLocal {
                return Problem(
                    .forbidden, "Over TCP there is the session default alone. Use the Unix socket for others.")
            }
        case .api(.none): break
        // Answered with the methods that there are.
        case .api(.wrongMethod): return nil
        }
        if origin.method != .get, origin.method != .head, !isJSON(origin.contentTypes) {
            return Problem(.unsupportedMediaType, "Send Content-Type: application/json.")
        }
        return nil
    }

    private func outside(_ origin: RequestOrigin, to resource: Resource) -> Problem? {
        guard origin.hosts.count == 1, hosts.contains(origin.hosts[0].lowercased()) else {
            return Problem(.misdirected, "Ask for \(hosts[0]).")
        }
        for origin in origin.origins where !origins.contains(origin.lowercased()) {
            return Problem(.forbidden, "Requests of other origins are not answered.")
        }
        // Whoever follows a link to the page gets the page, which is public; so does the file that leads there with a code.
        let isLink =
            resource == .page && origin.method == .get && origin.isNavigation && Self.isFrontPage(origin.target)
        for site in origin.sites where site != "same-origin" && site != "none" && !isLink {
            return Problem(.forbidden, "Requests of other sites are not answered.")
        }
        switch resource {
        case .page: return nil
        case .api(.found(let route, _)) where route.isOpen: return nil
        case .api: return origin.hasToken ? nil : Problem(.unauthorized, "Send Authorization: Bearer and the token.")
        }
    }

    private static func isFrontPage(_ target: String) -> Bool { target == "/" }

    private var names: [String] { ["127.0.0.1", "localhost", "[::1]"] }

    /// What Host may be: loopback by its names, with the port.
    package var hosts: [String] {
        names.map { "\($0):\(port)" } + (port == 80 ? names : [])
    }

    /// What Origin may be.
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
