import Ferry
import FerryAPI
import FerryCore
import FerryServer
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

    /// Passes a page through with its links replaced. Other responses are passed through unchanged.
    func index(_ rest: Substring, _ visit: Visit) async throws -> Response {
        let url = try visit.url(rest)
        guard visit.http.method == .get else { return try await pass(visit, url, prefix: Self.prefix) }
        let answer = try await answer(visit, url)
        let type = answer.head.single(.contentType)?.split(at: ";").first?.trimmedText
            .lowercased()
        let isJSON = type == "application/vnd.pypi.simple.v1+json" || type == "application/json"
        let isHTML = type == "application/vnd.pypi.simple.v1+html" || type == "text/html"
        guard answer.head.status == 200, isJSON || isHTML else { return relay(answer, visit, prefix: Self.prefix) }
        let (bytes, share) = try await page(answer, visit)
        await keep(visit, url, answer, bytes)
        let (upstream, key) = (visit.upstream, key)
        // A replaced link also contains a digest, an authentication code and the whole URL.
        let most = min(Self.mostPageBytes, 16 * bytes.readableBytes + 65_536)
        let room = try self.share(most, visit)
        let index = IndexPage(answer.url, most: most) { target, checksum in
            if target.path.utf8.last == UInt8(ascii: "/") { return upstream.rest(of: target).map { Self.prefix + $0 } }
            return GatewayRoute.links + GatewayLink(target, checksum).path(key)
        }
        var fields = GatewayFields.relayed(answer.head)
        // The text differs from the upstream's, but is always the same for the same upstream text, so the tag becomes weak.
        if let tag = fields[.eTag], !tag.utf8.hasPrefix("W/") { fields[.eTag] = "W/" + tag }
        let text: Data
        do {
            if isJSON {
                let (value, values) = try json(bytes, visit)
                text = try JSONCoding.encode(try index.rewriting(value))
                withExtendedLifetime(values) {}
            } else {
                text = Data(try index.rewriting(Array(bytes.readableBytesView)))
            }
        } catch is IndexPage.TooLarge { throw Self.tooLarge }
        withExtendedLifetime((share, room)) {}
        return try made(text, fields, visit)
    }

    /// Returns the value of a JSON page, with the share of the budget for its values.
    func json(_ bytes: ByteBuffer, _ visit: Visit) throws(Problem) -> (JSONValue, Holder) {
        let data = Data(bytes.readableBytesView)
        guard let count = JSONStructure.count(data, upTo: Self.mostValues) else {
            throw Problem(
                status: 502, code: "tooLarge", title: "Page too large",
                detail: "A page of the upstream has more than \(Self.mostValues) values.")
        }
        let share = try share(count * Self.bytesPerValue, visit)
        guard JSONStructure.isShallow(data, depth: Self.mostDepth), let value = try? JSONValue(data) else {
            throw Problem(
                status: 502, code: "unusablePage", title: "Unusable page", detail: "The upstream sent no usable JSON.")
        }
        return (value, share)
    }

    /// The maximum number of values of a page, enough for about a hundred thousand files.
    private static let mostValues = 1 << 20
    /// The maximum nesting depth of a page.
    private static let mostDepth = 32
    /// The approximate memory for a value, measured with short members of objects.
    private static let bytesPerValue = 128

    /// Serves a file that a page has linked. Its metadata (PEP 658) is passed through.
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
        var match = file.checksum == nil ? nil : try await cache.match(file)
        do {
            switch try await consent(visit, to: file, match) {
            case .open: fields[.lastModified] = match?.snapshot.finished?.lastModified
            case .stale(let download):
                match = download
                visit.note.isStale()
                fields[.eTag] = download.snapshot.finished?.etag
                fields[.lastModified] = download.snapshot.finished?.lastModified
                if let name = HTTPField.Name("Warning") { fields[name] = GatewayAnswer.stale }
            case .other: return try await pass(visit, file.url, prefix: prefix)
            case .given(let consent, let answer):
                file.size = consent.size
                file.origin = consent.origin
                guard let answer else { break }
                fields = GatewayFields.relayed(answer.head)
                let tag = answer.head.single(.eTag)
                if file.checksum == nil {
                    file.isFresh = visit.http.method == .get && visit.wantsFresh
                    let version = [tag, answer.head.single(.lastModified)].compactMap(\.self).joined(separator: " ")
                    // Without a version, a change of the file could not be detected.
                    guard !version.isEmpty else { return try await pass(visit, file.url, prefix: prefix) }
                    file.version = "\(version) \(file.size.map { "\($0)" } ?? "")"
                }
            }
        } catch let refusal as Refusal {
            return relay(refusal.answer, visit, prefix: prefix, isHead: true)
        }
        // The same bytes have the same tag, whatever server they come from.
        if let checksum = file.checksum { fields[.eTag] = "\"\(checksum.hex)\"" }
        return try await serve(visit, file, match, fields)
    }
}
