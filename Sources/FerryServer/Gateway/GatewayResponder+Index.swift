import Ferry
import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore
import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The index of Python packages.
extension GatewayResponder {
    private static let prefix = "/gw/pypi/simple/"

    /// A page passes through with its links replaced; what is no page as it is.
    func index(_ rest: Substring, _ visit: Visit) async throws -> Response {
        let url = try visit.url(rest)
        guard visit.http.method == .get else { return try await pass(visit, url, prefix: Self.prefix) }
        let answer = try await exchange(visit, .get, url, conditional: true)
        let type = answer.head.single(.contentType)?.split(at: ";").first?.trimmedText
            .lowercased()
        let isJSON = type == "application/vnd.pypi.simple.v1+json" || type == "application/json"
        let isHTML = type == "application/vnd.pypi.simple.v1+html" || type == "text/html"
        guard answer.head.status == 200, isJSON || isHTML else { return relay(answer, visit, prefix: Self.prefix) }
        let (bytes, share) = try await page(answer)
        let (upstream, key) = (visit.upstream, key)
        let index = IndexPage(answer.url) { target, checksum in
            if target.path.utf8.last == UInt8(ascii: "/") { return upstream.rest(of: target).map { Self.prefix + $0 } }
            return "/gw/pypi/file/" + GatewayLink(target, checksum).path(key)
        }
        var fields = GatewayFields.relayed(answer.head)
        // Another text than the upstream's, but the same for the same text of it.
        if let tag = fields[.eTag], !tag.utf8.hasPrefix("W/") { fields[.eTag] = "W/" + tag }
        let text: Data
        if isJSON {
            text = try APICoding.encode(index.rewriting(try Self.json(bytes)))
        } else {
            text = Data(index.rewriting(Array(bytes.readableBytesView)))
        }
        withExtendedLifetime(share) {}
        return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: text)))
    }

    /// The value of a page in JSON.
    static func json(_ bytes: ByteBuffer) throws(Problem) -> JSONValue {
        let data = Data(bytes.readableBytesView)
        guard APICoding.isShallow(data, depth: APIRequest.mostDepth), let value = try? JSONValue(data) else {
            throw Problem(
                status: 502, code: "unusablePage", title: "Unusable page", detail: "The upstream sent no usable JSON.")
        }
        return value
    }

    /// A file that a page has named; its metadata (PEP 658) passes through.
    func link(_ path: Substring, _ visit: Visit) async throws -> Response {
        guard let link = GatewayLink(path, key) else {
            throw Problem(.noSuchPath, "This gateway has not written the link. Ask its index again.")
        }
        if link.url.path.utf8.hasSuffix(".metadata") { return try await pass(visit, link.url, prefix: Self.prefix) }
        var file = GatewayFile(
            kind: .pypi, url: link.url, checksum: link.checksum, headers: visit.fields(for: link.url),
            allowsPrivate: visit.allowsPrivate)
        return try await blob(&file, visit, prefix: Self.prefix)
    }

    /// Serves a file under its own URL, after the upstream's consent.
    func blob(_ file: inout GatewayFile, _ visit: Visit, prefix: String) async throws -> Response {
        var fields = HTTPFields()
        do {
            if let answer = try await consent(visit, to: file) {
                fields = GatewayFields.relayed(answer.head)
                let tag = answer.head.single(.eTag)
                file.size = answer.head.single(.contentLength).flatMap { ByteCount($0) }.flatMap {
                    $0.isSize ? $0 : nil
                }
                if file.checksum == nil {
                    let version = [tag, answer.head.single(.lastModified)].compactMap(\.self).joined(separator: " ")
                    // Nothing would tell that the file has changed.
                    guard !version.isEmpty else { return try await pass(visit, file.url, prefix: prefix) }
                    file.version = "\(version) \(file.size.map { "\($0)" } ?? "")"
                }
            }
        } catch let refusal as Refusal {
            return relay(refusal.answer, visit, prefix: prefix, isHead: true)
        }
        // One tag for the same bytes, from any server.
        if let checksum = file.checksum { fields[.eTag] = "\"\(checksum.hex)\"" }
        return try await serve(visit, file, fields)
    }
}
