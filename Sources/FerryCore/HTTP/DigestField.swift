import HTTPTypes
import RawStructuredFieldValues

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Data
#else
    import struct Foundation.Data
#endif

/// The digests that a response declares, strongest first. Malformed members are ignored.
package enum DigestField {
    /// Returns digests of the whole file: Repr-Digest (RFC 9530 §3), Digest (RFC 3230), Content-MD5 (RFC 1864), and the
    /// checksum of an object in a store.
    ///
    /// At most one per algorithm; if fields disagree, the first in this order is used. Only a 200 or 206 response declares
    /// digests. Content-MD5 and an object's checksum are used only in a 200: in a 206, servers disagree about which bytes
    /// Content-MD5 covers, and the object's checksum may be that of one part.
    package static func digests(in head: ResponseHead) -> [Checksum] {
        guard head.status == 200 || head.status == 206 else { return [] }
        var found = structured("Repr-Digest", in: head) + legacy(in: head)
        if head.status == 200, let field = value("Content-MD5", in: head), let sum = checksum(.md5, base64: field) {
            found.append(sum)
        }
        if head.status == 200, let sum = objectChecksum(in: head) { found.append(sum) }
        return strongestFirst(found)
    }

    /// Returns digests of this message's content: Content-Digest (RFC 9530 §2).
    package static func contentDigests(in head: ResponseHead) -> [Checksum] {
        strongestFirst(structured("Content-Digest", in: head))
    }

    /// The algorithms by their names in these fields.
    private static let algorithms: [String: DigestAlgorithm] = [
        "sha-512": .sha512, "sha-256": .sha256, "sha": .sha1, "md5": .md5,
    ]

    /// Parses a dictionary of byte sequences (RFC 9651 §3.2); members of another type are skipped.
    private static func structured(_ name: String, in head: ResponseHead) -> [Checksum] {
        guard let field = value(name, in: head) else { return [] }
        var parser = StructuredFieldValueParser(Array(field.utf8))
        guard let members = try? parser.parseDictionaryFieldValue() else { return [] }
        return algorithms.compactMap { name, algorithm in
            guard case .item(let item) = members[name], case .undecodedByteSequence(let text) = item.rfc9651BareItem
            else { return nil }
            return checksum(algorithm, base64: text)
        }
    }

    /// Parses the SHA-256 of an S3 object. For an object of several parts, it is a digest of the parts' digests
    /// (`BASE64-COUNT`), which is not a digest of the whole.
    private static func objectChecksum(in head: ResponseHead) -> Checksum? {
        guard value("x-amz-checksum-type", in: head).map({ $0 == "FULL_OBJECT" }) ?? true,
            let field = value("x-amz-checksum-sha256", in: head)
        else { return nil }
        return checksum(.sha256, base64: field)
    }

    /// Parses `SHA-256=BASE64,MD5=BASE64`.
    private static func legacy(in head: ResponseHead) -> [Checksum] {
        guard let field = value("Digest", in: head) else { return [] }
        return field.split(at: ",").prefix(32).compactMap { member in
            let bytes = ASCII.trimmed(Array(member.utf8)[...])
            guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let name = String(decoding: bytes[..<equals].map(ASCII.lowercased), as: UTF8.self)
            let base64 = String(decoding: bytes[(equals + 1)...], as: UTF8.self)
            return algorithms[name].flatMap { checksum($0, base64: base64) }
        }
    }

    private static func checksum(_ algorithm: DigestAlgorithm, base64: String) -> Checksum? {
        let text = String(decoding: ASCII.trimmed(Array(base64.utf8)[...]), as: UTF8.self)
        guard let data = Data(base64Encoded: text) else { return nil }
        return Checksum(algorithm: algorithm, bytes: Array(data))
    }

    /// Returns all lines of a field as one list (RFC 9110 §5.3); `nil` if it is too long.
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
