/// The public suffixes: the domains directly below which anyone can register names.
///
/// Source: https://publicsuffix.org/list. Without a list, single labels and common second-level domains of countries (`co.uk`)
/// count as suffixes. This fallback separates unrelated hosts, except below private suffixes such as `github.io`.
package struct PublicSuffixes: Sendable {
    private var rules: Set<String> = []
    /// Domains whose direct subdomains are all suffixes: `ck` for the rule `*.ck`.
    private var parents: Set<String> = []
    /// Names that are not suffixes although their parent is in ``parents``.
    private var exceptions: Set<String> = []

    /// The maximum size of a list in bytes. The rest of a larger list is not read.
    package static let mostBytes = 4 << 20

    /// Creates suffixes without a list.
    package init() {}

    /// Reads a list; lines that are not rules are ignored.
    package init(list: [UInt8]) {
        for line in list.prefix(Self.mostBytes).split(separator: 0x0A) {
            guard let word = line.split(whereSeparator: { $0 <= 0x20 }).first, word.count <= 255,
                word.first != UInt8(ascii: "/")
            else { continue }
            let text = String(decoding: word, as: UTF8.self)
            if let exception = text.dropping(prefix: "!") {
                Self.add(exception, to: &exceptions)
            } else if let parent = text.dropping(prefix: "*.") {
                Self.add(parent, to: &parents)
            } else {
                Self.add(text[...], to: &rules)
            }
        }
    }

    /// Adds a name in the form of hosts: lower case and Punycode.
    private static func add(_ name: Substring, to names: inout Set<String>) {
        if name.utf8.allSatisfy({ $0 < 0x80 }) {
            names.insert(name.lowercased())
        } else if let url = try? DownloadURL("https://\(name)/") {
            names.insert(url.host)
        }
    }

    /// Whether a list was read.
    package var hasList: Bool { !rules.isEmpty }

    /// The registrable domain of a host: its public suffix and one label before it. For an address, or a name without
    /// such a label, the host itself.
    package func domain(of host: String) -> String {
        if CookieRules.isAddress(host) { return host }
        let parents = CookieRules.domains(of: host)
        // The longest candidates come first, so the first suffix found is the longest one.
        for (index, name) in parents.enumerated().dropFirst() where isSuffix(name) { return parents[index - 1] }
        return host
    }

    private func isSuffix(_ name: String) -> Bool {
        guard hasList else { return CookieRules.isPublicSuffix(name) }
        if exceptions.contains(name) { return false }
        guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")) else { return true }
        return rules.contains(name) || parents.contains(String(name[name.utf8.index(after: dot)...]))
    }
}
