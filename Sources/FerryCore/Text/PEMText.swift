import struct Foundation.Data

/// Texts in the form of RFC 7468, as files of certificates are.
package enum PEMText {
    /// Whether there is at least one certificate: a block whose text is Base64 of what begins as DER does.
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

    /// What OpenSSL calls them.
    private static let names = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]
}
