/// Parses the challenges of one field line, in which commas separate both challenges and parameters.
struct AuthChallengeParser {
    private let bytes: [UInt8]
    private var position = 0

    /// The maximum number of challenges per line; no honest server sends more.
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
                // A parameter belongs to the preceding challenge; one at the start of the line is dropped.
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
