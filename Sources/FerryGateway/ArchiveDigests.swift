import Crypto
import Ferry
import FerryCore
import FerryServer
import Logging
import NIOCore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The SHA-256 digests of files from the indexes of Debian archives: `Release` has the digests of indexes, `Packages` and
/// `Sources` have those of packages.
///
///     an index is forwarded → its digest matches its name or a Release → a table on the disk → digest(of:)
///
/// - An index is read only if its own digest is known. Signatures are checked by apt.
/// - Indexes are read one after the other, in the order in which they were received; ``digest(of:)`` waits for the indexes
///   received before the call.
/// - A table is replaced by the table of a later index of the same directory, and outlives the daemon.
final class ArchiveDigests: Sendable {
    /// The bytes of an index.
    enum Source: Sendable {
        /// The unchanged content of a response that was passed on.
        case passed(ByteBuffer)
        /// A file that has been compared with the digest in its name.
        case file(path: String, digest: Checksum)

        fileprivate var bytes: Int { if case .passed(let bytes) = self { bytes.readableBytes } else { 0 } }
    }

    private struct Job {
        let url: DownloadURL
        let source: Source
    }
    private struct State {
        var jobs: [Job] = []
        var isReading = false
        /// Whether no more indexes are read.
        var isClosed = false
    }
    private let state = Mutex(State())
    private let changes = AsyncEvent()
    private let tables: ArchiveTables
    private let logger: Logger

    /// The maximum number of waiting indexes, and of their bytes. Further indexes are dropped.
    private static let mostJobs = 100
    private static let mostWaitingBytes = 64 << 20

    /// Throws `disk` if the directory cannot be created, or is not this user's own.
    init(in directory: String, logger: Logger) throws(DownloadError) {
        tables = try ArchiveTables(in: directory)
        self.logger = logger
    }

    /// Adds a complete index. Files that are not indexes are ignored.
    func add(_ url: DownloadURL, _ source: Source) {
        guard let place = ArchivePlace(url), ArchiveIndex.Kind(place.path) != nil else { return }
        let isTaken = state.withLock { state in
            guard !state.isClosed, state.jobs.count < Self.mostJobs,
                state.jobs.reduce(source.bytes, { $0 + $1.source.bytes }) <= Self.mostWaitingBytes
            else { return false }
            state.jobs.append(Job(url: url, source: source))
            return true
        }
        guard isTaken else {
            logger.notice("an index of an archive is not read: too many wait", metadata: ["url": "\(url.redacted)"])
            return
        }
        changes.notify()
    }

    /// Reports an index that was passed on without a copy.
    func leftOut(_ url: DownloadURL) {
        guard let place = ArchivePlace(url), ArchiveIndex.Kind(place.path) != nil else { return }
        logger.notice(
            "an index of an archive is not read: it is larger than \(GatewayPages.mostBytes >> 20) MiB, slow, or there is no room",
            metadata: ["url": "\(url.redacted)"])
    }

    /// Returns the digest of a file of an archive; `nil` if no index lists the file.
    func digest(of url: DownloadURL) async -> Checksum? {
        while !Task.isCancelled {
            let seen = changes.count
            guard state.withLock({ !$0.isClosed && ($0.isReading || !$0.jobs.isEmpty) }) else { break }
            await changes.wait(after: seen)
        }
        return await onFileThread { [tables] in tables.digest(of: url) }
    }

    /// Reads indexes as they are added, until cancelled.
    func run() async {
        while !Task.isCancelled {
            let seen = changes.count
            let job = state.withLock { state -> Job? in
                guard !state.jobs.isEmpty else { return nil }
                state.isReading = true
                return state.jobs.removeFirst()
            }
            guard let job else {
                await changes.wait(after: seen)
                continue
            }
            await read(job)
            state.withLock { $0.isReading = false }
            changes.notify()
        }
        state.withLock { ($0.isClosed, $0.jobs) = (true, []) }
        changes.notify()
    }

    private func read(_ job: Job) async {
        let count: Int?
        do {
            count = try await onFileThread { [tables] () throws(ExpansionError) in try tables.read(job.url, job.source)
            }
        } catch {
            logger.notice(
                "an index of an archive cannot be read",
                metadata: ["url": "\(job.url.redacted)", "reason": "\(error)"])
            return
        }
        if let count {
            logger.info(
                "an index of an archive is read",
                metadata: ["url": "\(job.url.redacted)", "digests": "\(count)"])
        }
    }

