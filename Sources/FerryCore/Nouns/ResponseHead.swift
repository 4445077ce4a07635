package import HTTPTypes

/// The status and the fields of a response, as an input of decisions.
package struct ResponseHead: Sendable, Hashable {
    package var status: Int
    package var headers: HTTPFields

    package init(status: Int, headers: HTTPFields = HTTPFields()) {
        self.status = status
        self.headers = headers
    }

    /// Returns the values of every field line with this name, in order, not combined.
    package func values(_ name: HTTPField.Name) -> [String] { headers[values: name] }

    /// Returns the value when there is one field line with this name or all lines are equal; otherwise `nil`.
    package func single(_ name: HTTPField.Name) -> String? {
        let all = headers[values: name]
        guard let first = all.first, all.allSatisfy({ $0 == first }) else { return nil }
        return first
    }
}
