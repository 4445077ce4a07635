import HTTPTypes
import NIOHTTP1

/// Which fields a request carries, and in which order.
enum OutgoingFields {
    /// Fields that are not the user's to set: they belong to the framing, to the connection, or to Ferry's ranges.
    private static let reserved: Set<String> = [
        "host", "connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "trailer",
        "transfer-encoding", "upgrade", "content-length", "expect", "range", "if-range", "accept-encoding",
        HTTPExchange.fieldName,
    ]

    /// Puts the fields of one request together.
    ///
    /// - Parameters:
    ///   - host: the authority of the URL; the user's own Host takes its place.
    ///   - own: Ferry's; they win over everything.
    ///   - user: the user's, where they may be sent; they win over what follows.
    ///   - cookies: the value of the jar's Cookie field.
    ///   - authorization: the value of the Authorization field.
    static func make(
        host: String, userAgent: String, own: HTTPFields, user: HTTPFields, cookies: String?, authorization: String?
    ) -> HTTPHeaders {
        var headers = HTTPHeaders()
        let userHost = HTTPField.Name("Host").flatMap { user[$0] }
        headers.add(name: "Host", value: userHost ?? host)
        for field in own { headers.add(name: field.name.rawName, value: field.value) }
        for field in user where !reserved.contains(field.name.canonicalName) && own[field.name] == nil {
            headers.add(name: field.name.rawName, value: field.value)
        }
        let defaults: [(String, String?)] = [
            ("User-Agent", userAgent.isEmpty ? nil : userAgent), ("Accept", "*/*"), ("Accept-Encoding", "identity"),
            ("Cookie", cookies), ("Authorization", authorization),
        ]
        for (name, value) in defaults where !headers.contains(name: name) {
            if let value { headers.add(name: name, value: value) }
        }
        return headers
    }
}