    /// Removes the oldest tables until the rest has at most `most` bytes. Blocks.
    func sweep(most: ByteCount) { tables.sweep(most: most) }
}

/// A file of an archive, such as `http://host/debian/` and `dists/stable/InRelease`.
struct ArchivePlace: Sendable, Hashable {
    /// The percent-decoded URL to which the paths in indexes are relative.
    let root: [UInt8]
    /// The path below `root`.
    let path: Substring

    /// Returns `nil` for a URL that is not below the `dists/` of an archive.
    init?(_ url: DownloadURL) {
        guard url.query == nil else { return nil }
        let parts = url.path.split(at: "/", omittingEmptySubsequences: false)
        guard let index = parts.firstIndex(where: { $0.hasSameBytes(as: "dists") }) else { return nil }
        path = parts[index].base[parts[index].startIndex...]
        root = Self.name(url.origin, url.path[..<parts[index].startIndex].utf8)
    }

    /// Returns the name of a file in the tables, which is the same for different spellings of a URL.
    static func name(_ origin: Origin, _ path: some Collection<UInt8>) -> [UInt8] {
        Array("\(origin)\n".utf8) + PercentEncoding.decode(path)
    }

    /// Returns the name of a file that is listed in the index at this place.
    func name(_ entry: [UInt8], in kind: ArchiveIndex.Kind) -> [UInt8] {
        // allow(bytes): of bytes
        let path = entry.starts(with: "./".utf8) ? entry.dropFirst(2) : entry[...]
        switch kind {
        case .packages: return root + path
        case .release: return directory + path
        }
    }

    /// The directory of the file; for a file below `by-hash`, the directory above `by-hash`.
    var directory: [UInt8] {
        var parts = path.split(at: "/").dropLast()
        if parts.suffix(2).elementsEqual(["by-hash", "SHA256"]) { parts = parts.dropLast(2) }
        return root + PercentEncoding.decode(Array((parts.joined(separator: "/") + "/").utf8))
    }
}

/// Tables of digests on the disk: one file for each index, with records that are sorted by the hashes of the names. Blocks.
struct ArchiveTables: Sendable {
    private struct Record {
        var key: (UInt64, UInt64)
        var digest: (UInt64, UInt64, UInt64, UInt64)

        static func precedes(_ a: Record, _ b: Record) -> Bool { a.key < b.key }
    }
    private let directory: String

    /// The limits for one index: its bytes as received, its expanded content, and the files that it lists.
    static let mostBytes = 64 << 20
    static let mostContentBytes = 512 << 20
    private static let mostEntries = 500_000

    private static let magic = Array("ferry digests 1\n".utf8)
    private static let headBytes = 16 + 32
    private static let recordBytes = 16 + 32

    init(in directory: String) throws(DownloadError) {
        self.directory = directory
        try PrivateFile.makeDirectory(directory)
    }

    // MARK: Reading

    /// Returns the digest of a file from the newest table that contains it.
    func digest(of url: DownloadURL) -> Checksum? {
        guard url.query == nil else { return nil }
        return digest(ofName: ArchivePlace.name(url.origin, url.path.utf8), at: url.origin)
    }

