/// Coded as a list: the key, then the arguments, each a text or, where it is a sentence itself, such a list.
extension ErrorPhrase: Codable {
    package init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        let word = try container.decode(String.self)
        guard let key = Key(rawValue: word) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "unknown phrase: perhaps of a newer version of Ferry")
        }
        var arguments: [Reason] = []
        while !container.isAtEnd { arguments.append(try container.decode(Reason.self)) }
        self.init(key: key, reasons: arguments)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(key.rawValue)
        for argument in arguments { try container.encode(argument) }
    }
}

extension Reason: Codable {
    package init(from decoder: any Decoder) throws {
        if let words = try? decoder.singleValueContainer().decode(String.self) {
            self = .words(words)
        } else {
            self = .phrase(try ErrorPhrase(from: decoder))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .words(let words): try words.encode(to: encoder)
        case .phrase(let phrase): try phrase.encode(to: encoder)
        case .pattern: try description.encode(to: encoder)
        }
    }
}
