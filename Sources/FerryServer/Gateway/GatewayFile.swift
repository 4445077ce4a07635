import Crypto
import Ferry
import FerryCore
import HTTPTypes

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
    /// Whether a complete file is fetched again: the client wants no earlier one, and no digest has judged it.
    var isFresh = false
    /// The origin of the server's response to HEAD, after its redirects.
    var origin: Origin?

    /// The name in the cache, equal for all requests for the same bytes from the same URL. A digest alone does not make a
    /// name: what one server sends under it is not known to be another's file before it is complete and verified.
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
        request.label = url.path.split(at: "/").last.map { String($0.prefix(200)) }
        request.userInfo =
            request.hasSecrets ? origin.map { [Self.originMember: $0.description] } ?? [:] : Self.isOpen
        request.root = directory
        return request
    }

    /// The application data of a download that was added without secrets: the server gives its bytes to all.
    static let isOpen = ["access": "open"]
    /// The member of the application data of other downloads with the origin that the server has named.
    static let originMember = "origin"

    /// The application data of a download that goes on with the request of another client. What was begun with secrets stays
    /// private, also if a server then gives the rest without any: it has not said so of the bytes that are here.
    static func access(_ earlier: [String: String], continuedWith new: [String: String]) -> [String: String] {
        new == isOpen && earlier != isOpen ? earlier : new
    }

    /// Whether the server itself vouches to each client that the URL has this digest. An index of packages names files on
    /// any server.
    var isNamedByServer: Bool { kind == .hf || kind == .oci }

    /// Whether the bytes of another URL's download may answer a request for this file: they are complete and verified, and
    /// open to all or of the same server.
    func mayBe(_ other: DownloadSnapshot) -> Bool {
        guard let checksum, other.request.checksum == checksum, case .completed(.digest) = other.status.state else {
            return false
        }
        if other.request.userInfo == Self.isOpen { return true }
        // allow(origin): whose bytes they are; carries no secret.
        return isNamedByServer && other.request.sources.first?.origin == url.origin
    }
}

extension GatewayKind {
    /// The files in the cache's directories, with the identifiers of the downloads that they can belong to.
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
