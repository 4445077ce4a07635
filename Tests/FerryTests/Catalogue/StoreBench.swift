public import FerryCore
import FerryEngine
import Foundation
import HTTPTypes
import Synchronization

@testable import Ferry

/// The two stores.
enum StoreKind: String, CaseIterable, CustomStringConvertible {
    case memory, catalogue
    var description: String { rawValue }
}

/// A store in a directory of its own, and rows to put into it.
struct StoreBench: Sendable {
    let store: any DownloadStore
    let directory: String
    let complaints: Complaints

    /// The errors that a store has reported.
    final class Complaints: Sendable {
        private let all = Mutex<[DownloadError]>([])
        var errors: [DownloadError] { all.withLock { $0 } }
        func add(_ error: DownloadError) { all.withLock { $0.append(error) } }
    }

    /// Runs a body with a fresh store, which is closed and removed at its end.
    static func run(_ kind: StoreKind, _ body: (StoreBench) async throws -> Void) async throws {
        try await withDirectory { directory in
            let complaints = Complaints()
            let store: any DownloadStore =
                switch kind {
                case .memory: MemoryStore { complaints.add($0) }
                case .catalogue: try await open(directory, complaints).catalogue
                }
            try await body(StoreBench(store: store, directory: directory, complaints: complaints))
            await store.close()
        }
    }

    /// Runs a body with a fresh directory.
    static func withDirectory(_ body: (String) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/ferry-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await body(directory)
    }

    /// Opens the catalogue in `state` of a directory.
    static func open(
        _ directory: String, _ complaints: Complaints = Complaints(), downloads: String? = nil
    ) async throws(DownloadError) -> Catalogue.Opening {
        try await Catalogue.open(directory: directory + "/state", downloads: downloads ?? directory + "/files") {
            complaints.add($0)
        }
    }

    /// A date that is stored without rounding.
    static func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: 1_700_000_000 + seconds) }

    static func request(
        _ url: String = "https://example.com/a.bin", to destination: DownloadRequest.Destination = .directory("/dl")
    ) throws -> DownloadRequest {
        DownloadRequest(sources: [try DownloadURL(url)], destination: destination).stored
    }

    /// A row with the defaults of one that was just added.
    static func row(
        _ id: String, _ priority: Int = 0, _ position: Int64 = 0, state: DownloadState = .waiting(.slot),
        request: DownloadRequest? = nil, session: String = "app"
    ) throws -> CatalogueRow {
        CatalogueRow(
            id: DownloadID(rawValue: id), session: session, key: QueueKey(priority: priority, position: position),
            state: state, name: "a.bin", request: try request ?? self.request(), createdAt: date(0))
    }

    /// A row with a value in every field.
    static func fullRow(_ id: String, downloads: String = "/dl", state: DownloadState = .paused) throws -> CatalogueRow
    {
        var request = DownloadRequest(
            sources: [try DownloadURL("https://example.com/ä b?k=v&x=1"), try DownloadURL("http://mirror.example/c")],
            destination: .directory(downloads + "/sub", name: .exact("c d.bin")))
        request.onConflict = .overwrite
        request.headers[.accept] = "text/plain, */*"
        request.headers[.userAgent] = "me \"2\""
        request.checksum = Checksum(algorithm: .sha256, bytes: Array(repeating: 7, count: 32))
        request.checksumList = try DownloadURL("https://example.com/SHA256SUMS")
        request.maxConnections = 3
        request.rateLimit = 1000
        request.maxBytes = 1 << 60
        request.trust.strict = true
        request.syncsToDisk = false
        request.startsPaused = true
        request.notBefore = date(10.5)
        request.network = NetworkRule(allowsMetered: true, allowsConstrained: false)
        request.onDuplicate = .fail
        var row = CatalogueRow(
            id: DownloadID(rawValue: id), session: "com.example.app", key: QueueKey(priority: -3, position: -(1 << 40)),
            state: state, name: "c d.bin 文件", path: downloads + "/sub/c d.bin", part: downloads + "/sub/c d.bin.part",
            completedBytes: 5, totalBytes: 1 << 50, request: request.stored, label: "‘label’ 標籤",
            userInfo: ["a": "1", "空": "x\ny"], createdAt: date(1.25), attempts: 4)
        row.endedAt = date(2)
        row.retryAt = date(3.75)
        row.finished = finished(downloads + "/sub/c d.bin")
        row.published = PublishedFile(
            path: downloads + "/sub/c d.bin", device: .max, inode: .max, length: 9, modified: FileTime(seconds: .min))
        row.announced = PublishedFile(
            path: downloads + "/sub/x", device: 1, inode: 2, length: 3,
            modified: FileTime(seconds: 1_700_000_000, nanoseconds: 123_456_789))
        return row
    }

    static func finished(_ path: String, _ bytes: ByteCount = 9) -> FinishedDownload {
        FinishedDownload(
            path: path, totalBytes: bytes, proof: .strong, redactedFinalURL: "https://example.com/?…",
            contentType: "a/b",
            receivedBytes: 12, etag: "\"e\"", lastModified: "Mon, 01 Jan 2024 00:00:00 GMT")
    }

    static let error = DownloadError(
        .network, "no way to example.com", suggestion: "Look.", underlying: "refused",
        recovery: .transient(retryAfter: .seconds(7)))

    /// Every state.
    static let states: [DownloadState] = [
        .waiting(.slot), .waiting(.network), .waiting(.retry(at: date(5))), .waiting(.diskSpace), .waiting(.freshLink),
        .waiting(.credentials), .waiting(.notBefore(date(6))), .downloading, .verifying, .paused, .failed(error),
        .completed(.sampled), .cancelled,
    ]
}

extension DownloadStore {
    /// The identifiers in list order.
    func list(_ filter: RowFilter = .all, offset: Int = 0, limit: Int = 1000) async throws -> [String] {
        try await page(filter, offset: offset, limit: limit).map(\.id.rawValue)
    }

    func row(_ id: String) async throws -> CatalogueRow? { try await row(DownloadID(rawValue: id)) }
}

extension DownloadID: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(rawValue: value) }
}
