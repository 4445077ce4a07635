import FerryTesting
import HTTPTypes
import NIOCore
import Synchronization
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

@Suite("Lists that make much of little", .timeLimit(.minutes(10)))
struct LargeListTests {
    private static func url(_ text: String) throws(DownloadError) -> DownloadURL { try DownloadURL(text) }

    private func listing(
        _ url: String, _ transport: PageTransport, _ limits: SetReader.Limits, _ filter: SetFilter = SetFilter()
    ) async throws -> SetListing {
        try await Workshop.run { shop in
            let manager = shop.manager(engine: shop.engine(transport: transport))
            let result: Result<SetListing, DownloadError>
            do throws(DownloadError) {
                var options = SyncOptions()
                options.filter = filter
                let reader = SetReader(manager: manager, options: options, limits: limits)
                let listing = try await reader.read(.url(try Self.url(url)))
                result = .success(listing)
            } catch { result = .failure(error) }
            await manager.shutdown()
            return try result.get()
        }
    }

    @Test("Index page: links beyond the limit are a problem, and the pages after it are not requested")
    func links() async throws {
        let transport = PageTransport { url in
            let directories = url.path == "/" ? (0..<100).map { #"<a href="d\#($0)/">d</a>"# } : []
            let files = (0..<50).map { #"<a href="f\#($0)">f</a>"# }
            return ("text/html", "<html>" + (directories + files).joined())
        }
        let listing = try await listing("http://h.test/", transport, SetReader.Limits(entries: 400, bytes: 1 << 20))
        #expect(listing.entries.count < 400 && !listing.problems.isEmpty)
        #expect(transport.requests < 30)
        let all = try await self.listing("http://h.test/", transport, SetReader.Limits())
        #expect(all.entries.count == 101 * 50 && all.problems.isEmpty)
        // In the order of the pages.
        #expect(all.entries[50].path == "d0/f0" && all.entries.last?.path == "d99/f49")
        let narrow = try await self.listing(
            "http://h.test/", transport, SetReader.Limits(entries: 1 << 20, bytes: 5000))
        #expect(narrow.entries.count < 400 && !narrow.problems.isEmpty)
    }

    /// A level with too many directories was left out as a whole.
    @Test("Index page: directories beyond the limit of pages are a problem, and the files of the others are listed")
    func pages() async throws {
        let transport = PageTransport { url in
            let links = url.path == "/" ? (0..<20).map { #"<a href="d\#($0)/">d</a>"# } : [#"<a href="f">f</a>"#]
            return ("text/html", "<html>" + links.joined())
        }
        let cut = try await listing("http://h.test/", transport, SetReader.Limits(pages: 11))
        #expect(cut.entries.map(\.path) == (0..<10).map { "d\($0)/f" } && transport.requests == 11)
        #expect(cut.problems == [.phrase(ErrorPhrase(.manyDirectories, "http://h.test/", "11"))])
        let whole = try await listing("http://h.test/", transport, SetReader.Limits(pages: 21))
        #expect(whole.entries.count == 20 && whole.problems.isEmpty)
    }

    @Test("Objects: a list whose tokens go round ends, and one beyond the limit")
    func objects() async throws {
        @Sendable func page(_ start: Int, _ token: String) -> (type: String, text: String) {
            let keys = (start..<start + 10).map { "<Contents><Key>p/\($0)</Key><Size>1</Size></Contents>" }.joined()
            let next = "<IsTruncated>true</IsTruncated><NextContinuationToken>\(token)</NextContinuationToken>"
            return ("application/xml", "<ListBucketResult>\(keys)\(next)</ListBucketResult>")
        }
        let number = Mutex(0)
        let turns = PageTransport { url in
            let start = number.withLock { number in
                number += 10
                return number
            }
            return page(start, (url.query ?? "").utf8.contains("token=a") ? "b" : "a")
        }
        let circle = try await listing("s3://bucket/p/", turns, SetReader.Limits())
        #expect(turns.requests == 3 && !circle.problems.isEmpty && circle.entries.count == 30)
        let endless = PageTransport { url in
            let start = Self.token(url) ?? 10
            return page(start, "\(start + 10)")
        }
        let cut = try await listing("s3://bucket/p/", endless, SetReader.Limits(entries: 100, bytes: 1 << 20))
        // One of them asked for places to split the list.
        #expect(endless.requests == 12 && !cut.problems.isEmpty)
    }

    /// The number that a request goes on with.
    private static func token(_ url: DownloadURL) -> Int? {
        (url.query ?? "").split(separator: "&").compactMap { $0.dropping(prefix: "continuation-token=") }.first
            .flatMap { Int($0) }
    }

    /// 100 pages of ten objects, of which the last has a name of its own.
    private func bucket() -> PageTransport {
        PageTransport { url in
            let page = Self.token(url).map { $0 + 1 } ?? 1
            let last = page == 100 ? "wanted.iso" : "\(page)-9.log"
            let names = (0..<9).map { "\(page)-\($0).log" } + [last]
            let keys = names.map { "<Contents><Key>p/\($0)</Key><Size>1</Size></Contents>" }.joined()
            let next = "<IsTruncated>true</IsTruncated><NextContinuationToken>\(page)</NextContinuationToken>"
            return ("application/xml", "<ListBucketResult>\(keys)\(page == 100 ? "" : next)</ListBucketResult>")
        }
    }

    /// The bound counted what the filter leaves out.
    @Test("Objects: those that the filter leaves out do not count for the bound of what is kept")
    func filtered() async throws {
        let limits = SetReader.Limits(entries: 100, bytes: 1 << 10)
        let whole = try await listing("s3://bucket/p/", bucket(), limits, SetFilter(include: ["*.iso"]))
        #expect(whole.entries.map(\.path) == ["wanted.iso"] && whole.problems.isEmpty && whole.left == 999)
        let cut = try await listing("s3://bucket/p/", bucket(), limits, SetFilter(exclude: ["*.iso"]))
        #expect(cut.entries.count < 200 && !cut.problems.isEmpty)
    }

    @Test("Objects: a list without end ends at the bound of pages, although the filter leaves everything out")
    func filteredWithoutEnd() async throws {
        let number = Mutex(0)
        let endless = PageTransport { _ in
            let token = number.withLock { number in
                number += 1
                return number
            }
            let next = "<IsTruncated>true</IsTruncated><NextContinuationToken>\(token)</NextContinuationToken>"
            return (
                "application/xml",
                "<ListBucketResult><Contents><Key>p/a.log</Key><Size>1</Size></Contents>\(next)</ListBucketResult>"
            )
        }
        let limits = SetReader.Limits(objectPages: 50)
        let error = await #expect(throws: DownloadError.self) {
            try await listing("s3://bucket/p/", endless, limits, SetFilter(include: ["*.iso"]))
        }
        #expect(error?.phrase?.key == .noneWanted && endless.requests == 50)
    }

    @Test("Objects: those with unusable names count for the bound, since each is told")
    func unusable() async throws {
        let number = Mutex(0)
        let endless = PageTransport { _ in
            let token = number.withLock { number in
                number += 1
                return number
            }
            let keys = (0..<10).map { _ in "<Contents><Key>p/../x</Key><Size>1</Size></Contents>" }.joined()
            let next = "<IsTruncated>true</IsTruncated><NextContinuationToken>\(token)</NextContinuationToken>"
            return ("application/xml", "<ListBucketResult>\(keys)\(next)</ListBucketResult>")
        }
        let limits = SetReader.Limits(entries: 100, bytes: 1 << 20)
        await #expect(throws: DownloadError.self) { try await listing("s3://bucket/p/", endless, limits) }
        #expect(endless.requests == 11)
    }

    @Test("Index page: files that the filter leaves out do not count for the bound of what is kept, each once if told")
    func filteredLinks() async throws {
        let transport = PageTransport { url in
            let directories = url.path == "/" ? (0..<20).map { #"<a href="d\#($0)/">d</a>"# } : []
            let files = (0..<50).map { #"<a href="f\#($0).log">f</a><a href="f\#($0).log">f</a>"# }
            let wanted = url.path == "/d19/" ? [#"<a href="wanted.iso">w</a>"#] : []
            return ("text/html", "<html>" + (directories + files + wanted).joined())
        }
        let limits = SetReader.Limits(entries: 400, bytes: 1 << 20)
        let whole = try await listing("http://h.test/", transport, limits, SetFilter(include: ["*.iso"]))
        #expect(whole.entries.map(\.path) == ["d19/wanted.iso"] && whole.problems.isEmpty && whole.left == 21 * 50)
    }

    /// Each page had a bound of its own, and twelve were held together.
    @Test("Index page: pages that wait for one before them have a bound together")
    func pending() async throws {
        let transport = PageTransport(order: ({ $0.path == "/d0/" }, { $0.path == "/d11/" })) { url in
            let directories = url.path == "/" ? (0..<12).map { #"<a href="d\#($0)/">d</a>"# } : []
            let files = (0..<100).map { #"<a href="f\#($0)">f</a>"# }
            return ("text/html", "<html>" + (directories + files).joined())
        }
        let listing = try await listing("http://h.test/", transport, SetReader.Limits(pendingLinks: 300))
        #expect(listing.entries.count < 13 * 100 && !listing.problems.isEmpty)
        let bytes = try await self.listing(
            "http://h.test/",
            PageTransport(order: ({ $0.path == "/d0/" }, { $0.path == "/d11/" })) { url in
                let directories = url.path == "/" ? (0..<12).map { #"<a href="d\#($0)/">d</a>"# } : []
                return (
                    "text/html",
                    "<html>" + (directories + [#"<a href="\#(String(repeating: "x", count: 2000))">f</a>"#]).joined()
                )
            }, SetReader.Limits(pendingBytes: 5000))
        #expect(!bytes.problems.isEmpty)
    }
}
