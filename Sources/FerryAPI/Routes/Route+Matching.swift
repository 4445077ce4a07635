import FerryCore
package import HTTPTypes

extension Route {
    /// The result of matching a path below ``FerryAPI/root``.
    package enum Match: Sendable, Hashable {
        /// The route and the decoded identifier in its path, which is empty if it has none.
        case found(Route, identifier: String)
        /// The path exists with these methods.
        case wrongMethod([HTTPRequest.Method])
        case none
    }

    /// Matches a percent-encoded path without query. Literal segments take precedence over identifiers.
    package static func match(_ method: HTTPRequest.Method, _ path: Substring) -> Match {
        let parts = path.split(at: "/", omittingEmptySubsequences: false).dropFirst()
        var allowed: [HTTPRequest.Method] = []
        var found: (route: Route, identifier: String)?
        for route in allCases {
            guard let identifier = route.identifier(in: parts) else { continue }
            if route.method != method {
                if !allowed.contains(route.method) { allowed.append(route.method) }
            } else if found == nil || !route.template.utf8.contains("{") {
                found = (route, identifier)
            }
        }
        if let found { return .found(found.route, identifier: found.identifier) }
        return allowed.isEmpty ? .none : .wrongMethod(allowed)
    }

    /// Returns the identifier in a path of this template; `nil` if the path does not match.
    private func identifier(in parts: some Collection<Substring>) -> String? {
        let own = template.split(at: "/")
        guard own.count == parts.count else { return nil }
        var identifier = ""
        for (word, part) in zip(own, parts) {
            if word == "{id}" || word == "{session}" {
                guard let text = Self.decoded(part), !text.isEmpty else { return nil }
                identifier = text
            } else if word != part {
                return nil
            }
        }
        return identifier
    }

    /// Percent-decodes a path segment or query value; `nil` when it is malformed.
    package static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexValue), let low = rest.popFirst().flatMap(hexValue) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
