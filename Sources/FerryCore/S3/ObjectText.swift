/// The form of paths and queries that Signature Version 4 signs. Requests are sent in the same form that is signed.
package enum ObjectText {
    /// Encodes every byte except letters, digits, `-`, `.`, `_` and `~`.
    package static func encode(_ bytes: some Collection<UInt8>, keepsSlash: Bool) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): output.append(byte)
            case UInt8(ascii: "/") where keepsSlash: output.append(byte)
            case _ where ASCII.isDigit(byte) || ASCII.isLetter(byte): output.append(byte)
            default:
                output.append(UInt8(ascii: "%"))
                output += HexText.string([byte]).utf8.map { $0 >= 0x61 ? $0 - 0x20 : $0 }
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns the query with these parameters, sorted by name.
    package static func query(_ parameters: [(name: String, value: String)]) -> String {
        func encoded(_ text: String) -> String { encode(Array(text.utf8), keepsSlash: false) }
        let encoded = parameters.map { (name: encoded($0.name), value: encoded($0.value)) }
        return encoded.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
            .map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    /// Returns the parameters of a query. A `+` stands for itself.
    static func parameters(of query: String) -> [(name: String, value: String)] {
        query.split(at: "&").map { parameter in
            let parts = parameter.split(at: "=", maxSplits: 1, omittingEmptySubsequences: false)
            func decoded(_ part: Substring) -> String {
                String(decoding: PercentEncoding.decode(part.utf8), as: UTF8.self)
            }
            return (decoded(parts[0]), parts.count > 1 ? decoded(parts[1]) : "")
        }
    }
}
