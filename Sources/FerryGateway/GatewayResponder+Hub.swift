import Ferry
import FerryAPI
import FerryCore
import FerryServer
import HTTPTypes
import HummingbirdCore
import Logging

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The hub of models and data sets.
extension GatewayResponder {
    private static let prefix = "/gw/hf/"

    /// Files of repositories are downloaded; the hub's API is passed through.
    func hub(_ rest: Substring, _ visit: Visit) async throws -> Response {
        let url = try visit.url(rest)
        // A request for information on paths is the only one that has content.
        let route = HubRoute(rest)
        guard visit.http.method != .post || route == .pathsInfo else {
            throw Problem(.methodNotAllowed, "The gateway is for reading.")
        }
        if route == .tree || route == .pathsInfo {
            return try await listing(visit, url)
        }
        guard let path = HubPath(rest) else { return try await pass(visit, url, prefix: Self.prefix) }
        let (answer, isStale) = try await described(visit, url)
        // A response that is not the hub's own, such as a sign-in page on another server, is passed through.
        // allow(origin): whose response it is; carries no secret.
        guard answer.url.origin == visit.upstream.base.origin else {
            return try await pass(visit, url, prefix: Self.prefix)
        }
        let isThere = 200...299 ~= answer.head.status || HubFile.isStored(answer.head)
        guard isThere, let found = HubFile(answer.head) else {
            return isThere
                ? try await pass(visit, url, prefix: Self.prefix)
                : relay(answer, visit, prefix: Self.prefix, isHead: true)
        }
        let file = GatewayFile(
            kind: .hf, url: try found.commit.flatMap { path.text(at: $0) }.map { try visit.url(Substring($0)) } ?? url,
            checksum: found.checksum, version: found.entityTag, size: found.size,
            headers: visit.fields(for: visit.upstream.base), allowsPrivate: visit.allowsPrivate)
        // A sign-in page in place of a file has an entity tag too. A redirect's fields such as the content type describe its
        // own body.
        let isStored = HubFile.isStored(answer.head)
        guard isStored || !GatewayConsent(answer.head, at: answer.url, of: file).isPage else {
            return try await pass(visit, url, prefix: Self.prefix)
        }
        var fields = GatewayFields.relayed(answer.head)
        fields[.eTag] = found.entityTag
        if isStored { fields[.contentType] = nil }
        let match = try await cache.match(file)
        if isStale {
            // Nothing is fetched on the basis of a stored head.
            guard let match, case .completed = match.status.state, await cache.isReadable(match) else {
                throw Self.isDown
            }
            visit.note.isStale()
            logger.notice("a file of the cache is sent while its server is down", metadata: ["id": "\(match.id)"])
        } else {
            let name = pages.name(url, visit.fields(for: url), isHead: true)
            await pages.keepHead(name, answer, tag: "\(found)", at: Date())
        }
        return try await serve(visit, file, match, fields)
    }

    /// Returns the head of a file from the hub; while the hub is down, the last one for the same credentials.
    private func described(
        _ visit: Visit, _ url: DownloadURL
    ) async throws -> (answer: GatewayAnswer, isStale: Bool) {
        let name = pages.name(url, visit.fields(for: url), isHead: true)
        let answer: GatewayAnswer
        do throws(DownloadError) { answer = try await ask(visit, url) } catch {
            guard let page = await kept(name, visit) else { throw error }
            return (GatewayAnswer(page), true)
        }
        guard GatewayAnswer.isDown(answer.head.status), let page = await kept(name, visit) else {
            return (answer, false)
        }
        return (GatewayAnswer(page), true)
    }

    private func kept(_ name: String, _ visit: Visit) async -> GatewayPages.Page? {
        // A head is small enough for any budget.
        (try? await pages.page(name, isStale: true, at: Date(), budget.share(for: visit.claimant))) ?? nil
    }

    private static let isDown = Problem(
        status: 502, code: "network", title: "Upstream unavailable",
        detail: "The upstream is down, and the file is not in the cache.")

    /// Returns a list of files, without the hashes with which clients would fetch parts of the files from other servers.
    private func listing(_ visit: Visit, _ url: DownloadURL) async throws -> Response {
        let answer = try await answer(visit, url)
        guard visit.http.method != .head, answer.head.status == 200 else {
            return relay(answer, visit, prefix: Self.prefix)
        }
        let fields = relay(answer, visit, prefix: Self.prefix).headers
        let (bytes, share) = try await page(answer, visit)
        await keep(visit, url, answer, bytes)
        let (value, values) = try json(bytes, visit)
        let text = try JSONCoding.encode(HubFile.listing(value))
        withExtendedLifetime((share, values)) {}
        var response = try made(text, [.contentType: "application/json"], visit)
        for field in fields where field.name != .contentLength { response.headers[field.name] = field.value }
        return response
    }

    /// Requests a file's head. The hub responds with a redirect whose fields describe the file or, if the repository was
    /// renamed, with a redirect to the new URL of the file on the hub.
    private func ask(_ visit: Visit, _ url: DownloadURL) async throws(DownloadError) -> GatewayAnswer {
        var url = url
        for _ in 0..<5 {
            let answer = try await exchange(visit, .head, url, follows: false)
            guard 300...399 ~= answer.head.status, !HubFile.isStored(answer.head),
                let next = answer.head.single(.location).flatMap({ try? url.resolving($0) })
            else { return answer }
            guard visit.upstream.rest(of: next) != nil else { break }
            url = next
        }
        return try await exchange(visit, .head, url)
    }
}
