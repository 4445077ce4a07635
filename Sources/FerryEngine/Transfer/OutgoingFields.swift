import FerryCore
import HTTPTypes
import NIOHTTP1

/// The header fields of a request, in order.
enum OutgoingFields {
    /// Fields that users cannot set, because they concern the framing, the connection, or Ferry's ranges.
    private static let reserved: Set<String> = [
        "host", "connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "trailer",
        "transfer-encoding", "upgrade", "content-length", "expect", "range", "if-range", "accept-encoding",
        HTTPExchange.fieldName,
    ]

    /// Assembles the fields of one request.
    ///
    /// - Parameters:
    ///   - host: The authority of the URL; the user's Host field overrides it.
    ///   - own: Ferry's own fields, which take precedence over all others.
    ///   - user: The user's fields, if they may be sent; they precede the fields below.
    ///   - cookies: The value of the jar's Cookie field. A cookie with a name that the user has given is left out.
    ///   - authorization: The value of the Authorization field.
    static func make(
        host: String, userAgent: String, own: HTTPFields, user: HTTPFields, cookies: String?, authorization: String?
    ) -> HTTPHeaders {
        var headers = HTTPHeaders()
        let userHost = HTTPField.Name("Host").flatMap { user[$0] }
        headers.add(name: "Host", value: userHost ?? host)
        for field in own { headers.add(name: field.name.rawName, value: field.value) }
        for field in user
        where field.name != .cookie && !reserved.contains(field.name.canonicalName) && own[field.name] == nil {
            headers.add(name: field.name.rawName, value: field.value)
        }
        let defaults: [(String, String?)] = [
            ("User-Agent", userAgent.isEmpty ? nil : userAgent), ("Accept", "*/*"), ("Accept-Encoding", "identity"),
            ("Cookie", cookie(user[values: .cookie], cookies)), ("Authorization", authorization),
        ]
        for (name, value) in defaults where !headers.contains(name: name) {
            if let value { headers.add(name: name, value: value) }
        }
        return headers
    }

    /// Returns the value of the one Cookie field that a request may have (RFC 6265 §5.4).
    private static func cookie(_ user: [String], _ jar: String?) -> String? {
        guard !user.isEmpty else { return jar }
        func pairs(_ text: String) -> [String] { text.split(at: ";").map { String($0).trimmedText } }
        func name(_ pair: String) -> Substring { pair.prefix { $0 != "=" } }
        let names = Set(user.flatMap(pairs).map(name))
        return (user + pairs(jar ?? "").filter { !names.contains(name($0)) }).joined(separator: "; ")
    }
}
