public import FerryCore
import FerryEngine
import SystemPackage

/// One file of a set, as the source of the set lists it.
public struct SetEntry: Sendable, Hashable {
    /// The relative path below the directory of the set. Each of its names can be used on this system.
    public let path: String
    /// The path that the source states, if it differs from `path`.
    let listedPath: String?
    /// Whether the path is exactly the one that the source states.
    var isExact: Bool { listedPath == nil }
    /// The URLs of the file: the source, then mirrors. Empty only if the set's source is a local directory.
    public var sources: [DownloadURL]
    /// The size of the file in bytes; `nil` if the source does not state it.
    public var totalBytes: ByteCount?
    /// The digest of the file; `nil` if the source does not state it.
    public var checksum: Checksum?
    /// The digests of the pieces of the file; `nil` if the source does not state them.
    public var pieces: PieceDigests?
    /// The ETag that the server is expected to send, verbatim.
    public var etag: String?
    /// The Last-Modified that the server is expected to send, verbatim.
    public var lastModified: String?

    /// The URLs without user info, as a record has them.
    var urls: [String] { sources.map { $0.with(nil).text } }
    /// The details of the file in an index page; `nil` if the page states none, and for other kinds of lists.
    var row: IndexRow?
    /// The local file of the entry; `nil` if the entry has URLs.
    var file: SourceFile?

    /// The date and size of the file in the list, as one text that changes with them; `nil` unless the list states both.
    var listed: String? { row?.text ?? lastModified.flatMap { date in totalBytes.map { "\(date) \($0)" } } }

    /// Creates an entry. For `safeNames`, see ``SyncOptions/safeNames``. Throws `invalidRequest` for a path that leads out of the
    /// directory, or if `sources` is empty.
    public init(
        path: String, sources: [DownloadURL], totalBytes: ByteCount? = nil, checksum: Checksum? = nil,
        safeNames: Bool = false
    ) throws(DownloadError) {
        guard let safe = SetPath.make(path, safeNames: safeNames) else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.notASetPath, TextError.quote(path)))
        }
        guard !sources.isEmpty else { throw DownloadError(.invalidRequest, ErrorPhrase(.noURL)) }
        (self.path, self.sources, self.totalBytes, self.checksum) = (safe, sources, totalBytes, checksum)
        listedPath = safe.hasSameBytes(as: path) ? nil : path
    }

    /// Creates an entry from the names of its path.
    init(names: [String], sources: [DownloadURL], safeNames: Bool) throws(DownloadError) {
        let listed = SetPath.listed(names)
        guard let safe = SetPath.make(names: names, safeNames: safeNames) else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.notASetPath, TextError.quote(listed)))
        }
        (path, self.sources) = (safe, sources)
        listedPath = safe.hasSameBytes(as: listed) ? nil : listed
    }

    /// Creates the entry of an object, or of a file that will be stored as one. Its path is the key below the prefix.
    init(key: String, sources: [DownloadURL], totalBytes: ByteCount?) throws(DownloadError) {
        guard SetPath.isKey(key) else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.notASetPath, TextError.quote(key)))
        }
        (path, listedPath, self.sources, self.totalBytes) = (key, nil, sources, totalBytes)
    }

    /// Creates the entry of a local file at a path below the directory of the source.
    init(_ file: SourceFile, at path: String, totalBytes: ByteCount, safeNames: Bool) throws(DownloadError) {
        let safe = safeNames ? SetPath.make(path, safeNames: true) : SetPath.isKey(path) ? path : nil
        guard let safe else { throw DownloadError(.invalidRequest, ErrorPhrase(.notAKey, path)) }
        (self.path, sources, self.totalBytes, self.file) = (safe, [], totalBytes, file)
        listedPath = safe.hasSameBytes(as: path) ? nil : path
    }

    /// The name of the file in messages: its URL or path.
    var name: String { sources.first.map { "\($0)" } ?? file?.path.string ?? path }

    /// The path that the source states, if it does not name the same file as `path`.
    var otherName: String? {
        guard var rest = listedPath?[...] else { return nil }
        while let shorter = rest.dropping(prefix: "./") { rest = shorter }
        return path.hasSameBytes(as: String(rest)) ? nil : listedPath
    }

    /// Whether both entries have the same URLs, which may be encoded differently, and the same local file.
    func hasSameSources(as other: SetEntry) -> Bool {
        file == other.file && sources.count == other.sources.count
            && zip(sources, other.sources).allSatisfy { $0 == $1 || $0.isEquivalent(to: $1) }
    }

    /// Whether one of the two entries is wrong about the size or the digest of the file.
    func contradicts(_ other: SetEntry) -> Bool {
        if let size = totalBytes, let otherSize = other.totalBytes, size != otherSize { return true }
        guard let checksum, let otherChecksum = other.checksum else { return false }
        return checksum.algorithm == otherChecksum.algorithm && checksum != otherChecksum
    }

    /// The path, compared by its bytes because canonically equivalent names are different files.
    var key: FilePath { FilePath(path) }
}

