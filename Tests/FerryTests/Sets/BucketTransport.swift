import Foundation
import HTTPTypes
import NIOCore
import Synchronization

@testable import Ferry
@testable import FerryCore
@testable import FerryEngine

/// A store in memory that checks the conditions of requests, as far as syncs use it: whole objects and lists. Other URLs are
/// requested over HTTP.
final class BucketTransport: Transport {
    struct Object: Sendable {
        var bytes: [UInt8]
        var etag: String { "\"\(HexText.string(ByteDigest.of(bytes, .md5)))\"" }
        var checksum: String { Data(ByteDigest.of(bytes, .sha256)).base64EncodedString() }
    }

    struct Asked: Sendable {
        var method: String
        var key: String
        var isList: Bool
        var ifMatch: String?
        var ifNoneMatch: String?
    }

    private struct State {
        var objects: [String: Object] = [:]
        var asked: [Asked] = []
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

    var asked: [Asked] { state.withLock { $0.asked } }
    var keys: [String] { state.withLock { $0.objects.keys.sorted() } }

    /// The requests since the last call, without those for lists and the manifest.
    func takeAsked() -> [String] {
        state.withLock { state in
            defer { state.asked = [] }
            return state.asked.filter { !$0.isList && !$0.key.hasSuffix("ferry-manifest.jsonl") }
                .map { "\($0.method) \($0.key)" }.sorted()
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
            ifMatch: request.fields[.ifMatch], ifNoneMatch: request.fields[.ifNoneMatch])
        let before = state.withLock { state in
            state.asked.append(asked)
            return state.before
        }
        before?(asked, self)
        var content: [UInt8] = []
        if let upload = request.upload {
            guard let bytes = try? await upload.read(0..<upload.length) else {
                throw TransferFailure(.cancelled, ErrorPhrase(.stopped))
            }
            content = Array(buffer: bytes)
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
