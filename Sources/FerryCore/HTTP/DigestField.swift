import HTTPTypes
import StructuredFieldValues

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Data
#else
    import struct Foundation.Data
#endif

/// The digests that a response declares, strongest first. Malformed members are ignored.
package enum DigestField {
    /// Returns digests of the whole file: Repr-Digest (RFC 9530 §3), Digest (RFC 3230), and Content-MD5 (RFC 1864).
    ///
    /// At most one per algorithm; where fields disagree, the first in this order counts. Only a 200 or 206 declares
    /// any. Content-MD5 counts on a 200 alone, because servers disagree about its extent on a 206.
    package static func digests(in head: ResponseHead) -> [Checksum] {
        guard head.status == 200 || head.status == 206 else { return [] }
        var found = structured("Repr-Digest", in: head) + legacy(in: head)
        if head.status == 200, let field = value("Content-MD5", in: head), let sum = checksum(.md5, base64: field) {
            found.append(sum)
        }
        return strongestFirst(found)
    }

    /// Returns digests of this message's content: Content-Digest (RFC 9530 §2).
    package static func contentDigests(in head: ResponseHead) -> [Checksum] {
        strongestFirst(structured("Content-Digest", in: head))
    }

    /// A dictionary of byte sequences (RFC 8941 §3.2).
    private struct Members: StructuredFieldValue {
        static let structuredFieldType = StructuredFieldType.dictionary

        var sums: [Checksum] = []

        private enum CodingKeys: String, CodingKey, CaseIterable {
            case sha512 = "sha-512"
            case sha256 = "sha-256"
            case sha1 = "sha"
            case md5

            var algorithm: DigestAlgorithm {
                switch self {
                case .sha512: .sha512
                case .sha256: .sha256
                case .sha1: .sha1
                case .md5: .md5
                }
            }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            for key in CodingKeys.allCases where container.contains(key) {
                // Members of another type are skipped.
                guard let data = try? container.decode(Data.self, forKey: key) else { continue }
                if let sum = Checksum(algorithm: key.algorithm, bytes: Array(data)) { sums.append(sum) }
            }
        }

        func encode(to encoder: any Encoder) throws {}
    }

    private static func structured(_ name: String, in head: ResponseHead) -> [Checksum] {
        guard let field = value(name, in: head) else { return [] }
        return (try? StructuredFieldValueDecoder().decode(Members.self, from: Array(field.utf8)))?.sums ?? []
    }

    /// Parses `SHA-256=BASE64,MD5=BASE64`.
    private static func legacy(in head: ResponseHead) -> [Checksum] {
        guard let field = value("Digest", in: head) else { return [] }
        return field.split(at: ",").prefix(32).compactMap { member in
            let bytes = ASCII.trimmed(Array(member.utf8)[...])
            guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let base64 = String(decoding: bytes[(equals + 1)...], as: UTF8.self)
            switch String(decoding: bytes[..<equals].map(ASCII.lowercased), as: UTF8.self) {
            case "sha-512": return checksum(.sha512, base64: base64)
            case "sha-256": return checksum(.sha256, base64: base64)
            case "sha": return checksum(.sha1, base64: base64)
            case "md5": return checksum(.md5, base64: base64)
            default: return nil
            }
        }
    }

    private static func checksum(_ algorithm: DigestAlgorithm, base64: String) -> Checksum? {
        let text = String(decoding: ASCII.trimmed(Array(base64.utf8)[...]), as: UTF8.self)
        guard let data = Data(base64Encoded: text) else { return nil }
        return Checksum(algorithm: algorithm, bytes: Array(data))
    }

    /// Returns all lines of a field as one list (RFC 9110 §5.3); `nil` when it is too long.
    private static func value(_ name: String, in head: ResponseHead) -> String? {
        guard let name = HTTPField.Name(name) else { return nil }
        let lines = head.values(name)
        guard !lines.isEmpty else { return nil }
        let text = lines.joined(separator: ", ")
        return text.utf8.count <= 8192 ? text : nil
    }

    private static func strongestFirst(_ sums: [Checksum]) -> [Checksum] {
        let order: [DigestAlgorithm] = [.sha512, .sha256, .sha1, .md5]
        return order.compactMap { algorithm in sums.first { $0.algorithm == algorithm } }
    }
}
