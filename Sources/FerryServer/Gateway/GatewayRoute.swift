import FerryCore

/// What a path of the gateway stands for. Pure.
package enum GatewayRoute: Sendable, Hashable {
    /// A page of the index of Python packages, below its URL.
    case index(Substring)
    /// A file that such a page names.
    case link(Substring)
    /// A path of the hub, below its URL.
    case hub(Substring)
    /// A path of the registry, from `v2/` on.
    case registry(Substring)
    /// A file of an archive: host and path of its `http:` URL.
    case archive(Substring)

    /// The path before the links to files that an index has named.
    package static let links = "/gw/pypi/file/"
    /// The path before the URLs of archives.
    package static let archives = "/gw/apt/"

    /// The route of a request target; `nil` if there is none.
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
            // The name of a mirror may have a path, which clients put before the name of the repository.
            self = .registry("v2/" + (rest.dropping(prefix: "gw/oci/") ?? rest))
        } else {
            return nil
        }
    }

    /// Whether an upstream answers this route; of archives, that with the URL.
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
