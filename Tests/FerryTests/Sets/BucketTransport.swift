import Foundation
import HTTPTypes
import NIOCore
import Synchronization

@testable import Ferry
@testable import FerryCore
@testable import FerryEngine

/// A store in memory that checks the digests of contents and the conditions of requests, as far as syncs use it: objects,
/// uploads of several parts, and lists. Other URLs are requested over HTTP.
final class BucketTransport: Transport {
    struct Object: Sendable {
        var bytes: [UInt8]
        /// The sizes of the parts that it was made of; `nil` of one that was stored whole.
        var parts: [Int]?

        var etag: String { "\"\(HexText.string(digest(.md5)))\(suffix)\"" }
        var checksum: String { Data(digest(.sha256)).base64EncodedString() + suffix }

        private var suffix: String { parts.map { "-\($0.count)" } ?? "" }

        private func digest(_ algorithm: DigestAlgorithm) -> [UInt8] {
            guard let parts else { return ByteDigest.of(bytes, algorithm) }
            var (digests, start): ([UInt8], Int) = ([], 0)
            for size in parts {
                digests += ByteDigest.of(Array(bytes[start..<start + size]), algorithm)
                start += size
            }
            return ByteDigest.of(digests, algorithm)
        }
    }

    private struct Upload {
        var key: String
        var parts: [Int: [UInt8]] = [:]
    }

    struct Asked: Sendable {
        var method: String
        var key: String
        var isList: Bool
        /// The query of a request for an upload of several parts: `uploads`, or with the number of the part; `nil` of others.
        var upload: String?
        var ifMatch: String?
        var ifNoneMatch: String?
        /// The fields of the user, as far as this store receives them.
        var userFields: HTTPFields
    }

    private struct State {
        var objects: [String: Object] = [:]
        var uploads: [String: Upload] = [:]
        var lastUpload = 0
        var isAbortRefused = false
        var asked: [Asked] = []
        var pieces: [String: [Int]] = [:]
        var before: (@Sendable (Asked, BucketTransport) -> Void)?
        var after: After?
    }

    private let state = Mutex(State())
    private let http: HTTPTransport

    init() {
        var settings = TransferSettings()
        settings.connectTimeout = .seconds(9000)
        http = HTTPTransport(settings)
    }

    /// Calls a closure before each request to the store is executed.
    func before(_ body: (@Sendable (Asked, BucketTransport) -> Void)?) { state.withLock { $0.before = body } }

    /// Changes the answer to a request to the store that has been executed, or throws in place of it.
    typealias After = @Sendable (Asked, inout ResponseHead) throws(TransferFailure) -> Void

    /// Calls a closure after each request to the store.
    func after(_ body: After?) { state.withLock { $0.after = body } }

    /// Whether uploads of several parts cannot be ended without an object.
    var isAbortRefused: Bool {
        get { state.withLock(\.isAbortRefused) }
        set { state.withLock { $0.isAbortRefused = newValue } }
    }

    var asked: [Asked] { state.withLock { $0.asked } }
    var keys: [String] { state.withLock { $0.objects.keys.sorted() } }
    /// The keys of the uploads of several parts that have not ended.
    var openUploads: [String] { state.withLock { $0.uploads.values.map(\.key).sorted() } }
    /// The sizes of the pieces in which contents were sent for a key.
    func pieces(_ key: String) -> [Int] { state.withLock { $0.pieces[key] ?? [] } }
    func object(_ key: String) -> Object? { state.withLock { $0.objects[key] } }

    /// Makes an object of parts, as others do.
    func put(_ key: String, parts: [[UInt8]]) {
        state.withLock { $0.objects[key] = Object(bytes: Array(parts.joined()), parts: parts.map(\.count)) }
    }

    /// The requests since the last call, without those for lists and the manifest.
    func takeAsked() -> [String] {
        state.withLock { state in
            defer { state.asked = [] }
            return state.asked.filter { !$0.isList && !$0.key.hasSuffix("ferry-manifest.jsonl") }
                .map { asked in "\(asked.method) \(asked.key)" + (asked.upload.map { "?" + $0 } ?? "") }.sorted()
        }
    }

