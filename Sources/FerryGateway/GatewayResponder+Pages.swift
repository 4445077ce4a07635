import Crypto
import Ferry
import FerryAPI
import FerryCore
import FerryServer
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Pages: responses that are passed through, stored for use while an upstream is down, or rewritten in memory.
extension GatewayResponder {
    /// Forwards a request unchanged. While the upstream is down, returns its last response to the same request. A stored public
    /// page whose URL contains its digest is returned without a request.
    func answer(_ visit: Visit, _ url: DownloadURL) async throws -> GatewayAnswer {
        guard visit.http.method != .post else { return try await send(visit, url) }
        let name = pages.name(url, visit.fields(for: url))
        if !visit.hasSecrets, let digest = Self.digest(in: url),
            // If the budget has no room for the stored page, the request is forwarded.
            let page = try? await pages.page(name, isStale: false, at: Date(), budget.share(for: visit.claimant)),
            Self.has(page.bytes, digest)
        {
            visit.note.isHit()
            return GatewayAnswer(page)
        }
        let answer: GatewayAnswer
        do {
            answer = try await send(visit, url)
            guard GatewayAnswer.isDown(answer.head.status) else { return answer }
        } catch {
            guard error is DownloadError, let page = try await stalePage(visit, name, url) else { throw error }
            return GatewayAnswer(page)
        }
        return try await stalePage(visit, name, url).map(GatewayAnswer.init) ?? answer
    }

    private func stalePage(_ visit: Visit, _ name: String, _ url: DownloadURL) async throws(Problem) -> GatewayPages
        .Page?
    {
        let found: GatewayPages.Page?
        do throws(GatewayPages.NoRoom) {
            found = try await pages.page(name, isStale: true, at: Date(), budget.share(for: visit.claimant))
        } catch { throw Self.busy }
        guard let page = found, Self.digest(in: url).map({ Self.has(page.bytes, $0) }) ?? true else { return nil }
        visit.note.isStale()
        logger.notice("an earlier page is sent while its server is down", metadata: ["url": "\(url.redacted)"])
        return page
    }

    /// Stores the response to a request, to be sent while the upstream is down.
    func keep(_ visit: Visit, _ url: DownloadURL, _ answer: GatewayAnswer, _ bytes: ByteBuffer) async {
        guard visit.http.method == .get, Self.digest(in: url).map({ Self.has(bytes, $0) }) ?? true else { return }
        await pages.keep(pages.name(url, visit.fields(for: url)), answer, bytes, at: Date())
    }

    /// Returns the digest at the end of a registry's URL, if there is one. The content of such a URL never changes.
    private static func digest(in url: DownloadURL) -> Checksum? {
        guard url.query == nil, let text = url.path.split(at: "/").last, text.utf8.hasPrefix("sha256:") else {
            return nil
        }
        return try? Checksum(parsing: String(text))
    }

    /// Whether the bytes have the digest. Wrong bytes are passed on, because clients verify them too, but are not stored.
    private static func has(_ bytes: ByteBuffer, _ digest: Checksum) -> Bool {
        var hash = SHA256()
        bytes.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
        return digest.algorithm == .sha256 && hash.finalize().elementsEqual(digest.bytes)
    }

    /// The number of bytes of memory that pages currently occupy.
    var pageBytes: Int { budget.bytes }

    /// Returns the content of a response that is to be rewritten, with its share of the budget. Throws if the client
    /// disconnects, or if the upstream sends nothing for too long.
    func page(_ answer: GatewayAnswer, _ visit: Visit) async throws -> (bytes: ByteBuffer, share: Holder) {
        do {
            return try await ClientWatch.run(visit.channel) { [self] in
                let page = try await collect(answer, visit)
                return page
            }
        } catch let error as ClientWatch.Gone {
            logger.debug("a client of the gateway has gone")
            throw error
        }
    }

    private func collect(_ answer: GatewayAnswer, _ visit: Visit) async throws -> (bytes: ByteBuffer, share: Holder) {
        var share = budget.share(for: visit.claimant)
        var whole = ByteBuffer()
        let until = ContinuousClock.now + limits.pageTime
        while var piece = try await Self.next(answer.body, within: limits.pageIdle) {
            guard piece.readableBytes <= Self.mostPageBytes - whole.readableBytes else { throw Self.tooLarge }
            guard share.take(piece.readableBytes) else { throw Self.busy }
            whole.writeBuffer(&piece)
            guard .now < until else { throw Self.late }
        }
        return (whole, Holder(share: share))
    }

    /// Returns the next bytes of a page. Throws a problem if none are received in time.
    static func next(_ body: GatewayAnswer.Body, within time: Duration) async throws -> ByteBuffer? {
        try await withThrowingTaskGroup(of: ByteBuffer?.self) { group in
            group.addTask {
                let piece = try await body.next()
                return piece
            }
            group.addTask {
                try await Task.sleep(for: time)
                throw late
            }
            defer { group.cancelAll() }
            let piece = try await group.next()
            return piece ?? nil
        }
    }

    /// Returns a share of the budget for the values and text made from a page. Throws if the budget is exhausted.
    func share(_ bytes: Int, _ visit: Visit) throws(Problem) -> Holder {
        var share = budget.share(for: visit.claimant)
        guard share.take(bytes) else { throw Self.busy }
        return Holder(share: share)
    }

    /// Returns a page as a response. Its share of the budget is released when the page has been sent or the client has
    /// disconnected.
    func made(_ bytes: Data, _ fields: HTTPFields, _ visit: Visit) throws(Problem) -> Response {
        let share = try share(bytes.count, visit)
        return Response(
            status: .ok, headers: fields,
            body: ResponseBody(contentLength: bytes.count) { writer in
                try await writer.write(ByteBuffer(bytes: bytes))
                try await writer.finish(nil)
                withExtendedLifetime(share) {}
            })
    }

    private static let busy = Problem(.busy, "Too many pages at a time. Try again.")
    private static let late = Problem(
        status: 504, code: "timeout", title: "Upstream too slow", detail: "The upstream did not send the page in time.")
    static let tooLarge = Problem(
        status: 502, code: "tooLarge", title: "Page too large",
        detail:
            "A page of the upstream is larger than \(mostPageBytes >> 20) MiB, or would be when its links are replaced."
    )

    /// Holds a share while a page is in use.
    final class Holder: Sendable {
        private let share: BodyBudget.Share
        init(share: consuming BodyBudget.Share) { self.share = share }
    }
}
