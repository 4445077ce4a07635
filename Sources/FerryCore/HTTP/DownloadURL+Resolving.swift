extension DownloadURL {
    /// Resolves a reference, such as a Location field, against this URL (RFC 3986 §5.3).
    ///
    /// The result has no credentials, neither of the reference nor of this URL: senders decide by ``origin``. An empty
    /// reference is this URL. A scheme other than http and https is an error.
    package func resolving(_ reference: String) throws(DownloadError) -> DownloadURL {
        do {
            let resolved = try target(of: Self.trimmed(reference)).checkingLength()
            return DownloadURL(
                scheme: resolved.scheme, host: resolved.host, port: resolved.port, path: resolved.path,
                query: resolved.query, credentials: nil)
        } catch {
            throw DownloadError(.invalidRequest, ErrorPhrase(.urlProblem, Self.quoted(reference), error.phrase))
        }
    }

    private func target(of bytes: ArraySlice<UInt8>) throws(Defect) -> DownloadURL {
        let slashes = [UInt8(ascii: "/"), UInt8(ascii: "/")]
        if bytes.starts(with: slashes) { return try Self.parse(afterSlashes: bytes.dropFirst(2), scheme: scheme) }
        if Self.splitScheme(bytes) != nil { return try Self.parse(bytes) }
        let (referencePath, referenceQuery) = Self.splitPath(bytes)
        let encoded = PercentEncoding.encode(referencePath, allowsQuestionMark: false)
        let newQuery = referenceQuery.map { PercentEncoding.encode($0, allowsQuestionMark: true) }
        if encoded.isEmpty {
            return DownloadURL(
                scheme: scheme, host: host, port: port, path: path, query: newQuery ?? query, credentials: nil)
        }
        let bytesOfPath = path.utf8
        let folderEnd = bytesOfPath.lastIndex(of: UInt8(ascii: "/")).map(bytesOfPath.index(after:))
        let merged =
            encoded.utf8.first == UInt8(ascii: "/")
            ? encoded : String(path[..<(folderEnd ?? path.endIndex)]) + encoded
        return DownloadURL(
            scheme: scheme, host: host, port: port, path: Self.removingDotSegments(merged), query: newQuery,
            credentials: nil)
    }

    /// Removes dot segments (RFC 3986 §5.2.4); the result starts with `/`.
    static func removingDotSegments(_ path: String) -> String {
        let bytes = Array(path.utf8)
        var segments: [ArraySlice<UInt8>] = []
        var endsInFolder = true
        let rest = bytes.first == UInt8(ascii: "/") ? bytes.dropFirst() : bytes[...]
        for segment in rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            let isDot = segment.elementsEqual(".".utf8)
            let isDoubleDot = segment.elementsEqual("..".utf8)
            if isDoubleDot { segments.removeLast(segments.isEmpty ? 0 : 1) }
            endsInFolder = isDot || isDoubleDot
            if !endsInFolder { segments.append(segment) }
        }
        if endsInFolder { segments.append([]) }
        return "/" + String(decoding: Array(segments.joined(separator: [UInt8(ascii: "/")])), as: UTF8.self)
    }
}
