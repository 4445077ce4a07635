import Ferry
import FerryCore
import FerryServer
import HTTPTypes
import NIOCore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The last page that an upstream has sent for each request, used while the upstream is down.
///
/// A page is stored under a keyed digest of its URL, the types that the client accepts, and the client's credentials, so that
/// no client receives content that was sent to others.
struct GatewayPages: Sendable {
    struct Page: Sendable {
        var head: ResponseHead
        var url: DownloadURL
        var bytes: ByteBuffer
        /// The page's share of the budget of all pages.
        var share: GatewayResponder.Holder
    }

    /// The error that is thrown if the budget has no room for a stored page.
    struct NoRoom: Error {}

    private struct Record: Codable {
        var url: String
        var fields: [[String]]
        var storedAt: Double
        /// The status of a head that is stored without content; `nil` for a page.
        var status: Int?
    }

    /// The maximum size of a stored page.
    static let mostBytes = 16 << 20
    private static let kept = [
        "Content-Type", "ETag", "Last-Modified", "Link", "Docker-Content-Digest", "Docker-Distribution-Api-Version",
        "X-PyPI-Last-Serial", "X-Repo-Commit", "X-Total-Count", "OCI-Subject", "OCI-Filters-Applied",
    ]

    /// The stored fields of the head of a file from the hub (Hugging Face).
    private static let keptOfFiles = kept + ["X-Linked-Etag", "X-Linked-Size", "Content-Length"]

    let directory: String
    private let key: GatewayLink.Key
    /// The tags of pages that were written since the start, so that unchanged pages are not written again.
    private let tags = Tags()

    private final class Tags: Sendable {
        private let known = Mutex(RecentValues<String, String>(capacity: 10_000))

        subscript(name: String) -> String? { known.withLock { $0[name] } }
        func wrote(_ tag: String, of name: String) { known.withLock { $0[name] = tag } }
    }

    init(in directory: String, key: GatewayLink.Key) throws(DownloadError) {
        (self.directory, self.key) = (directory, key)
        try PrivateFile.makeDirectory(directory)
    }

    /// Returns the name of a page, or of the head of a file.
    func name(_ url: DownloadURL, _ fields: HTTPFields, isHead: Bool = false) -> String {
        var parts = isHead ? ["HEAD", url.text] : [url.text]
        for name in [HTTPField.Name.accept, .authorization, .cookie] { parts += fields[values: name] + [""] }
        return key.code(parts.joined(separator: "\n"))
    }

    /// Stores a page, unless its server forbids that. A failure is ignored, because the page has been sent.
    func keep(_ name: String, _ answer: GatewayAnswer, _ bytes: ByteBuffer, at date: Date) async {
        guard case .upstream = answer.body, answer.head.status == 200, bytes.readableBytes <= Self.mostBytes,
            answer.head.single(.cacheControl)?.lowercased().utf8.contains("no-store") != true
        else { return }
        await write(name, answer, nil, Self.kept, bytes, tag: answer.head.single(.eTag), at: date)
    }

    /// Stores the head that describes a file. A failure is ignored.
    func keepHead(_ name: String, _ answer: GatewayAnswer, tag: String, at date: Date) async {
        guard case .upstream = answer.body else { return }
        await write(name, answer, answer.head.status, Self.keptOfFiles, ByteBuffer(), tag: tag, at: date)
    }

