/// One challenge of `WWW-Authenticate` or `Proxy-Authenticate` (RFC 9110 §11.3).
package struct AuthChallenge: Sendable, Hashable {
    /// In lower case: `basic`, `digest`, …
    package var scheme: String
    /// By name in lower case, without quotes; of two with the same name the first.
    package var parameters: [String: String] = [:]
    /// What stands in place of parameters, as in `Negotiate YII=`.
    package var token68: String?

    package init(scheme: String, parameters: [String: String] = [:], token68: String? = nil) {
        self.scheme = scheme
        self.parameters = parameters
        self.token68 = token68
    }

    /// What protects: the name that the user knows the place by.
    package var realm: String? { parameters["realm"] }

    /// The challenges of all lines of the field, in order; what is malformed is left out.
    package static func parse(_ lines: [String]) -> [AuthChallenge] {
        lines.flatMap { line in
            var parser = AuthChallengeParser(line)
            return parser.challenges()
        }
    }
}

/// How to answer a refusal: the best challenge that Ferry understands.
package enum AuthAnswer: Sendable, Hashable {
    case digest(DigestChallenge)
    case basic(realm: String?)

    /// Digest before Basic, SHA-256 before MD5, else in the order of the server; `nil` when there is neither.
    package static func best(of challenges: [AuthChallenge]) -> AuthAnswer? {
        let digests = challenges.compactMap { DigestChallenge($0) }
        var best: DigestChallenge?
        for digest in digests where best.map({ digest.algorithm.strength > $0.algorithm.strength }) ?? true {
            best = digest
        }
        if let best { return .digest(best) }
        return challenges.first { $0.scheme == "basic" }.map { .basic(realm: $0.realm) }
    }

    /// The same, from the values of all lines of the field.
    package static func best(ofFields lines: [String]) -> AuthAnswer? { best(of: AuthChallenge.parse(lines)) }
}