    subscript(_ key: String) -> [UInt8]? {
        get { state.withLock { $0.objects[key]?.bytes } }
        set { state.withLock { $0.objects[key] = newValue.map { Object(bytes: $0) } } }
    }

    func fetch(_ request: TransferRequest) async throws(TransferFailure) -> sending TransferResponse {
        guard request.url.isObject else { return try await http.fetch(request) }
        let key = request.url.host + "/" + String(decoding: request.url.objectKey, as: UTF8.self)
        let asked = Asked(
            method: request.method.rawValue, key: key, isList: request.url.query?.contains("list-type") == true,
            upload: Self.upload(request.url), ifMatch: request.fields[.ifMatch],
            ifNoneMatch: request.fields[.ifNoneMatch], userFields: request.secrets.headers(for: request.url))
        let before = state.withLock { state in
            state.asked.append(asked)
            return state.before
        }
        before?(asked, self)
        var content: [UInt8] = []
        if let upload = request.upload {
            do {
                for try await piece in upload.pieces {
                    content += piece.readableBytesView
                    state.withLock { $0.pieces[key, default: []].append(piece.readableBytes) }
                }
            } catch { throw TransferFailure(.cancelled, ErrorPhrase(.stopped)) }
            guard HexText.string(ByteDigest.of(content, .sha256)) == upload.sha256 else {
                throw TransferFailure(.store(.refused), ErrorPhrase(.storeAnswered, asked.key, "400 BadDigest"))
            }
        }
        var (head, body) = try answer(asked, request, content)
        if let after = state.withLock(\.after) { try after(asked, &head) }
        let rest = Mutex<ByteBuffer?>(ByteBuffer(bytes: body))
        return TransferResponse(
            head: head, url: request.url,
            body: TransferBody { () async throws(TransferFailure) in rest.withLock { $0.take() } })
    }

    private func answer(
        _ asked: Asked, _ request: TransferRequest, _ content: [UInt8]
    ) throws(TransferFailure) -> (ResponseHead, [UInt8]) {
        if asked.isList { return (ResponseHead(status: 200), list(request.url)) }
        if asked.upload != nil { return try answerUpload(asked, request, content) }
        let (found, isRefused) = state.withLock { state in
            let found = state.objects[asked.key]
            let isRefused =
                asked.ifMatch.map { $0 != found?.etag } ?? false || asked.ifNoneMatch == "*" && found != nil
            if !isRefused, asked.method == "PUT" { state.objects[asked.key] = Object(bytes: content) }
            if !isRefused, asked.method == "DELETE" { state.objects[asked.key] = nil }
            return (found, isRefused)
        }
        if isRefused, found == nil { throw missing(request) }
        if isRefused { return (ResponseHead(status: 412), []) }
        var head = ResponseHead(status: 200)
        switch asked.method {
        case "PUT": head.headers[.eTag] = Object(bytes: content).etag
        case "DELETE": head = ResponseHead(status: 204)
        default:
            guard let found else { throw missing(request) }
            head.headers[.eTag] = found.etag
            head.headers[.contentLength] = "\(found.bytes.count)"
            if let name = HTTPField.Name("x-amz-checksum-sha256") { head.headers[name] = found.checksum }
            return (head, asked.method == "HEAD" ? [] : found.bytes)
        }
        return (head, [])
    }

    /// The query of a request for an upload of several parts, without the identifier of the upload.
    private static func upload(_ url: DownloadURL) -> String? {
        if url.query?.hasPrefix("uploads") == true { return "uploads" }
        guard identifier(url) != nil else { return nil }
        return value("partNumber", url) ?? ""
    }

    private static func identifier(_ url: DownloadURL) -> String? { value("uploadId", url) }

