/// Coded as `{"path", "totalBytes", "proof", "finalURL", "contentType"?, "wasAlreadyComplete", "receivedBytes",
/// "etag"?, "lastModified"?}`.
extension FinishedDownload: Codable {
    private enum CodingKeys: String, CodingKey {
        case path, totalBytes, proof, finalURL, contentType, wasAlreadyComplete, receivedBytes, etag, lastModified
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            path: try container.decode(String.self, forKey: .path),
            totalBytes: try container.decodeBytes(forKey: .totalBytes),
            proof: try container.decodeKind(Proof.self, of: "proof", forKey: .proof),
            wasAlreadyComplete: try container.decodeIfPresent(Bool.self, forKey: .wasAlreadyComplete) ?? false,
            finalURL: try container.decodeIfPresent(String.self, forKey: .finalURL) ?? "",
            contentType: try container.decodeIfPresent(String.self, forKey: .contentType),
            receivedBytes: try container.decodeBytesIfPresent(forKey: .receivedBytes) ?? 0,
            etag: try container.decodeIfPresent(String.self, forKey: .etag),
            lastModified: try container.decodeIfPresent(String.self, forKey: .lastModified))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(path, forKey: .path)
        try container.encode(totalBytes, forKey: .totalBytes)
        try container.encode(proof.rawValue, forKey: .proof)
        try container.encode(finalURL, forKey: .finalURL)
        try container.encodeIfPresent(contentType, forKey: .contentType)
        try container.encode(wasAlreadyComplete, forKey: .wasAlreadyComplete)
        try container.encode(receivedBytes, forKey: .receivedBytes)
        try container.encodeIfPresent(etag, forKey: .etag)
        try container.encodeIfPresent(lastModified, forKey: .lastModified)
    }
}
