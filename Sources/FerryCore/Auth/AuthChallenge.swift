/// A challenge in `WWW-Authenticate` or `Proxy-Authenticate` (RFC 9110 §11.3).
package struct AuthChallenge: Sendable, Hashable {
    /// The scheme in lower case: `basic`, `digest`, …
    package var scheme: String
    /// The parameters by lower-case name, unquoted; the first of duplicates.
    package var parameters: [String: String] = [:]
    /// The token68 that takes the place of parameters, as in `Negotiate YII=`.
    package var token68: String?

    package init(scheme: String, parameters: [String: String] = [:], token68: String? = nil) {
        self.scheme = scheme
        self.parameters = parameters
        self.token68 = token68
    }

    /// The protection space, for display to the user.
    package var realm: String? { parameters["realm"] }

    /// Parses all lines of the field, in order; malformed challenges are omitted.
    package static func parse(_ lines: [String]) -> [AuthChallenge] {
        lines.flatMap { line in
            var parser = AuthChallengeParser(line)
            return parser.challenges()
        }
    }
}

/// The challenge that is answered, and its scheme.
package enum AuthAnswer: Sendable, Hashable {
    case digest(DigestChallenge)
    case basic(realm: String?)

    /// Returns the best supported challenge: Digest before Basic, SHA-256 before MD5, otherwise in the server's order;
    /// `nil` if none is supported.
    package static func best(of challenges: [AuthChallenge]) -> AuthAnswer? {
        let digests = challenges.compactMap { DigestChallenge($0) }
        var best: DigestChallenge?
        for digest in digests where best.map({ digest.algorithm.strength > $0.algorithm.strength }) ?? true {
            best = digest
        }
        if let best { return .digest(best) }
        return challenges.first { $0.scheme == "basic" }.map { .basic(realm: $0.realm) }
    }

    /// Returns the first scheme, shortened to 32 bytes, if there are challenges but none accepts a user name and password.
    package static func unanswerable(in challenges: [AuthChallenge]) -> String? {
        guard !challenges.contains(where: { ["basic", "digest"].contains($0.scheme) }) else { return nil }
        return challenges.first.map { String($0.scheme.prefix(32)) }
    }

    /// Parses all lines of the field and returns the best supported challenge.
    package static func best(ofFields lines: [String]) -> AuthAnswer? { best(of: AuthChallenge.parse(lines)) }
}

/// Parses the challenges of one field line, in which commas separate both challenges and parameters.
struct AuthChallengeParser {
    private let bytes: [UInt8]
    private var position = 0

    /// The maximum number of challenges per line, more than any legitimate server sends.
    private static let maxChallenges = 32

    init(_ line: String) { bytes = Array(line.utf8) }

    mutating func challenges() -> [AuthChallenge] {
        var challenges: [AuthChallenge] = []
        while position < bytes.count {
            skip { ASCII.isBlank($0) || $0 == UInt8(ascii: ",") }
            guard position < bytes.count else { break }
            guard let word = token() else {
                skipElement()
                continue
            }
            if isEquals(after: position) {
                // A parameter belongs to the preceding challenge; a parameter at the start of the line is dropped.
                let value = parameterValue()
                guard let value, let last = challenges.indices.last else {
                    skipElement()
                    continue
                }
                if challenges[last].parameters[word] == nil { challenges[last].parameters[word] = value }
                if !isAtEnd { skipElement() }
                continue
            }
            guard challenges.count < Self.maxChallenges else { break }
            guard position == bytes.count || ASCII.isBlank(bytes[position]) || bytes[position] == UInt8(ascii: ",")
            else {
                skipElement()
                continue
            }
            challenges.append(AuthChallenge(scheme: word, token68: token68()))
        }
        return challenges
    }

    /// Whether only a comma or the end of the line follows.
    private var isAtEnd: Bool {
        guard let next = bytes[position...].first(where: { !ASCII.isBlank($0) }) else { return true }
        return next == UInt8(ascii: ",")
    }

    private mutating func token() -> String? {
        let start = position
        skip(ASCII.isToken)
        guard position > start else { return nil }
        return String(decoding: bytes[start..<position], as: UTF8.self).asciiLowercased
    }

    private func isEquals(after start: Int) -> Bool {
        bytes[start...].first { !ASCII.isBlank($0) } == UInt8(ascii: "=")
    }

    /// Parses the text after a scheme if it is a single token68 (RFC 9110 §11.2) up to the next comma.
    private mutating func token68() -> String? {
        let start = position
        skip(ASCII.isBlank)
        let first = position
        skip {
            ASCII.isDigit($0) || ASCII.isLetter($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
                || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "+")
                || $0 == UInt8(ascii: "/")
        }
        let hasBody = position > first
        skip { $0 == UInt8(ascii: "=") }
        guard hasBody, isAtEnd else {
            position = start
            return nil
        }
        return String(decoding: bytes[first..<position], as: UTF8.self)
    }

    /// Parses `=` and a token or quoted string; returns `nil` when malformed.
    private mutating func parameterValue() -> String? {
        skip(ASCII.isBlank)
        position += 1
        skip(ASCII.isBlank)
        guard position < bytes.count else { return nil }
        guard bytes[position] == UInt8(ascii: "\"") else {
            let start = position
            skip { !ASCII.isBlank($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"") }
            return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
        }
        position += 1
        var value: [UInt8] = []
        while position < bytes.count {
            var byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: value, as: UTF8.self) }
            if byte == UInt8(ascii: "\\"), position < bytes.count {
                byte = bytes[position]
                position += 1
            }
            value.append(byte)
        }
        return nil
    }

    /// Skips to the next comma outside quotes.
    private mutating func skipElement() {
        var isQuoted = false
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: ","), !isQuoted { return }
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == UInt8(ascii: "\\"), isQuoted { position += 1 }
            position += 1
        }
        position = min(position, bytes.count)
    }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
        while position < bytes.count, isSkipped(bytes[position]) { position += 1 }
    }
}

/// The Basic scheme (RFC 7617).
package enum BasicCredentials {
    /// Returns the value of `Authorization` or `Proxy-Authorization`: `Basic` and the Base64 of `user:password` in
    /// UTF-8.
    package static func header(_ credentials: Credentials) -> String {
        "Basic " + base64(Array("\(credentials.user):\(credentials.password)".utf8))
    }

    /// Returns the Base64 encoding (RFC 4648 §4) with padding.
    static func base64(_ bytes: [UInt8]) -> String {
        var output: [UInt8] = []
        output.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let group = bytes[index..<min(index + 3, bytes.count)]
            let bits = group.enumerated().reduce(UInt32(0)) { $0 | UInt32($1.element) << (16 - 8 * UInt32($1.offset)) }
            for place in 0..<4 {
                let sextet = Int(bits >> (18 - 6 * UInt32(place)) & 63)
                output.append(place <= group.count ? alphabet[sextet] : UInt8(ascii: "="))
            }
            index += 3
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}
