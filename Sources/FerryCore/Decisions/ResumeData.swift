#if canImport(FoundationEssentials)
    public import struct FoundationEssentials.Data
    public import struct FoundationEssentials.Date
    // allow(imports): JSONDecoder is a class, but it only converts a text into a value.
    public import class FoundationEssentials.JSONDecoder
#else
    public import struct Foundation.Data
    public import struct Foundation.Date
    // allow(imports): as above.
    public import class Foundation.JSONDecoder
#endif

/// The data with which an app can resume a cancelled download later: the path of the part file and the file's identity.
///
/// It contains URLs with their queries, but no credentials and no content: the bytes are in the part file, and only the
/// journal next to that file records which bytes are valid. Format: `docs/resume-data.md`.
public struct ResumeData: Sendable, Hashable {
    /// The format version that this code writes; newer versions are refused.
    package static let currentVersion = 1

    /// The format version, 1 or more.
    package let version: Int
    /// The identifier of the cancelled download.
    public let id: DownloadID
    /// The URLs without user info, 1 to 100: first the source, then mirrors.
    package let sources: [DownloadURL]
    /// The absolute path of the part file.
    public let partPath: String
    /// The path of the part file relative to the manager's directory, if the file was below it. The directory may have
    /// another path when the data is used, for example after an app's container has moved in an update.
    package let relativePath: String?
    /// The size of the whole file in bytes; `nil` if the server did not declare it.
    public let totalBytes: ByteCount?
    /// The number of bytes of partial content at the time of creation, from 0 to ``totalBytes``.
    public let completedBytes: ByteCount
    /// The ETag as sent; `nil` if there was none.
    package let etag: String?
    /// The Last-Modified as sent; `nil` if there was none.
    package let lastModified: String?
    /// The expected digest.
    package let checksum: Checksum?
    /// The creation time, to the second.
    public let created: Date

    /// Creates resume data; throws `notResumable` if a value is invalid.
    package init(
        id: DownloadID, sources: [DownloadURL], partPath: String, relativePath: String? = nil, totalBytes: ByteCount?,
        completedBytes: ByteCount,
        etag: String? = nil, lastModified: String? = nil, checksum: Checksum? = nil, created: Date
    ) throws(DownloadError) {
        let problem: ErrorPhrase.Key? =
            if id.rawValue.isEmpty || !id.isOneLine {
                .noID
            } else if sources.isEmpty {
                .noURLInIt
            } else if !Self.isPartPath(partPath) || !(relativePath.map { Self.isPartPath("/" + $0) } ?? true) {
                .noPartPath
            } else if !completedBytes.isSize || totalBytes.map({ !$0.isSize || $0 < completedBytes }) ?? false {
                .impossibleSizes
            } else if abs(created.timeIntervalSince1970) > 1e12 || created.timeIntervalSince1970.isNaN {
                .impossibleTime
            } else {
                nil
            }
        if let problem { throw Self.damaged(Reason(problem)) }
        version = Self.currentVersion
        self.id = id
        self.sources = sources.prefix(DownloadRequest.mostSources).map(\.withoutCredentials)
        self.partPath = partPath
        self.relativePath = relativePath
        self.totalBytes = totalBytes
        self.completedBytes = completedBytes
        self.etag = etag
        self.lastModified = lastModified
        self.checksum = checksum
        self.created = Date(timeIntervalSince1970: created.timeIntervalSince1970.rounded(.down))
    }

    /// Returns the data for the same part file after its directory was moved to `directory`; `nil` if the file was not below
    /// the manager's directory.
    package func moved(to directory: String) -> ResumeData? {
        guard let relativePath else { return nil }
        let path = directory == "/" ? "/" + relativePath : directory + "/" + relativePath
        return try? ResumeData(
            id: id, sources: sources, partPath: path, relativePath: relativePath, totalBytes: totalBytes,
            completedBytes: completedBytes, etag: etag, lastModified: lastModified, checksum: checksum,
            created: created)
    }

    /// The path of a part file relative to a directory; `nil` if the file is not below it.
    package static func path(_ part: String, below directory: String) -> String? {
        let prefix = directory == "/" ? directory : directory + "/"
        guard part.utf8.hasPrefix(prefix) else { return nil }
        return String(decoding: part.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }

    /// The directory of the part file.
    package var partDirectory: String {
        let end = partPath.utf8.lastIndex(of: UInt8(ascii: "/")) ?? partPath.startIndex
        return end == partPath.startIndex ? "/" : String(partPath[..<end])
    }

    /// Whether the path is absolute, ends in `NAME.part`, and contains no `..`, because a new file may be created next
    /// to it.
    private static func isPartPath(_ path: String) -> Bool {
        let names = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard let name = names.last, names.count > 1, names[0].isEmpty, !path.utf8.contains(0) else { return false }
        let suffix = ReservedName.part.text.utf8
        return name.count > suffix.count && name.suffix(suffix.count).elementsEqual(suffix)
            && !names.contains { $0.elementsEqual("..".utf8) }
    }
}

extension DownloadURL {
    /// A copy without user info.
    package var withoutCredentials: DownloadURL {
        DownloadURL(scheme: scheme, host: host, port: port, path: path, query: query, credentials: nil)
    }
}

// One JSON object. `seal` is the CRC-32 of the canonical text (RFC 8785) of all other members. It detects damage and
// does not depend on order and white space. The seal covers unknown members, which are then ignored.

extension ResumeData {
    private static let format = "ferry-resume-data"
    private static let mostBytes = 1 << 20

    /// The encoded form: UTF-8 JSON, at most a few KiB.
    public var data: Data { Data(sealed.text.utf8) }

