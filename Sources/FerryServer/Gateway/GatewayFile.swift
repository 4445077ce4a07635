import Crypto
import FerryCore
import HTTPTypes

/// A file that a client asks the gateway for.
struct GatewayFile: Sendable {
    var kind: GatewayKind
    /// Where it is downloaded from.
    var url: DownloadURL
    /// The digest that the protocol carries.
    var checksum: Checksum?
    /// What else tells versions of the file apart: its validators, without a digest.
    var version = ""
    var size: ByteCount?
    /// The client's fields for the origin of ``url``.
    var headers: HTTPFields
    var allowsPrivate: Bool

    /// The name in the cache, equal for all requests for the same bytes: by the digest, else by URL and version.
    var key: String {
        let text = checksum.map { "\($0)" } ?? "\(url.text)\n\(version)"
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
        request.label = url.path.split(at: "/").last.map { String($0.prefix(200)) }
        request.userInfo = request.hasSecrets ? [:] : Self.isOpen
        request.root = directory
        return request
    }

    /// The application data of a download that was added without secrets: the server gives its bytes to all.
    static let isOpen = ["access": "open"]
}
