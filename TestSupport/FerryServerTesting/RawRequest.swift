package import FerryCore
package import Foundation

/// A request as another client may send it: any value in any member.
package struct RawRequest: Encodable, Sendable {
    package var id: String?
    package var urls: [String]?
    package var directory: String?
    package var name: String?
    package var path: String?
    package var part: String?
    package var onConflict: ConflictRule?
    package var headers: HeaderList?
    package var user: String?
    package var password: String?
    package var secretsOrigin: String?
    package var checksum: String?
    package var checksumList: String?
    package var maxConnections: Int?
    package var rateLimit: ByteCount?
    package var maxBytes: ByteCount?
    package var priority: Int?
    package var startsPaused: Bool?
    package var notBefore: Date?
    package var allowsMetered: Bool?
    package var allowsConstrained: Bool?
    package var allowsPrivate: Bool?
    package var label: String?
    package var userInfo: [String: String]?
    package var onDuplicate: DuplicateRule?
    package var strict: Bool?
    package var acceptsHTML: Bool?
    package var syncsToDisk: Bool?
    package var proxy: String?
    package var certificates: String?
    package var insecure: Bool?
    package var userAgent: String?
    package var cookies: String?
    package var maxRetries: Int?

    package init(urls: [String] = []) { self.urls = urls }
}

/// Several raw requests.
package struct RawRequests: Encodable, Sendable {
    package var downloads: [RawRequest]
    package init(_ downloads: [RawRequest]) { self.downloads = downloads }
}
