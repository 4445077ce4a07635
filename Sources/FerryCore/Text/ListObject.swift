/// A line of JSON in a ``URLList``: `url` or `urls`, members that correspond to an entry's options, and other members,
/// which are returned with the result.
struct ListObject {
    /// The URLs in order; `url` comes first.
    private(set) var urls: [String] = []
    /// The options of the entry with their values.
    private(set) var options: [(name: String, value: String)] = []
    /// The other members; `nil` if there are none.
    private(set) var columns: JSONValue?

    /// The members that are options. Header fields are not: they may be secrets, which must not appear in results.
    private static let optionNames = ["out", "dir", "checksum"]

    init(_ value: JSONValue?) throws(TextError) {
        guard var members = value?.members else {
            throw TextError("the line begins with { and is not a JSON object")
        }
        if let url = members.removeValue(forKey: "url") { urls.append(try Self.text(url, of: "url")) }
        if let list = members.removeValue(forKey: "urls") {
            guard let items = list.items else { throw TextError("the member urls is not a list") }
            for item in items { urls.append(try Self.text(item, of: "urls")) }
        }
        guard !urls.isEmpty else { throw TextError("the object has no member url") }
        for name in Self.optionNames {
            guard let value = members.removeValue(forKey: name), value != .null else { continue }
            options.append((name, try Self.text(value, of: name)))
        }
        if members.isEmpty { return }
        let columns = JSONValue.object(members)
        guard columns.isExact else {
            throw TextError("the object has a whole number of more than 64 bits: write it as a text")
        }
        self.columns = columns
    }

    private static func text(_ value: JSONValue, of name: String) throws(TextError) -> String {
        guard let text = value.string else { throw TextError("the member \(name) is not a text") }
        return text
    }
}

extension JSONValue {
    /// Whether the value is exactly the one in the text: a large integer may have been rounded.
    fileprivate var isExact: Bool {
        switch self {
        case .number(let number): abs(number) < 0x1p53
        case .list(let items): items.allSatisfy(\.isExact)
        case .object(let members): members.values.allSatisfy(\.isExact)
        case .null, .flag, .whole, .text: true
        }
    }

    /// The number of bytes in its names and texts, plus a few for each other value.
    var textBytes: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .list(let items): items.reduce(0) { $0 + $1.textBytes }
        case .object(let members): members.reduce(0) { $0 + $1.key.utf8.count + $1.value.textBytes }
        case .null, .flag, .whole, .number: 8
        }
    }
}