extension DownloadURL {
    /// Whether two URLs differ at most in which characters of the path are percent-encoded (RFC 3986 §6.2.2).
    fileprivate func isEquivalent(to other: DownloadURL) -> Bool {
        // An encoded slash is part of a name.
        func slashes(_ url: DownloadURL) -> Int { url.path.utf8.count { $0 == UInt8(ascii: "/") } }
        // allow(origin): decides whether two links lead to one file; nothing is sent.
        return origin == other.origin && query == other.query && slashes(self) == slashes(other)
            && PercentEncoding.decode(path.utf8) == PercentEncoding.decode(other.path.utf8)
    }
}

/// A local file, as listed from the source of a set.
struct SourceFile: Sendable, Hashable {
    /// The absolute path.
    var path: FilePath
    /// The directory of the source.
    var root: FilePath
    var modified: FileTime
}

extension FileRecord {
    /// The path, compared by its bytes.
    var key: FilePath { FilePath(path) }

    /// The order of the paths.
    static func precedes(_ one: FileRecord, _ other: FileRecord) -> Bool { SetPath.precedes(one.path, other.path) }

    /// Whether the file was fetched from the entry's source, for which alone its validators and its date in the list are valid.
    func isFrom(_ entry: SetEntry) -> Bool { urls.first == entry.urls.first }

    /// Sets the URLs. If the source differs, removes the fields that only the previous source stated.
    mutating func setURLs(_ urls: [String]) {
        if self.urls.first != urls.first { (etag, lastModified, listed) = (nil, nil, nil) }
        self.urls = urls
    }
}

/// Relative paths of files below the directory of a set. Each name is that of the source where this is possible.
enum SetPath {
    static let manifest = ReservedName.manifest.text
    private static let mostDirectories = 64
    private static let mostBytes = 2048

    /// Returns the path for this system; `nil` if `text` is absolute, leads out of the directory, or has no usable name.
    ///
    /// - Parameter safeNames: Whether each name is made safe for every file system (``SafeName``); otherwise it is kept
    ///   as far as this system and Ferry allow (``KeptName``).
    static func make(_ text: String, safeNames: Bool = false) -> String? {
        make(names: names(in: text), safeNames: safeNames)
    }

    /// Returns the names of a path, without those of the directory itself at its start.
    static func names(in text: String) -> [String] {
        var rest = text[...]
        while let shorter = rest.dropping(prefix: "./") { rest = shorter }
        return rest.split(at: "/", omittingEmptySubsequences: false).map(String.init)
    }

    /// Returns the name of a file whose path the list does not state: that in its URL.
    static func name(of url: DownloadURL) -> String {
        let bytes = url.lastPathSegment
        let name = NameText.decode(bytes) ?? String(decoding: bytes, as: UTF8.self)
        return name.isEmpty ? SafeName.make(nil, url: url, finalURL: nil) : name
    }

