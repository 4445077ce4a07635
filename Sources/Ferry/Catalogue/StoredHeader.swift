/// A header field, coded as a pair.
package struct StoredHeader: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension StoredHeader: Codable {
    package func encode(to encoder: any Encoder) throws {
        var pair = encoder.unkeyedContainer()
        try pair.encode(name)
        try pair.encode(value)
    }

    package init(from decoder: any Decoder) throws {
        var pair = try decoder.unkeyedContainer()
        name = try pair.decode(String.self)
        value = try pair.decode(String.self)
    }
}