    private func digest(ofName name: [UInt8], at origin: Origin) -> Checksum? {
        let prefix = Self.code(Array("\(origin)".utf8), bytes: 8)
        let key = Self.key(name)
        var found: (date: Date, digest: Checksum)?
        for path in paths() where path.split(at: "/").last?.utf8.hasPrefix(prefix) == true {
            guard let table = try? Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped),
                let digest = Self.digest(of: key, in: table)
            else { continue }
            let date = FileFacts(path)?.date ?? Date(timeIntervalSince1970: 0)
            if found.map({ $0.date < date }) ?? true { found = (date, digest) }
        }
        return found?.digest
    }

    private static func digest(of key: (UInt64, UInt64), in table: Data) -> Checksum? {
        guard table.count >= headBytes, table.prefix(16).elementsEqual(magic) else { return nil }
        return table.withUnsafeBytes { bytes in
            func word(_ offset: Int) -> UInt64 {
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            var (low, high) = (0, (bytes.count - headBytes) / recordBytes)
            while low < high {
                let middle = (low + high) / 2
                let start = headBytes + middle * recordBytes
                let found = (word(start), word(start + 8))
                if found == key {
                    return Checksum(algorithm: .sha256, bytes: Array(bytes[(start + 16)..<(start + 48)]))
                }
                if found < key { low = middle + 1 } else { high = middle }
            }
            return nil
        }
    }

    // MARK: Writing

    /// Writes the table of an index. Returns the number of its files; `nil` if the digest of the index is not known, or if it
    /// was already read.
    func read(_ url: DownloadURL, _ source: ArchiveDigests.Source) throws(ExpansionError) -> Int? {
        guard let place = ArchivePlace(url), let kind = ArchiveIndex.Kind(place.path) else { return nil }
        let path =
            "\(directory)/\(Self.code(Array("\(url.origin)".utf8), bytes: 8))-\(Self.code(place.directory, bytes: 16))"
        let file: [UInt8]
        let digest: [UInt8]
        switch source {
        case .passed(let bytes):
            file = Array(bytes.readableBytesView)
            digest = Array(SHA256.hash(data: file))
            let named = kind == .release ? nil : self.digest(of: url)
            guard kind == .release || named?.bytes == digest else { return nil }
        case .file(let filePath, let checksum):
            digest = checksum.bytes
            guard !isMade(path, of: digest) else { return nil }
            guard let size = FileFacts(filePath)?.size else { return nil }
            guard size <= Self.mostBytes else { throw .tooLarge }
            guard let data = FileManager.default.contents(atPath: filePath),
                Array(SHA256.hash(data: data)) == digest
            else { return nil }
            file = Array(data)
        }
        guard !isMade(path, of: digest) else { return nil }
        let records = try Self.records(of: file, kind, at: place)
        guard !records.isEmpty else { return nil }
        write(records, of: digest, to: path)
        return records.count
    }

    private func isMade(_ path: String, of digest: [UInt8]) -> Bool {
        let table = try? Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
        return table?.prefix(Self.headBytes).elementsEqual(Self.magic + digest) == true
    }

    private static func records(
        of file: [UInt8], _ kind: ArchiveIndex.Kind, at place: ArchivePlace
    ) throws(ExpansionError) -> [Record] {
        var content = try ExpandedFile(file, most: mostContentBytes)
        var reader = ArchiveIndex.Reader(kind)
        var records: [Record] = []
        func take(_ entry: ArchiveIndex.Entry) {
            guard records.count < mostEntries else { return }
            func word(_ index: Int) -> UInt64 {
                entry.digest[index * 8..<index * 8 + 8].reduce(0) { $0 << 8 | UInt64($1) }
            }
            records.append(
                Record(key: key(place.name(entry.path, in: kind)), digest: (word(0), word(1), word(2), word(3))))
        }
        while let piece = try content.next() { reader.read(piece, take) }
        reader.finish(take)
        return records.sorted(by: Record.precedes)
    }

    private func write(_ records: [Record], of digest: [UInt8], to path: String) {
        var bytes = Self.magic + digest
        bytes.reserveCapacity(Self.headBytes + records.count * Self.recordBytes)
        for record in records {
            let (key, digest) = (record.key, record.digest)
            for word in [key.0, key.1, digest.0, digest.1, digest.2, digest.3] {
                for shift in stride(from: 56, through: 0, by: -8) {
                    bytes.append(UInt8(truncatingIfNeeded: word >> shift))
                }
            }
        }
        // If the table cannot be written, its digests remain unknown.
        try? Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    func sweep(most: ByteCount) {
        let all = paths().compactMap { path in FileFacts(path).map { (path: path, size: $0.size, date: $0.date) }
        }
        var left = all.map { ByteCount($0.size) }.sum
        for table in all.sorted(by: { $0.date < $1.date }) where left > most {
            if (try? FileManager.default.removeItem(atPath: table.path)) != nil { left -= ByteCount(table.size) }
        }
    }

    // MARK: Names

    private func paths() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).map { "\(directory)/\($0)" }
    }

    private static func code(_ name: [UInt8], bytes: Int) -> String {
        HexText.string(SHA256.hash(data: name).prefix(bytes))
    }

    private static func key(_ name: [UInt8]) -> (UInt64, UInt64) {
        let digest = Array(SHA256.hash(data: name))
        func word(_ start: Int) -> UInt64 { digest[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        return (word(0), word(8))
    }
}
