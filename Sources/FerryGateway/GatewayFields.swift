package import FerryCore
package import HTTPTypes

/// The header fields that pass through the gateway. Pure.
package enum GatewayFields {
    private static func names(_ names: String...) -> [HTTPField.Name] { names.compactMap { HTTPField.Name($0) } }

    private static let asked = names(
        "Accept", "Accept-Language", "User-Agent", "Authorization", "Cookie", "If-None-Match", "If-Modified-Since")

    private static let answered = names(
        "Content-Type", "ETag", "Last-Modified", "Cache-Control", "Vary", "WWW-Authenticate", "Retry-After", "Link",
        "Docker-Content-Digest", "Docker-Distribution-Api-Version", "OCI-Subject", "OCI-Filters-Applied",
        "X-PyPI-Last-Serial", "X-Repo-Commit", "X-Error-Code", "X-Error-Message", "X-Linked-Etag", "X-Linked-Size",
        "X-Total-Count", "RateLimit", "RateLimit-Policy", "Warning", "Age")

    /// Returns the fields of a client's request that are sent to the upstream; with `conditional`, including the preconditions
    /// that avoid sending a client a copy that it already has.
    package static func forwarded(_ fields: HTTPFields, conditional: Bool) -> HTTPFields {
        var kept = pick(asked, of: fields)
        if !conditional { for name in names("If-None-Match", "If-Modified-Since") { kept[values: name] = [] } }
        return kept
    }

    /// Returns the fields of an upstream's response that are sent to the client, except fields with control characters. `local`
    /// returns the gateway's path for a link to the next page; links to other places are left out.
    package static func relayed(_ head: ResponseHead, local: (String) -> String? = { _ in nil }) -> HTTPFields {
        var kept = pick(answered, of: head.headers)
        guard let name = HTTPField.Name("Link"), let link = kept[name] else { return kept }
        kept[values: name] = []
        // Only `<URL>; rel="next"` is supported, which registries and hubs send with their lists.
        guard let end = link.utf8.firstIndex(of: UInt8(ascii: ">")), link.utf8.first == UInt8(ascii: "<"),
            link[end...].utf8.contains("next"), !link[end...].utf8.contains("<"),
            let path = local(String(link[..<end].dropFirst()))
        else { return kept }
        kept[name] = "<\(path)>; rel=\"next\""
        return kept
    }

    private static func pick(_ names: [HTTPField.Name], of fields: HTTPFields) -> HTTPFields {
        var picked = HTTPFields()
        for name in names {
            for value in fields[values: name] where value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) {
                picked.append(HTTPField(name: name, value: value))
            }
        }
        return picked
    }
}
