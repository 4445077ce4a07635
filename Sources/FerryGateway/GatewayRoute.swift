import FerryCore

/// The meaning of a path of the gateway. Pure.
package enum GatewayRoute: Sendable, Hashable {
    /// A page of the index of Python packages, with the path below the index's URL.
    case index(Substring)
    /// A file to which such a page links.
    case link(Substring)
    /// A path below the hub's URL.
    case hub(Substring)
    /// A path of the registry, from `v2/` on.
    case registry(Substring)
    /// A file of an archive: host and path of its `http:` URL.
    case archive(Substring)

    /// The path prefix of links to files from an index.
    package static let links = "/gw/pypi/file/"
    /// The path prefix of URLs of archives.
    package static let archives = "/gw/apt/"

    /// Returns `nil` if the request target matches no route.
    package init?(_ target: Substring) {
        if let rest = target.dropping(prefix: "/gw/pypi/simple/") {
            self = .index(rest)
        } else if let rest = target.dropping(prefix: Self.links) {
            self = .link(rest)
        } else if let rest = target.dropping(prefix: "/gw/hf/") {
            self = .hub(rest)
        } else if let rest = target.dropping(prefix: Self.archives) {
            self = .archive(rest)
        } else if target.hasSameBytes(as: "/v2") || target.hasSameBytes(as: "/v2/") {
            self = .registry("v2/")
        } else if let rest = target.dropping(prefix: "/v2/") {
            // The name of a mirror may contain a path, which clients prepend to the name of the repository.
            self = .registry("v2/" + (rest.dropping(prefix: "gw/oci/") ?? rest))
        } else {
            return nil
        }
    }

    /// Whether the route is for this upstream. For archives, the URL must be below the upstream's.
    package func isFor(_ upstream: GatewayUpstream) -> Bool {
        guard upstream.kind == kind else { return false }
        guard case .archive(let rest) = self else { return true }
        return upstream.url(archived: rest) != nil
    }

    package var kind: GatewayKind {
        switch self {
        case .index, .link: .pypi
        case .hub: .hf
        case .registry: .oci
        case .archive: .apt
        }
    }
}
