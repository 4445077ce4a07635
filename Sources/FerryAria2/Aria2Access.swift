import FerryCore
package import FerryServer

/// The conditions that a request to aria2's interface must meet before it is read.
///
/// A page in a browser knows the token only if the user has entered it there, but any page can send requests to loopback. So
/// the `Host` must be one of this daemon's names, and an `Origin`, if any, must be allowed by the settings. Pure.
package struct Aria2Access: Sendable, Hashable {
    /// The TCP port of the interface.
    package var port: Int
    package var allowedOrigins: [String]

    package init(port: Int, allowedOrigins: [String]) {
        self.port = port
        self.allowedOrigins = allowedOrigins
    }

    package enum Verdict: Sendable, Hashable {
        /// The request is allowed. `origin` is the page's origin; `nil` for a client that is not a page.
        case allowed(origin: String?)
        case refused(status: Int)
    }

    package func verdict(_ request: AccessPolicy.RequestOrigin) -> Verdict {
        let own = AccessPolicy(port: port)
        guard request.hosts.count == 1, own.hosts.contains(request.hosts[0].lowercased()) else {
            return .refused(status: 421)
        }
        guard request.origins.count <= 1 else { return .refused(status: 403) }
        guard let origin = request.origins.first else {
            // A page's request without an origin, for example for an image, is refused: the page could not read the response.
            let isOfPage = request.sites.contains { $0 != "same-origin" && $0 != "none" }
            return isOfPage ? .refused(status: 403) : .allowed(origin: nil)
        }
        // Some clients that are not pages send this port as their origin. No pages are served there.
        let isAllowed = (allowedOrigins + own.origins).contains(origin.lowercased())
        return isAllowed ? .allowed(origin: origin) : .refused(status: 403)
    }
}
