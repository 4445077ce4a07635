#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Data
#else
    import struct Foundation.Data
#endif

/// The textual encoding of certificates (RFC 7468).
package enum PEMText {
    /// Whether the text contains at least one certificate: a block whose Base64 data starts like DER.
    package static func holdsCertificate(_ text: String) -> Bool {
        var body: String?
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmedText
            if names.contains(where: { line == "-----BEGIN \($0)-----" }) {
                body = ""
            } else if line.utf8.hasPrefix("-----END ") {
                if let body, let bytes = Data(base64Encoded: body), bytes.count > 2, bytes.first == 0x30 { return true }
                body = nil
            } else {
                body?.append(contentsOf: line)
            }
        }
        return false
    }

    /// The labels that OpenSSL accepts.
    private static let names = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]
}