    private func write(
        _ name: String, _ answer: GatewayAnswer, _ status: Int?, _ kept: [String], _ bytes: ByteBuffer, tag: String?,
        at date: Date
    ) async {
        if let tag, tags[name] == tag {
            // Renews the date, because a sweep removes the pages that have not been used for longest. A head that has been
            // removed is written again.
            let path = "\(directory)/\(name)"
            let isThere = await onFileThread {
                (try? FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)) != nil
            }
            if isThere { return }
        }
        let fields = kept.compactMap { name in
            HTTPField.Name(name).flatMap { answer.head.single($0) }.map { [name, $0] }
        }
        let record = Record(url: answer.url.text, fields: fields, storedAt: date.timeIntervalSince1970, status: status)
        guard let head = try? JSONCoding.encode(record) else { return }
        let data = head + Data([UInt8(ascii: "\n")]) + Data(bytes.readableBytesView)
        let path = "\(directory)/\(name)"
        let isWritten = await onFileThread {
            (try? data.write(to: URL(fileURLWithPath: path), options: .atomic)) != nil
        }
        if isWritten, let tag { tags.wrote(tag, of: name) }
    }

    /// Returns the stored page; `nil` if there is none.
    ///
    /// - Parameter share: The share of the budget to which the bytes are charged before they are read.
    func page(
        _ name: String, isStale: Bool, at date: Date, _ share: consuming BodyBudget.Share
    ) async throws(NoRoom) -> Page? {
        let path = "\(directory)/\(name)"
        let most = Self.mostBytes + 65_536
        guard let size = await onFileThread({ FileFacts(path)?.size }), size <= most else { return nil }
        guard share.take(Int(size)) else { throw NoRoom() }
        let holder = GatewayResponder.Holder(share: share)
        let data = await onFileThread { () -> Data? in
            // The file may have been replaced by another page meanwhile.
            guard FileFacts(path)?.size == size else { return nil }
            return FileManager.default.contents(atPath: path)
        }
        guard let data, let end = data.firstIndex(of: UInt8(ascii: "\n")),
            let record = try? JSONCoding.decode(Record.self, from: Data(data[..<end])),
            let url = try? DownloadURL(record.url)
        else { return nil }
        var fields = HTTPFields()
        for pair in record.fields where pair.count == 2 {
            if let name = HTTPField.Name(pair[0]) { fields[name] = pair[1] }
        }
        let bytes = ByteBuffer(bytes: data[(end + 1)...])
        if record.status == nil { fields[.contentLength] = String(bytes.readableBytes) }
        if isStale {
            if let name = HTTPField.Name("Warning") { fields[name] = GatewayAnswer.stale }
            fields[.age] = String(max(0, Int(date.timeIntervalSince1970 - record.storedAt)))
        }
        return Page(
            head: ResponseHead(status: record.status ?? 200, headers: fields), url: url, bytes: bytes, share: holder)
    }

    /// Removes pages that were last written or renewed before `date`, and the oldest pages until the rest has at most `most`
    /// bytes. Blocks.
    func sweep(before date: Date, most: ByteCount) {
        let files = FileManager.default
        let all = ((try? files.contentsOfDirectory(atPath: directory)) ?? []).compactMap {
            name -> (path: String, size: ByteCount, date: Date)? in
            let path = "\(directory)/\(name)"
            return FileFacts(path).map { (path, ByteCount($0.size), $0.date) }
        }
        var left = all.map(\.size).sum
        for file in all.sorted(by: { $0.date < $1.date }) where file.date < date || left > most {
            if (try? files.removeItem(atPath: file.path)) != nil { left -= file.size }
        }
    }
}

/// The bytes of a stored page, returned only once.
final class KeptBytes: Sendable {
    private let bytes: Mutex<ByteBuffer?>
    private let share: GatewayResponder.Holder

    init(_ bytes: ByteBuffer, _ share: GatewayResponder.Holder) {
        self.bytes = Mutex(bytes.readableBytes > 0 ? bytes : nil)
        self.share = share
    }

    func take() -> ByteBuffer? {
        bytes.withLock { bytes in
            defer { bytes = nil }
            return bytes
        }
    }
}

/// A copy of a page that is being passed on, with its share of the budget. The copy is dropped if the page is too large, the
/// budget has no room, or the time limit has passed.
struct PageCopy: ~Copyable {
    private var share: BodyBudget.Share
    private let until: ContinuousClock.Instant
    private var copied = ByteBuffer()
    private var isWanted: Bool

    init(_ share: consuming BodyBudget.Share, until: ContinuousClock.Instant, isWanted: Bool) {
        (self.until, self.isWanted) = (until, isWanted)
        self.share = share
    }

    /// The bytes so far; `nil` if there is no copy.
    var bytes: ByteBuffer? { isWanted ? copied : nil }

    mutating func add(_ piece: ByteBuffer, at now: ContinuousClock.Instant) {
        guard isWanted else { return }
        guard now < until, piece.readableBytes <= GatewayPages.mostBytes - copied.readableBytes,
            share.take(piece.readableBytes)
        else { return end() }
        copied.writeImmutableBuffer(piece)
    }

    /// Releases the memory.
    mutating func end() {
        (isWanted, copied) = (false, ByteBuffer())
        share.giveBack()
    }
}
