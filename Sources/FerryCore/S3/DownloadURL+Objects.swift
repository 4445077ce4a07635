/// URLs of the form `s3://BUCKET/KEY`, which denote objects in a store. Unlike in other tools, the key is
/// percent-encoded: `%XX` is one byte of the key.
extension DownloadURL {
    /// Creates the URL of an object or, with an empty key, of the bucket; `nil` if the bucket's name is not valid.
    package init?(bucket: String, key: [UInt8]) {
        guard Self.isBucket(Array(bucket.utf8)[...]) else { return nil }
        self.init(
            scheme: .s3, host: bucket, port: Scheme.s3.defaultPort,
            path: "/" + ObjectText.encode(key, keepsSlash: true), query: nil, credentials: nil)
    }

    /// Whether the URL denotes an object, or objects with a common prefix.
    package var isObject: Bool { scheme == .s3 }

    /// The key of an object, which may be any bytes; empty for the bucket itself.
    package var objectKey: [UInt8] { PercentEncoding.decode(path.utf8.dropFirst()) }

    /// Returns the URL of the object whose key is the key of this URL followed by the text.
    package func appendingKey(_ text: String) -> DownloadURL {
        DownloadURL(
            scheme: scheme, host: host, port: port,
            path: path + ObjectText.encode(Array(text.utf8), keepsSlash: true), query: nil, credentials: nil)
    }

    /// Returns the URL with these parameters as its query.
    package func with(query parameters: [(name: String, value: String)]) -> DownloadURL {
        DownloadURL(
            scheme: scheme, host: host, port: port, path: path, query: ObjectText.query(parameters),
            credentials: credentials)
    }

    /// Parses the text after the bucket of an `s3` URL. Dot segments are refused: servers and proxies interpret them
    /// differently, so the server may not receive the path that was signed.
    static func parseObject(
        _ rest: ArraySlice<UInt8>, bucket: ArraySlice<UInt8>
    ) throws(Defect) -> DownloadURL {
        guard isBucket(bucket) else { throw Defect(.urlBucket) }
        let (path, query) = splitPath(rest)
        let isPlain = query.map { $0.starts(with: "versionId=".utf8) && !$0.contains(UInt8(ascii: "&")) } ?? true
        guard isPlain else { throw Defect(.urlObjectQuery) }
        for segment in PercentEncoding.decode(path).split(separator: UInt8(ascii: "/"))
        where segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8) {
            throw Defect(.urlObjectPath)
        }
        let encoded = PercentEncoding.encode(path, allowsQuestionMark: false)
        return DownloadURL(
            scheme: .s3, host: String(decoding: bucket, as: UTF8.self), port: Scheme.s3.defaultPort,
            path: encoded.isEmpty ? "/" : encoded,
            query: query.map { PercentEncoding.encode($0, allowsQuestionMark: true) }, credentials: nil)
    }

    /// Whether a bucket can have this name: 3 to 63 lower-case letters, digits, hyphens and dots, without two
    /// consecutive dots, and not an IPv4 address. The name becomes a part of host names and paths.
    static func isBucket(_ name: ArraySlice<UInt8>) -> Bool {
        guard (3...63).contains(name.count), let first = name.first, let last = name.last else { return false }
        func isWord(_ byte: UInt8) -> Bool {
            ASCII.isDigit(byte) || ASCII.isLetter(byte) && ASCII.lowercased(byte) == byte
        }
        guard isWord(first), isWord(last) else { return false }
        var before: UInt8 = 0
        for byte in name {
            guard isWord(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") else { return false }
            if byte == UInt8(ascii: "."), before == byte { return false }
            before = byte
        }
        return !HostName.isIPv4(String(decoding: name, as: UTF8.self))
    }
}