    /// Like ``make(_:safeNames:)``, for the names of a path. `/` and `\` within a name are not separators.
    static func make(names: [String], safeNames: Bool = false) -> String? {
        guard names.count <= mostDirectories + 1, names.reduce(names.count - 1, { $0 + $1.utf8.count }) <= mostBytes,
            names.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." })
        else { return nil }
        // The manifest does not count as a file of the set.
        if names.count == 1, names[0].hasSameBytes(as: manifest) { return nil }
        let kept = names.compactMap {
            safeNames ? SafeName.sanitize($0.replacing("/", by: "_").replacing("\\", by: "_")) : KeptName.make($0)
        }
        return kept.count == names.count ? kept.joined(separator: "/") : nil
    }

    /// Returns the path with these names as the source states it: with `%2F` for a `/` within a name.
    static func listed(_ names: [String]) -> String {
        names.map { $0.replacing("/", by: "%2F") }.joined(separator: "/")
    }

    /// Whether a path can be the key of an object of a set without changes, even if its names cannot be used for files. Such a
    /// path is not absolute, and has no `.`, `..` or control characters, which stores' lists and messages cannot contain.
    static func isKey(_ text: String) -> Bool {
        let parts = text.split(at: "/", omittingEmptySubsequences: false)
        guard parts.count <= mostDirectories + 1, text.utf8.count <= mostBytes,
            parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }),
            !text.hasSameBytes(as: manifest)
        else { return false }
        return text.unicodeScalars.allSatisfy {
            $0 != "\u{FFFD}" && !$0.properties.isNoncharacterCodePoint && $0.properties.generalCategory != .control
        }
    }

    /// The order of paths by their bytes, because canonically equivalent names are different files.
    static func precedes(_ one: String, _ other: String) -> Bool { one.utf8.lexicographicallyPrecedes(other.utf8) }

    /// Whether the file is one that Ferry keeps beside the files of a set. The source may contain such files if it is itself
    /// the copy of a set.
    static func isOwn(_ path: String) -> Bool { path.hasSameBytes(as: manifest) || isDigests(Paths.name(of: path)) }

    /// Whether a name is that of the digests of a file: `.NAME.ferry-digests`.
    static func isDigests(_ name: String) -> Bool {
        guard let rest = name.dropping(prefix: "."), let file = rest.dropping(suffix: ReservedName.digests.text) else {
            return false
        }
        return !file.isEmpty
    }

    /// Returns the names of the path of a URL relative to that of a directory; `nil` if the URL is not below the directory, or
    /// has a query.
    static func names(of url: DownloadURL, below root: DownloadURL) -> [String]? {
        // allow(origin): decides which links are files of the set; nothing is sent.
        guard url.origin == root.origin, url.query == nil, let rest = url.path.dropping(prefix: root.path),
            !rest.isEmpty
        else { return nil }
        // The names are decoded one by one, so that `%2F` is not a separator.
        let names = rest.split(at: "/").map { String(decoding: PercentEncoding.decode($0.utf8), as: UTF8.self) }
        return names.allSatisfy { $0 != "." && $0 != ".." } ? names : nil
    }
}

/// The source of a set, which lists its files.
public enum SetSource: Sendable, Hashable {
    /// A list or, if the path ends with `/`, an index page of a server with all files below it. For `s3://BUCKET/PREFIX`, all
    /// objects below the prefix.
    case url(DownloadURL)
    /// A list on this machine. `base` is the URL of the directory against which relative names are resolved.
    case file(String, base: DownloadURL? = nil)
    /// All files below a directory on this machine, which are stored as objects. The destination must be
    /// ``SyncDestination/objects(_:staging:)``. No link is followed, and Ferry's own files are left out.
    case directory(String)
    /// The given files.
    case entries([SetEntry])
}
