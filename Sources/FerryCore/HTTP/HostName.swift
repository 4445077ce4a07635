/// Normalization of hosts to the form in which they are sent and compared.
enum HostName {
    /// Returns a name in lower-case ASCII, an IPv4 address, or an IPv6 address (given in brackets) without brackets.
    ///
    /// Throws for zone identifiers, for IPv4 in any form other than four decimal numbers, for empty labels, for labels
    /// over 63 and names over 253 bytes, and for any ASCII character except letters, digits, `-`, `_` and `.`.
    static func normalize(_ bytes: ArraySlice<UInt8>) throws(DownloadURL.Defect) -> String {
        if bytes.first == UInt8(ascii: "[") {
            let inner = bytes.dropFirst().dropLast()
            guard !inner.contains(UInt8(ascii: "%")) else {
                throw DownloadURL.Defect(.urlZone)
            }
            guard let address = IPv6Text.normalize(inner) else {
                throw DownloadURL.Defect(.urlBrackets)
            }
            return address
        }
        if let name = plain(bytes) { return name }
        guard let text = String(validating: PercentEncoding.decode(bytes), as: UTF8.self) else {
            throw DownloadURL.Defect(.urlHostText)
        }
        let name = try domain(text)
        guard isNumeric(name) else { return name }
        guard isIPv4(name) else {
            throw DownloadURL.Defect(.urlFourNumbers)
        }
        return name
    }

    /// A fast path for names in normal form and IPv4 addresses; `nil` for everything that needs the full normalization.
    private static func plain(_ bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.count <= 253 else { return nil }
        var label = 0
        var isNumeric = true
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "."):
                if label == 0 { return nil }
                (label, isNumeric) = (0, true)
                continue
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"): isNumeric = false
            case UInt8(ascii: "0")...UInt8(ascii: "9"): break
            default: return nil
            }
            label += 1
            if label > 63 { return nil }
        }
        guard label > 0 else { return nil }
        let name = String(decoding: bytes, as: UTF8.self)
        // The last label determines whether resolvers parse the name as a number.
        if isNumeric { return isIPv4(name) ? name : nil }
        return bytes.suffix(label).starts(with: "0x".utf8) ? nil : name
    }

    private static func domain(_ text: String) throws(DownloadURL.Defect) -> String {
        var labels: [String] = []
        for label in try DomainMapping.labels(text) {
            guard let encoded = Punycode.label(label) else {
                throw DownloadURL.Defect(.urlLongHost)
            }
            labels.append(encoded)
        }
        // One empty label at the end denotes the root: "example.com." differs from "example.com".
        let isRooted = labels.count > 1 && labels.last?.isEmpty == true
        let named = isRooted ? labels.dropLast() : labels[...]
        guard !named.contains(where: \.isEmpty) else {
            throw DownloadURL.Defect(.urlEmptyLabel)
        }
        guard named.allSatisfy({ $0.utf8.count <= 63 }), named.reduce(named.count - 1, { $0 + $1.utf8.count }) <= 253
        else { throw DownloadURL.Defect(.urlLongHost) }
        return labels.joined(separator: ".")
    }

    /// Whether resolvers would parse the name as an IPv4 address, because its last label is a decimal or 0x number.
    private static func isNumeric(_ name: String) -> Bool {
        let labels = name.utf8.split(separator: UInt8(ascii: "."))
        guard let last = labels.last else { return false }
        if last.allSatisfy(ASCII.isDigit) { return true }
        return last.starts(with: "0x".utf8) && last.dropFirst(2).allSatisfy { PercentEncoding.hexValue($0) != nil }
    }

    /// Whether the name is four decimal numbers without leading zeros, which some parsers would read as octal.
    static func isIPv4(_ name: some StringProtocol) -> Bool {
        var (parts, digits, value) = (1, 0, 0)
        for byte in name.utf8 {
            if byte == UInt8(ascii: "."), digits > 0 {
                (parts, digits, value) = (parts + 1, 0, 0)
                continue
            }
            guard ASCII.isDigit(byte), digits == 0 || value > 0 else { return false }
            (digits, value) = (digits + 1, value * 10 + Int(byte - UInt8(ascii: "0")))
            if value > 255 { return false }
        }
        return parts == 4 && digits > 0
    }
}
