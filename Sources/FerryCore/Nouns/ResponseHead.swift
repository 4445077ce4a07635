package import HTTPTypes

/// The head of a response, as the rules read it.
package struct ResponseHead: Sendable, Hashable {
    package var status: Int
    package var headers: HTTPFields

    package init(status: Int, headers: HTTPFields = HTTPFields()) {
        self.status = status
        self.headers = headers
    }

    /// The values of every field with this name, in order, as separate lines.
    package func values(_ name: HTTPField.Name) -> [String] { headers[values: name] }

    /// The value, when there is exactly one line with this name or all lines agree; otherwise `nil`.
    package func single(_ name: HTTPField.Name) -> String? {
        let all = headers[values: name]
        guard let first = all.first, all.allSatisfy({ $0 == first }) else { return nil }
        return first
    }
}
