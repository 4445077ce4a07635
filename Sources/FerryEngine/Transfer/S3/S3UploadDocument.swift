package import FerryCore

/// The documents of multipart uploads.
package enum S3UploadDocument {
    /// The maximum size of a response, which lists up to 1,000 parts.
    static let mostBytes = 1 << 20
    private static let limits = PlainXML.Limits(bytes: mostBytes, nodes: 20_000, depth: 8)

    private static func root(_ names: String..., of document: [UInt8]) throws(TextError) -> PlainXML {
        let root = try PlainXML(parsing: document, limits: limits)
        guard names.contains(root.name) else { throw TextError(ErrorPhrase(.unusableStoreAnswer)) }
        return root
    }

    /// The upload's identifier in the response to CreateMultipartUpload.
    package static func identifier(_ document: [UInt8]) throws(TextError) -> String {
        let root = try root("InitiateMultipartUploadResult", of: document)
        let id = root.child(named: "UploadId")?.text.trimmedText ?? ""
        guard JournalRecord.Upload.isIdentifier(id) else { throw TextError(ErrorPhrase(.unusableStoreAnswer)) }
        return id
    }

    /// The parts in a response to ListParts, and the part number after which the next page starts; `nil` for the last
    /// page.
    package static func parts(_ document: [UInt8]) throws(TextError) -> (parts: [S3Part], next: Int?) {
        // Some stores, such as moto, name the element ListPartsResponse.
        let root = try root("ListPartsResult", "ListPartsResponse", of: document)
        func text(_ name: String, _ element: PlainXML) -> String { element.child(named: name)?.text.trimmedText ?? "" }
        let parts = root.children(named: "Part").prefix(1000).compactMap { element -> S3Part? in
            guard let number = ASCII.size(Array(text("PartNumber", element).utf8)),
                (1...ByteCount(S3UploadPlan.mostParts)).contains(number),
                let bytes = ASCII.size(Array(text("Size", element).utf8)),
                let tag = EntityTag(text("ETag", element))
            else { return nil }
            let checksum = text("ChecksumSHA256", element)
            return S3Part(
                number: Int(number), bytes: bytes, etag: tag.field, checksum: checksum.isEmpty ? nil : checksum)
        }
        guard text("IsTruncated", root) == "true", let last = parts.last else { return (parts, nil) }
        return (parts, last.number)
    }

    /// Whether the response to CompleteMultipartUpload reports success. The store sends the status 200
    /// before it knows the outcome.
    static func isComplete(_ document: [UInt8]) -> Bool {
        (try? root("CompleteMultipartUploadResult", of: document)) != nil
    }

    /// The ETag of the object in the response to CompleteMultipartUpload; `nil` if there is none.
    static func completedTag(_ document: [UInt8]) -> String? {
        let root = try? root("CompleteMultipartUploadResult", of: document)
        return root?.child(named: "ETag").flatMap { EntityTag($0.text.trimmedText)?.field }
    }

    /// The body of a CompleteMultipartUpload request.
    static func completion(_ parts: [S3Part]) -> String {
        func element(_ name: String, _ text: String) -> PlainXML { PlainXML(name, text: text) }
        let children = parts.map { part in
            PlainXML(
                "Part",
                children: [element("ETag", part.etag), element("PartNumber", "\(part.number)")]
                    + (part.checksum.map { [element("ChecksumSHA256", $0)] } ?? []))
        }
        return PlainXML("CompleteMultipartUpload", children: children).document
    }
}