    /// Decodes ``data``; throws `notResumable` if the bytes are damaged, not resume data of Ferry, or of a newer
    /// version.
    public init(_ data: Data) throws(DownloadError) {
        guard !data.isEmpty else { throw DownloadError(.notResumable, ErrorPhrase(.resumeDataEmpty)) }
        guard data.count <= Self.mostBytes else { throw Self.foreign(Reason(.hasBytes, "\(data.count)")) }
        let json: PlainJSON
        do {
            json = try JSONDecoder().decode(PlainJSON.self, from: data)
        } catch {
            if String(decoding: data, as: UTF8.self).contains(Self.format) {
                throw Self.damaged(Reason(.noWholeNumbers))
            }
            throw Self.foreign(
                data.starts(with: Array("bplist".utf8)) || data.starts(with: Array("<?xml".utf8))
                    ? Reason(.propertyList) : Reason(.noJSON))
        }
        try self.init(json)
    }

    init(_ json: PlainJSON) throws(DownloadError) {
        guard case .object(var object) = json else { throw Self.foreign(Reason(.noObject)) }
        guard object["format"] == .text(Self.format) else { throw Self.foreign(Reason(.otherFormat)) }
        guard case .number(let version) = object["version"], version >= 1 else {
            throw Self.damaged(Reason(.noVersion))
        }
        guard version <= Self.currentVersion else {
            throw DownloadError(
                .notResumable, ErrorPhrase(.resumeDataNewer, "\(version)", "\(Self.currentVersion)"),
                suggestion: ErrorPhrase(.updateFerry), recovery: .needsUser)
        }
        let seal = object.removeValue(forKey: "seal")
        guard seal == .text(Self.seal(of: object)) else { throw Self.damaged(Reason(.otherSeal)) }
        try self.init(fields: Fields(object: object))
    }

    private init(fields: Fields) throws(DownloadError) {
        var sources: [DownloadURL] = []
        for url in try fields.texts("urls").prefix(DownloadRequest.mostSources) {
            let source: DownloadURL
            do { source = try DownloadURL(url) } catch { throw Self.damaged(error.reason) }
            guard source.credentials == nil else { throw Self.damaged(Reason(.hasCredentials)) }
            sources.append(source)
        }
        var checksum: Checksum?
        if let text = try fields.text("checksum") {
            do { checksum = try Checksum(parsing: text) } catch { throw Self.damaged(error.reason) }
        }
        try self.init(
            id: DownloadID(rawValue: fields.text("id") ?? ""), sources: sources,
            partPath: fields.text("partPath") ?? "", relativePath: fields.text("relativePath"),
            totalBytes: fields.number("totalBytes"), completedBytes: fields.number("completedBytes") ?? -1,
            etag: fields.text("etag"), lastModified: fields.text("lastModified"), checksum: checksum,
            created: Date(timeIntervalSince1970: Double(fields.number("created") ?? 0)))
    }

    var sealed: PlainJSON {
        var object: [String: PlainJSON] = [
            "format": .text(Self.format),
            "version": .number(Int64(version)),
            "id": .text(id.rawValue),
            "urls": .list(sources.map { .text($0.text) }),
            "partPath": .text(partPath),
            "completedBytes": .number(completedBytes),
            "created": .number(Int64(created.timeIntervalSince1970)),
        ]
        object["relativePath"] = relativePath.map { .text($0) }
        object["totalBytes"] = totalBytes.map { .number($0) }
        object["etag"] = etag.map { .text($0) }
        object["lastModified"] = lastModified.map { .text($0) }
        object["checksum"] = checksum.map { .text($0.description) }
        object["seal"] = .text(Self.seal(of: object))
        return .object(object)
    }

    /// The CRC-32 as eight hexadecimal digits.
    private static func seal(of object: [String: PlainJSON]) -> String {
        let checksum = CRC32.checksum(PlainJSON.object(object).text.utf8)
        return HexText.string((0..<4).map { UInt8(truncatingIfNeeded: checksum >> (24 - 8 * UInt32($0))) })
    }

    static func damaged(_ detail: Reason) -> DownloadError {
        DownloadError(
            .notResumable, ErrorPhrase(.resumeDataDamaged, detail), suggestion: ErrorPhrase(.startAnew))
    }

    private static func foreign(_ detail: Reason) -> DownloadError {
        DownloadError(
            .notResumable, ErrorPhrase(.resumeDataForeign, detail), suggestion: ErrorPhrase(.startAnew))
    }
}

/// Reads optional members; throws if a member has another type.
private struct Fields {
    let object: [String: PlainJSON]

    func text(_ key: String) throws(DownloadError) -> String? {
        switch object[key] {
        case .text(let text): return text
        case nil, .null: return nil
        default: throw ResumeData.damaged(Reason(.noText, key))
        }
    }

    func number(_ key: String) throws(DownloadError) -> Int64? {
        switch object[key] {
        case .number(let number): return number
        case nil, .null: return nil
        default: throw ResumeData.damaged(Reason(.noNumber, key))
        }
    }

    func texts(_ key: String) throws(DownloadError) -> [String] {
        guard case .list(let list) = object[key] else { throw ResumeData.damaged(Reason(.noList, key)) }
        var texts: [String] = []
        for element in list {
            guard case .text(let text) = element else { throw ResumeData.damaged(Reason(.noTexts, key)) }
            texts.append(text)
        }
        return texts
    }
}

/// Encoded as the same JSON object as ``data``, including its seal.
extension ResumeData: Codable {
    public init(from decoder: any Decoder) throws {
        do throws(DownloadError) {
            let json: PlainJSON
            do { json = try PlainJSON(from: decoder) } catch { throw Self.damaged(Reason(.noWholeNumbers)) }
            try self.init(json)
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: error.message, underlyingError: error))
        }
    }

    public func encode(to encoder: any Encoder) throws { try sealed.encode(to: encoder) }
}
