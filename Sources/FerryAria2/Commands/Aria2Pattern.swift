import FerryCore
import FerryTerminal

/// Parameterized URIs of aria2 (`-P`): `{a,b}` stands for each of the words; `[1-3]`, `[000-100:5]` and `[a-z]` stand for each
/// number or letter.
enum Aria2Pattern {
    private static let most = 10_000

    static func expand(_ uri: String) throws(Aria2Failure) -> [String] {
        var expanded = [""]
        var rest = uri[...]
        while let open = rest.utf8.firstIndex(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }) {
            let isList = rest.utf8[open] == UInt8(ascii: "{")
            let after = rest[rest.utf8.index(after: open)...]
            guard let close = after.utf8.firstIndex(of: UInt8(ascii: isList ? "}" : "]")) else {
                throw .option("missing \(isList ? "}" : "]") in the parameterized URI")
            }
            let inside = after[..<close]
            let choices = isList ? inside.split(at: ",").map(String.init) : try range(inside)
            guard !choices.isEmpty, expanded.count * choices.count <= most else {
                throw .option("the parameterized URI stands for none, or for more than \(most)")
            }
            let start = String(rest[..<open])
            expanded = expanded.flatMap { head in choices.map { head + start + $0 } }
            rest = after[after.utf8.index(after: close)...]
        }
        return expanded.map { $0 + rest }
    }

    /// Returns the elements of a range. Numbers are padded with zeros to the number of digits of the first one.
    private static func range(_ text: Substring) throws(Aria2Failure) -> [String] {
        let parts = text.split(at: ":", omittingEmptySubsequences: false)
        let ends = parts[0].split(at: "-", omittingEmptySubsequences: false)
        let step = parts.count == 2 ? Int(parts[1]) : 1
        let unusable = Aria2Failure.option("unusable range in the parameterized URI: [\(TextError.quote(text))]")
        guard ends.count == 2, parts.count <= 2, let step, step > 0 else { throw unusable }
        let isNumber = ends.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        if isNumber, let first = Int(ends[0]), let last = Int(ends[1]), first <= last, (last - first) / step < most {
            return stride(from: first, through: last, by: step).map { number in
                let digits = String(number)
                return String(repeating: "0", count: max(0, ends[0].utf8.count - digits.utf8.count)) + digits
            }
        }
        let letters = ends.compactMap { $0.utf8.count == 1 ? $0.utf8.first : nil }
        guard letters.count == 2, letters[0] <= letters[1],
            [0x41...0x5A, 0x61...0x7A].contains(where: { $0.contains(letters[0]) && $0.contains(letters[1]) })
        else { throw unusable }
        return stride(from: Int(letters[0]), through: Int(letters[1]), by: step).map {
            String(UnicodeScalar(UInt8($0)))
        }
    }
}
