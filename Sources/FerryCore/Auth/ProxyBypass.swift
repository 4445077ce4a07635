/// The hosts that are connected to directly: the list of `no_proxy`, with curl's semantics.
struct ProxyBypass: Sendable, Hashable {
    private enum Rule: Sendable, Hashable {
        case all
        /// A domain and its subdomains; with a port, on that port only.
        case name(String, port: Int?)
        /// A network in CIDR form.
        case network(IPAddress, bits: Int, port: Int?)
    }

    private var rules: [Rule] = []

    /// Parses entries separated by commas or blanks: `*`, `example.com`, `.example.com`, `*.example.com`, `host:8080`,
    /// `10.0.0.1`, `[::1]:80`, `10.0.0.0/8`, `fd00::/8`. Invalid entries are ignored.
    init(_ list: String) {
        rules = list.utf8.split { $0 == UInt8(ascii: ",") || ASCII.isWhiteSpace($0) }
            .compactMap { Self.rule(Array($0)) }
    }

    func contains(_ url: DownloadURL) -> Bool {
        let address = IPAddress(url.host)
        let name = url.host.utf8.last == UInt8(ascii: ".") ? String(url.host.dropLast()) : url.host
        return rules.contains { rule in
            switch rule {
            case .all: true
            case .name(let domain, let port):
                address == nil && (port ?? url.port) == url.port && CookieRules.host(name, matches: domain)
            case .network(let prefix, let bits, let port):
                (port ?? url.port) == url.port && address.map { $0.isIn(prefix, bits: bits) } ?? false
            }
        }
    }

    private static func rule(_ entry: [UInt8]) -> Rule? {
        if entry == [UInt8(ascii: "*")] { return .all }
        // An IPv6 address without brackets contains colons: try an address before `host:port`.
        if let rule = network(entry[...], port: nil) { return rule }
        var host = entry[...]
        var port: Int?
        if let colon = entry.lastIndex(of: UInt8(ascii: ":")) {
            guard let number = ASCII.number(entry[(colon + 1)...]), (1...65_535).contains(number) else { return nil }
            port = Int(number)
            host = entry[..<colon]
            if let rule = network(host, port: port) { return rule }
        }
        guard !host.contains(UInt8(ascii: "/")), !host.contains(UInt8(ascii: ":")) else { return nil }
        if host.starts(with: "*.".utf8) { host = host.dropFirst() }
        if host.first == UInt8(ascii: ".") { host = host.dropFirst() }
        if host.last == UInt8(ascii: ".") { host = host.dropLast() }
        let name = String(decoding: host, as: UTF8.self)
        guard !name.isEmpty else { return nil }
        // Internationalized names are compared in their Punycode form.
        guard let url = try? DownloadURL("http://\(name)/"), url.path == "/" else { return nil }
        return .name(url.host, port: port)
    }

    private static func network(_ text: ArraySlice<UInt8>, port: Int?) -> Rule? {
        var parts = text.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard var host = parts.first else { return nil }
        if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]"), host.count > 1 {
            host = host.dropFirst().dropLast()
        }
        guard let address = IPAddress(String(decoding: host, as: UTF8.self)) else { return nil }
        parts.removeFirst()
        let most = address.bytes.count * 8
        guard let length = parts.first else { return .network(address, bits: most, port: port) }
        guard let bits = ASCII.number(length), bits <= most else { return nil }
        return .network(address, bits: Int(bits), port: port)
    }
}
