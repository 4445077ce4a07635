package import FerryCore

/// One page of the objects of a bucket: a response to ListObjectsV2.
package struct S3ListPage: Sendable, Hashable {
    package struct Object: Sendable, Hashable {
        package var key: [UInt8]
        package var totalBytes: ByteCount
        /// Verbatim, with its quotation marks.
        package var etag: String?
        /// In the format of a Last-Modified field.
        package var lastModified: String?
    }

    /// The maximum size of a page in bytes: 1,000 encoded keys of 1,024 bytes, and their metadata.
    static let mostBytes = 8 << 20

    package private(set) var objects: [Object] = []
    /// The common prefixes of keys up to a delimiter. Each represents all keys that start with it.
    package private(set) var prefixes: [[UInt8]] = []
    /// The token for requesting the next page; `nil` after the last one.
    package private(set) var continuation: String?

    /// Throws an error that describes what is wrong in the document. An object without a key or size is omitted.
    package init(parsing document: some Collection<UInt8>) throws(TextError) {
        let root = try PlainXML(
            parsing: document, limits: PlainXML.Limits(bytes: Self.mostBytes, nodes: 50_000, depth: 16))
        guard root.name == "ListBucketResult" else { throw TextError(ErrorPhrase(.unusableStoreAnswer)) }
        func text(_ name: String, _ element: PlainXML) -> String? { element.child(named: name)?.text }
        let isEncoded = text("EncodingType", root)?.trimmedText == "url"
        func key(_ text: String) -> [UInt8] {
            // In this encoding, a space is written as a plus sign.
            isEncoded
                ? PercentEncoding.decode(text.utf8.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }) : Array(text.utf8)
        }
        for element in root.children(named: "Contents").prefix(10_000) {
            guard let name = text("Key", element), let size = text("Size", element),
                let bytes = ASCII.size(Array(size.trimmedText.utf8))
            else { continue }
            let date = text("LastModified", element).flatMap { RFC3339.date($0.trimmedText) }
            objects.append(
                Object(
                    key: key(name), totalBytes: bytes,
                    etag: text("ETag", element).flatMap { EntityTag($0.trimmedText)?.field },
                    lastModified: date.map { HTTPDate.format($0) }))
        }
        prefixes = root.children(named: "CommonPrefixes").prefix(10_000).compactMap { element in
            text("Prefix", element).map { key($0) }
        }
        guard text("IsTruncated", root)?.trimmedText == "true" else { return }
        guard let token = text("NextContinuationToken", root), !token.isEmpty, token.utf8.count <= 4096 else {
            throw TextError(ErrorPhrase(.unusableStoreAnswer))
        }
        continuation = token
    }
}
