import Crypto
import Ferry
import FerryCore
import HTTPTypes

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A file that a client requests from the gateway.
struct GatewayFile: Sendable {
    var kind: GatewayKind
    /// The URL from which the file is downloaded.
    var url: DownloadURL
    /// The digest that is known from the protocol.
    var checksum: Checksum?
    /// The validators of the file, which distinguish its versions if there is no digest.
    var version = ""
    var size: ByteCount?
    /// The client's fields for the origin of ``url``.
    var headers: HTTPFields
    var allowsPrivate: Bool
    /// Whether a complete file is fetched again, because the client accepts no stored copy and no digest has verified it.
    var isFresh = false
    /// The origin of the server's response to HEAD, after redirects.
    var origin: Origin?

    /// The name in the cache, equal for all requests for the same bytes from the same URL. The name includes the URL because
    /// the bytes that one server sends for a digest may be sent for the URL of another server only when they are complete and
    /// verified.
    var key: String {
        let text = "\(url.text)\n\(checksum.map { "\($0)" } ?? version)"
        return HexText.string(SHA256.hash(data: Array("\(kind)\n\(text)".utf8)).prefix(16))
    }

    var id: DownloadID { DownloadID(rawValue: "gateway-" + key) }

    func request(in directory: String) -> DownloadRequest {
        var request = DownloadRequest(sources: [url], destination: .file("\(directory)/\(kind)/\(key)"))
        request.id = id
        request.headers = headers
        request.checksum = checksum
        request.expectedBytes = size
        request.onConflict = .overwrite
        request.trust.acceptsHTML = true
        request.usesServerTime = false
        request.network.allowsPrivate = allowsPrivate ? nil : false
        request.label = Self.name(of: url)
        request.userInfo =
            request.hasSecrets ? origin.map { [Self.originMember: $0.description] } ?? [:] : Self.isOpen
        request.root = directory
        return request
    }

    /// Returns the name of a file for users: the last segment of its URL, decoded unless that yields invalid UTF-8 or control
    /// characters. apt encodes characters such as `+` and `~`.
    static func name(of url: DownloadURL) -> String? {
        guard let segment = url.path.split(at: "/").last else { return nil }
        let bytes = PercentEncoding.decode(segment.utf8)
        let text = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F } ? String(validating: bytes, as: UTF8.self) : nil
        return String((text ?? String(segment)).prefix(200))
    }

    /// The application data of a download that was added without secrets, so that its bytes are public.
    static let isOpen = ["access": "open"]
    /// For other downloads, the key in the application data for the origin of the server's response to HEAD.
    static let originMember = "origin"

    /// Returns the application data of a download that continues with the request of another client. A download that was
    /// started with secrets stays private even if the server then sends the rest without them, because the bytes received
    /// before may not be public.
    static func access(_ earlier: [String: String], continuedWith new: [String: String]) -> [String: String] {
        new == isOpen && earlier != isOpen ? earlier : new
    }

    /// Whether a listed download fetches this file. A user may have changed its request.
    func isFetched(by request: DownloadRequest) -> Bool { request.sources == [url] && isVerified(by: request) }

    /// Whether a complete download with this request has been compared with the digest of the file.
    func isVerified(by request: DownloadRequest) -> Bool { request.checksum == checksum }

    /// Whether the server itself confirms to each client that the URL has this digest. An index of packages, in contrast, can
    /// name files on any server.
    var isNamedByServer: Bool { kind == .hf || kind == .oci }

    /// Whether the bytes of another URL's download may be sent for this file: they must be complete, verified, and either
    /// public or from the same server.
    func mayBe(_ other: DownloadSnapshot) -> Bool {
        guard let checksum, other.request.checksum == checksum, case .completed(.digest) = other.status.state else {
            return false
        }
        if other.request.userInfo == Self.isOpen { return true }
        // allow(origin): whose bytes they are; carries no secret.
        return isNamedByServer && other.request.sources.first?.origin == url.origin
    }
}

extension CatalogueRow {
    /// The name of a file of the cache for users. The label of a download that an earlier version has added is encoded.
    var fileName: String { request.sources.first.flatMap { GatewayFile.name(of: $0) } ?? label ?? name }
}

extension GatewayKind {
    /// Returns the files in the cache's directories, with the identifiers of the downloads to which they can belong.
    static func cachedFiles(in directory: String) -> [(path: String, id: String)] {
        allCases.flatMap { kind in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(directory)/\(kind)")) ?? []
            return names.compactMap { name -> (path: String, id: String)? in
                let key = name.split(at: ".").first ?? ""
                guard key.utf8.count == 32 else { return nil }
                return ("\(kind)/\(name)", "gateway-\(key)")
            }
        }
    }
}
