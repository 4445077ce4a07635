package import HTTPTypes

/// The header fields of a request: an object of names, each with one value or a list of values.
package struct HeaderList: Codable, Sendable, Hashable {
    package var fields: HTTPFields

    package init(_ fields: HTTPFields) { self.fields = fields }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyMember.self)
        fields = HTTPFields()
        for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
            // `HTTPField` would silently drop invalid characters of a value, so a different value would be sent.
            guard let name = HTTPField.Name(key.stringValue) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container,
                    debugDescription: "\(TextError.quote(key.stringValue)) is no name of a header")
            }
            let values =
                try (try? container.decode([String].self, forKey: key)) ?? [container.decode(String.self, forKey: key)]
            for value in values {
                guard HTTPField.isValidValue(value) else {
                    throw DecodingError.dataCorruptedError(
                        forKey: key, in: container, debugDescription: "a value that no header can have")
                }
                fields.append(HTTPField(name: name, value: value))
            }
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyMember.self)
        var seen: Set<HTTPField.Name> = []
        for field in fields where seen.insert(field.name).inserted {
            let values = fields[values: field.name]
            let key = AnyMember(field.name.rawName)
            if values.count == 1 {
                try container.encode(values[0], forKey: key)
            } else {
                try container.encode(values, forKey: key)
            }
        }
    }
}
