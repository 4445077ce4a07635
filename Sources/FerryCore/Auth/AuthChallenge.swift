/// A challenge of `WWW-Authenticate` or `Proxy-Authenticate` (RFC 9110 §11.3).
package struct AuthChallenge: Sendable, Hashable {
    /// The scheme in lower case: `basic`, `digest`, …
    package var scheme: String
    /// Parameters by lower-case name, unquoted; of duplicates the first.
    package var parameters: [String: String] = [:]
    /// The token68 form that replaces parameters, as in `Negotiate YII=`.
    package var token68: String?

    package init(scheme: String, parameters: [String: String] = [:], token68: String? = nil) {
        self.scheme = scheme
        self.parameters = parameters
        self.token68 = token68
    }

    /// The protection space, as displayed to the user.
    package var realm: String? { parameters["realm"] }

    /// Parses all lines of the field, in order; malformed challenges are omitted.
    package static func parse(_ lines: [String]) -> [AuthChallenge] {
        lines.flatMap { line in
            var parser = AuthChallengeParser(line)
            return parser.challenges()
        }
    }
}

/// The challenge to answer and its scheme.
package enum AuthAnswer: Sendable, Hashable {
    case digest(DigestChallenge)
    case basic(realm: String?)

    /// Returns the best supported challenge: Digest before Basic, SHA-256 before MD5, else in the server's order; `nil`
    /// when there is none.
    package static func best(of challenges: [AuthChallenge]) -> AuthAnswer? {
        let digests = challenges.compactMap { DigestChallenge($0) }
        var best: DigestChallenge?
        for digest in digests where best.map({ digest.algorithm.strength > $0.algorithm.strength }) ?? true {
            best = digest
        }
        if let best { return .digest(best) }
        return challenges.first { $0.scheme == "basic" }.map { .basic(realm: $0.realm) }
    }

    /// Parses all lines of the field and returns the best supported challenge.
    package static func best(ofFields lines: [String]) -> AuthAnswer? { best(of: AuthChallenge.parse(lines)) }
}
