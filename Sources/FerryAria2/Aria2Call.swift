package import FerryCore

/// A call of a method, regardless of the format in which it was received.
package struct Aria2Call: Sendable, Hashable {
    package var method: String
    package var params: [JSONValue]

    package init(method: String, params: [JSONValue] = []) {
        self.method = method
        self.params = params
    }

    /// Removes and returns the token: the first parameter, if it has the prefix `token:`. Returns `nil` if there is none.
    package mutating func takeToken() -> String? {
        guard case .text(let text)? = params.first, let token = text.dropping(prefix: "token:") else { return nil }
        params.removeFirst()
        return String(token)
    }

    // MARK: Parameters

    /// Returns the text at this index. Like the following methods, throws if the parameter is missing or has the wrong type.
    func text(_ index: Int) throws(Aria2Error) -> String {
        guard case .text(let text) = try required(index) else { throw Self.wrongType(index) }
        return text
    }

    func list(_ index: Int) throws(Aria2Error) -> [JSONValue] {
        guard case .list(let items) = try required(index) else { throw Self.wrongType(index) }
        return items
    }

    func members(_ index: Int) throws(Aria2Error) -> [String: JSONValue] {
        guard case .object(let members) = try required(index) else { throw Self.wrongType(index) }
        return members
    }

    func whole(_ index: Int, atLeast least: Int = .min) throws(Aria2Error) -> Int {
        guard case .whole(let number) = try required(index) else { throw Self.wrongType(index) }
        guard number >= least else {
            throw Aria2Error(
                "The integer parameter at \(index) has invalid value: "
                    + "the value must be greater than or equal to \(least).")
        }
        return number
    }

    /// Returns a list of keys; `nil`, for all keys, if the list is missing or empty.
    func keys(_ index: Int) throws(Aria2Error) -> Set<String>? {
        guard has(index) else { return nil }
        let keys = try list(index).compactMap(\.string)
        return keys.isEmpty ? nil : Set(keys)
    }

    /// Returns the position in the queue; `nil` if the parameter is missing.
    func position(_ index: Int) throws(Aria2Error) -> Int? {
        guard has(index) else { return nil }
        let position = try whole(index)
        guard position >= 0 else { throw Aria2Error("Position must be greater than or equal to 0.") }
        return position
    }

    func has(_ index: Int) -> Bool { index < params.count }

    private func required(_ index: Int) throws(Aria2Error) -> JSONValue {
        guard has(index) else { throw Aria2Error("The parameter at \(index) is required but missing.") }
        return params[index]
    }

    private static func wrongType(_ index: Int) -> Aria2Error {
        Aria2Error("The parameter at \(index) has wrong type.")
    }
}

/// Selects a part of a list by aria2's offset and number.
package enum Aria2Page {
    /// Returns the range of indices, and whether the items are to be reversed. A negative offset counts from the end (-1 is the
    /// last item) and selects backwards.
    package static func range(offset: Int, number: Int, of total: Int) -> (range: Range<Int>, isReversed: Bool) {
        guard offset < 0 else {
            let start = min(offset, total)
            return (start..<start + min(number, total - start), false)
        }
        let last = offset + total
        guard last >= 0 else { return (0..<0, true) }
        return (last + 1 - min(number, last + 1)..<last + 1, true)
    }
}