    private static func value(_ name: String, _ url: DownloadURL) -> String? {
        (url.query ?? "").split(separator: "&").first { $0.hasPrefix(name + "=") }.map {
            String($0.dropFirst(name.count + 1))
        }
    }

    private func answerUpload(
        _ asked: Asked, _ request: TransferRequest, _ content: [UInt8]
    ) throws(TransferFailure) -> (ResponseHead, [UInt8]) {
        func document(_ name: String, _ content: String) -> (ResponseHead, [UInt8]) {
            (ResponseHead(status: 200), Array("<\(name)>\(content)</\(name)>".utf8))
        }
        guard let id = Self.identifier(request.url) else {
            let id = state.withLock { state in
                state.lastUpload += 1
                state.uploads["u\(state.lastUpload)"] = Upload(key: asked.key)
                return state.lastUpload
            }
            return document("InitiateMultipartUploadResult", "<UploadId>u\(id)</UploadId>")
        }
        guard let upload = state.withLock({ $0.uploads[id] }), upload.key == asked.key else {
            throw TransferFailure(.store(.refused), ErrorPhrase(.uploadGone, asked.key))
        }
        let parts = upload.parts.sorted { $0.key < $1.key }
        switch asked.method {
        case "PUT":
            state.withLock { $0.uploads[id]?.parts[Int(asked.upload ?? "") ?? 0] = content }
            var head = ResponseHead(status: 200)
            head.headers[.eTag] = Object(bytes: content).etag
            return (head, [])
        case "GET":
            let listed = parts.map { number, bytes in
                let part = Object(bytes: bytes)
                return "<Part><PartNumber>\(number)</PartNumber><ETag>\(part.etag)</ETag><Size>\(bytes.count)</Size>"
                    + "<ChecksumSHA256>\(part.checksum)</ChecksumSHA256></Part>"
            }
            return document("ListPartsResult", listed.joined())
        case "DELETE":
            guard !isAbortRefused else {
                throw TransferFailure(.store(.refused), ErrorPhrase(.storeAnswered, asked.key, "403"))
            }
            state.withLock { $0.uploads[id] = nil }
            return (ResponseHead(status: 204), [])
        default:
            let chosen = String(decoding: content, as: UTF8.self)
            let wanted = parts.filter { chosen.contains("<PartNumber>\($0.key)</PartNumber>") }.map(\.value)
            let object = Object(bytes: Array(wanted.joined()), parts: wanted.map(\.count))
            let isRefused = state.withLock { state in
                let found = state.objects[asked.key]
                if asked.ifMatch.map({ $0 != found?.etag }) ?? false || asked.ifNoneMatch == "*" && found != nil {
                    return true
                }
                (state.objects[asked.key], state.uploads[id]) = (object, nil)
                return false
            }
            if isRefused { return (ResponseHead(status: 412), []) }
            return document("CompleteMultipartUploadResult", "<ETag>\(object.etag)</ETag>")
        }
    }

    private func missing(_ request: TransferRequest) -> TransferFailure {
        TransferFailure(.store(.refused), ErrorPhrase(.noSuchObject, request.url.redacted))
    }

    private func list(_ url: DownloadURL) -> [UInt8] {
        let prefix = (url.query ?? "").split(separator: "&").first { $0.hasPrefix("prefix=") }?.dropFirst(7) ?? ""
        let start = url.host + "/" + String(decoding: PercentEncoding.decode(Array(prefix.utf8)), as: UTF8.self)
        let contents = state.withLock { state in
            state.objects.filter { $0.key.hasPrefix(start) }.sorted { $0.key < $1.key }.map { key, object in
                "<Contents><Key>\(key.dropFirst(url.host.count + 1))</Key><Size>\(object.bytes.count)</Size>"
                    + "<ETag>\(object.etag)</ETag></Contents>"
            }
        }
        return Array("<ListBucketResult>\(contents.joined())</ListBucketResult>".utf8)
    }

    func shutdown() async {}
}
