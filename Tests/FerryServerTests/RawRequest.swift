import FerryCore
import Foundation

/// A request as another client may send it: any value in any member.
struct RawRequest: Encodable, Sendable {
    var id: String?
    var urls: [String]?
    var directory: String?
    var name: String?
    var path: String?
    var part: String?
    var onConflict: ConflictRule?
    var headers: HeaderList?
    var user: String?
    var password: String?
    var secretsOrigin: String?
    var checksum: String?
    var checksumList: String?
    var maxConnections: Int?
    var rateLimit: ByteCount?
    var maxBytes: ByteCount?
    var priority: Int?
    var startsPaused: Bool?
    var notBefore: Date?
    var allowsMetered: Bool?
    var allowsConstrained: Bool?
    var allowsPrivate: Bool?
    var label: String?
    var userInfo: [String: String]?
    var onDuplicate: DuplicateRule?
    var strict: Bool?
    var acceptsHTML: Bool?
    var syncsToDisk: Bool?
    var proxy: String?
    var certificates: String?
    var insecure: Bool?
    var userAgent: String?
    var cookies: String?
    var maxAttempts: Int?

    init(urls: [String] = []) { self.urls = urls }
}

/// Several such requests.
struct RawRequests: Encodable, Sendable {
    var downloads: [RawRequest]
    init(_ downloads: [RawRequest]) { self.downloads = downloads }
}
