import FerryTesting
import NIOCore
import Testing

@testable import Ferry
@testable import FerryCore
@testable import FerryEngine

/// A server whose pages, after the first, begin and never end.
private struct StallingTransport: Transport {
    let first: String?

    func fetch(_ request: TransferRequest) async throws(TransferFailure) -> sending TransferResponse {
        var head = ResponseHead(status: 200)
        head.headers[.contentType] = "text/html"
        let isFirst = request.url.path == "/pub/" && first != nil
        let page = first ?? ""
        var pieces = [ByteBuffer(string: isFirst ? page : "<html>")][...]
        return TransferResponse(
            head: head, url: request.url,
            body: TransferBody { () async throws(TransferFailure) in
                if let piece = pieces.popFirst() { return piece }
                if isFirst { return nil }
                // Until the caller is cancelled.
                try? await ManualClock().sleep(for: .seconds(1))
                throw TransferFailure(.cancelled, ErrorPhrase(.stopped))
            })
    }

    func shutdown() async {}
}

@Suite("Lists of servers that dawdle", .timeLimit(.minutes(10)))
struct SlowListTests {
    private func listing(_ first: String?) async throws -> SetListing {
        try await Workshop.run { shop in
            let engine = shop.engine(clock: QuickClock(), transport: StallingTransport(first: first))
            let manager = shop.manager(engine: engine)
            do {
                let url = try DownloadURL("http://h.test/pub/")
                let listing = try await SetReader(manager: manager, options: SyncOptions()).read(.url(url))
                await manager.shutdown()
                return listing
            } catch {
                await manager.shutdown()
                throw error
            }
        }
    }

    @Test("Index page: one that never ends fails the sync, so that the set gives its place to others")
    func page() async throws {
        let error = try await #require(throws: DownloadError.self) { try await self.listing(nil) }
        #expect(error.phrase?.key == .slowBody)
    }

    @Test("Index page: directories whose pages never end are problems, and the files of the others are listed")
    func directories() async throws {
        let listing = try await self.listing(#"<html><a href="a.bin">a</a><a href="s/">s</a><a href="t/">t</a>"#)
        #expect(listing.entries.map(\.path) == ["a.bin"])
        #expect(!listing.problems.isEmpty)
    }
}
