/// The files of a Metalink document (RFC 5854), each as the entry of a list: its URLs by priority, its strongest
/// digest, and its size.
///
/// The name of a file is sanitized, because the document's author chose it. URLs with schemes other than http and
/// https, digests of unknown algorithms, and all other elements are ignored.
package struct Metalink: Sendable, Hashable {
    /// The files in order, including those that cannot be used, each with the line of its element.
    package let items: [URLList.Item]

    /// The namespace of Metalink 4.
    private static let namespace = "urn:ietf:params:xml:ns:metalink"
    /// The priority of a URL that declares none (RFC 5854 §4.2.16.2).
    private static let lowestPriority: ByteCount = 999_999
    /// The maximum number of directories in a name.
    private static let mostDirectories = 16

    /// Parses a document.
    ///
    /// - Throws: An error with its line, if the whole document is unusable. A file that cannot be used becomes a problem
    ///   in ``items``.
    package init(parsing document: some Collection<UInt8>) throws(TextError) {
        if Self.isPage(document) { throw TextError("this is a web page, not a list") }
        let root = try PlainXML(parsing: document)
        guard root.name == "metalink", root.namespace == Self.namespace else {
            throw TextError("this is not a Metalink document of version 4", line: root.line)
        }
        items = root.children(named: "file").map { file -> URLList.Item in
            do throws(TextError) { return .entry(try Self.entry(file)) } catch {
                return .problem(URLList.Problem(line: error.line ?? file.line, reason: error.reason))
            }
        }
        guard !items.isEmpty else { throw TextError("the document has no file", line: root.line) }
    }

    /// Returns the entry of the file that has one of these URLs, or of the only file.
    package func entry(of urls: [DownloadURL]) -> URLList.Entry? {
        let entries = items.compactMap { item in if case .entry(let entry) = item { entry } else { nil } }
        return entries.first { $0.urls.contains(where: urls.contains) } ?? (items.count == 1 ? entries.first : nil)
    }

    /// Whether a list that starts with these bytes is an XML document: a list of URLs never starts with `<`.
    package static func isDocument(_ bytes: some Collection<UInt8>) -> Bool {
        let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes.dropFirst(0)
        return bytes.first { !ASCII.isWhiteSpace($0) } == UInt8(ascii: "<")
    }

    private static func isPage(_ document: some Collection<UInt8>) -> Bool {
        let start = String(decoding: document.drop { $0 != UInt8(ascii: "<") }.prefix(14), as: UTF8.self).lowercased()
        return start.utf8.hasPrefix("<!doctype html") || start.utf8.hasPrefix("<html")
    }

    private static func entry(_ file: PlainXML) throws(TextError) -> URLList.Entry {
        let urls = file.children(named: "url").enumerated()
            .map { (priority: priority($0.element), order: $0.offset, text: $0.element.text.trimmedText) }
            .sorted { ($0.priority, $0.order) < ($1.priority, $1.order) }
            .compactMap { try? DownloadURL($0.text) }
        var distinct: [DownloadURL] = []
        for url in urls.prefix(10 * DownloadRequest.mostSources) where distinct.count < DownloadRequest.mostSources {
            if !distinct.contains(url) { distinct.append(url) }
        }
        guard !distinct.isEmpty else { throw TextError("the file has no URL of http or https") }
        var entry = URLList.Entry(urls: distinct, line: file.line)
        entry.out = try name(file.attributes["name"] ?? "")
        entry.checksum = try checksum(file.children(named: "hash"))
        if let size = file.child(named: "size") {
            guard let bytes = ASCII.size(Array(size.text.trimmedText.utf8)) else {
                throw TextError("the size of the file is not a number of bytes", line: size.line)
            }
            entry.size = bytes
        }
        do throws(TextError) { entry.pieces = try pieces(file, size: entry.size) } catch {
            if entry.checksum == nil { throw error }
        }
        return entry
    }

    private static func priority(_ url: PlainXML) -> ByteCount {
        let number = url.attributes["priority"].flatMap { ASCII.number($0.utf8) } ?? lowestPriority
        return 1...lowestPriority ~= number ? number : lowestPriority
    }

    /// Returns the name with each of its components sanitized, relative to the download's directory.
    private static func name(_ text: String) throws(TextError) -> String {
        let parts = text.split(at: "/", omittingEmptySubsequences: false)
        let isInside = parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
        let names = parts.compactMap { SafeName.sanitize(String($0)) }
        guard isInside, names.count == parts.count, names.count <= mostDirectories + 1 else {
            throw TextError("the name of the file is missing or leads out of its directory")
        }
        return names.joined(separator: "/")
    }

    /// Returns the strongest digest; `nil` if no algorithm is known.
    private static func checksum(_ hashes: [PlainXML]) throws(TextError) -> Checksum? {
        var strongest: Checksum?
        for hash in hashes {
            guard let algorithm = algorithm(hash) else { continue }
            guard let checksum = Checksum(algorithm: algorithm, bytes: digest(hash)) else {
                throw TextError("the digest of the file does not fit its algorithm", line: hash.line)
            }
            if let best = strongest, best.algorithm.strength >= algorithm.strength {
                guard best.algorithm != algorithm || best == checksum else {
                    throw TextError("the file has two digests of one algorithm", line: hash.line)
                }
            } else {
                strongest = checksum
            }
        }
        return strongest
    }

    /// Returns the digests of the pieces with the strongest known algorithm; `nil` if there are none, or more than
    /// ``PieceDigests/mostPieces``.
    private static func pieces(_ file: PlainXML, size: ByteCount?) throws(TextError) -> PieceDigests? {
        let usable = file.children(named: "pieces").compactMap { list in algorithm(list).map { (list, $0) } }
        guard let (list, algorithm) = usable.max(by: { $0.1.strength < $1.1.strength }) else { return nil }
        let hashes = list.children(named: "hash")
        guard hashes.count <= PieceDigests.mostPieces else { return nil }
        let digests = hashes.map(digest)
        let length = list.attributes["length"].flatMap { ASCII.size(Array($0.utf8)) } ?? 0
        guard digests.allSatisfy({ $0.count == algorithm.byteCount }),
            let pieces = PieceDigests(algorithm: algorithm, pieceBytes: length, digests: Array(digests.joined())),
            size.map(pieces.cover) ?? true
        else { throw TextError(ErrorPhrase(.unusablePieces), line: list.line) }
        return pieces
    }

    private static func algorithm(_ element: PlainXML) -> DigestAlgorithm? {
        element.attributes["type"].flatMap(DigestAlgorithm.init(name:))
    }

    private static func digest(_ hash: PlainXML) -> [UInt8] { HexText.bytes(Array(hash.text.trimmedText.utf8)) ?? [] }
}

extension DownloadRequest {
    /// Returns the requests for the files of a Metalink document (RFC 5854), each with its mirrors by priority, its
    /// digest and its size. Names in the document are sanitized, and the files are below `directory`.
    ///
    /// - Throws: `invalidRequest` if the document, or a file in it, cannot be used.
    public static func requests(
        metalink document: some Collection<UInt8>, directory: String
    ) throws(DownloadError) -> [DownloadRequest] {
        let metalink: Metalink
        do throws(TextError) { metalink = try Metalink(parsing: document) } catch {
            throw DownloadError(.invalidRequest, error.whole)
        }
        var requests: [DownloadRequest] = []
        for item in metalink.items {
            switch item {
            case .problem(let problem): throw DownloadError(.invalidRequest, problem.whole)
            case .entry(let entry):
                var request = DownloadRequest(
                    sources: entry.urls, destination: .file(Paths.join(directory, entry.out ?? "")))
                (request.checksum, request.expectedBytes, request.pieces) = (entry.checksum, entry.size, entry.pieces)
                requests.append(request)
            }
        }
        return requests
    }
}
