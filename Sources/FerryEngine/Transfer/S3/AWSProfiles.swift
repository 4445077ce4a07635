import FerryCore

/// The sections of a `credentials` or `config` file of the AWS tools: a line `[name]`, then lines `key = value`.
/// Indented lines below a key without a value are its members: `addressing_style` below `s3` is stored as
/// `s3.addressing_style`.
package struct AWSProfiles: Sendable, Hashable {
    /// The maximum size of a file in bytes.
    static let mostBytes = 1 << 20
    private var sections: [String: [String: String]] = [:]

    init() {}

    package init(_ text: String) {
        var section: String?
        var parent: String?
        for line in text.split(whereSeparator: \.isNewline) {
            let content = line.trimmedText
            guard let first = content.utf8.first, first != UInt8(ascii: "#"), first != UInt8(ascii: ";") else {
                continue
            }
            if first == UInt8(ascii: "[") {
                let name = content.utf8.dropFirst().prefix { $0 != UInt8(ascii: "]") }
                section = String(decoding: name, as: UTF8.self).split(whereSeparator: \.isWhitespace)
                    .joined(separator: " ")
                parent = nil
                if let section { sections[section, default: [:]] = sections[section] ?? [:] }
                continue
            }
            let parts = content.split(at: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let section, parts.count == 2 else { continue }
            let (key, value) = (parts[0].trimmedText.asciiLowercased, parts[1].trimmedText)
            if line.utf8.first.map(ASCII.isBlank) == true, let parent {
                sections[section]?["\(parent).\(key)"] = value
            } else {
                parent = value.isEmpty ? key : nil
                sections[section]?[key] = value
            }
        }
    }

    /// The values of a section; `nil` if no section has this name.
    subscript(_ name: String) -> [String: String]? { sections[name] }
}
