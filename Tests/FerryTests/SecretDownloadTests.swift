import FerryCore
import FerryTesting
import HTTPTypes
import Testing

@testable import Ferry

@Suite("Secrets of a download that a journal knows", .timeLimit(.minutes(30)))
struct SecretDownloadTests {
    private static let ann = Credentials(user: "ann", password: "hush")

    private static func isSecret(_ request: Traffic.Request) -> Bool {
        request.head["Authorization"] != nil || request.head["X-Key"] != nil
    }

    /// A request with secrets and without a URL, for a part file.
    private static func part(_ shop: Workshop, _ name: String) throws -> DownloadRequest {
        var request = DownloadRequest(sources: [], destination: .part(shop.directory + "/" + name))
        request.credentials = ann
        let name = try #require(HTTPField.Name("X-Key"))
        request.headers[name] = "secret"
        return request
    }

    @Test("Secrets: a part file with secrets, without URL and origin, is refused before a request")
    func forNobody() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 40_000_000))
            try await shop.interrupt("/a", after: 10_000_000)
            let before = shop.server.requests.count
            let manager = shop.manager()
            let error = await #expect(throws: DownloadError.self) {
                _ = try await manager.download(try Self.part(shop, "a.part"))
            }
            #expect(error?.code == .invalidRequest)
            #expect(error?.phrase?.key == .secretsForNobody)
            #expect(shop.server.requests.count == before)
            await manager.shutdown()
        }
    }

    @Test("Secrets: for another origin than the journal's the download resumes without them")
    func forAnother() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 40_000_000)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: 10_000_000)
            let before = shop.server.requests.count
            var request = try Self.part(shop, "a.part")
            request.secretsOrigin = Origin("https://a.test")
            let outcome = try await shop.outcome(of: shop.manager(), request)
            try shop.expect(outcome.file.path, is: resource)
            #expect(outcome.resumedAt == 10_000_000)
            #expect(!shop.server.requests.dropFirst(before).contains(where: Self.isSecret))
        }
    }

    @Test("Secrets: for the journal's origin they are sent with its requests")
    func forThis() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 40_000_000)
            shop.server.serve("/a", resource)
            try await shop.interrupt("/a", after: 10_000_000)
            shop.server.always("/a", .basicAuth("ann", "hush"))
            var request = try Self.part(shop, "a.part")
            request.secretsOrigin = Origin(of: try DownloadURL(shop.server.url("/a")))
            let outcome = try await shop.outcome(of: shop.manager(), request)
            try shop.expect(outcome.file.path, is: resource)
            #expect(shop.server.requests.last?.head["X-Key"] == "secret")
        }
    }

    @Test("Secrets: a checksum list at the journal's first origin is fetched without them")
    func checksumList() async throws {
        try await Workshop.run { shop in
            try await OriginServer.with { other in
                let resource = Resource(size: 12_000_000)
                for server in [shop.server, other] { server.serve("/a", resource) }
                other.always("/a", .stall(after: 5_000_000))
                let second = try DownloadURL(shop.server.url("/a"))
                let first = try DownloadURL(other.url("/a"))
                let manager = shop.manager()
                let download = try await manager.download(
                    try shop.request("/a") {
                        $0.sources = [first, second]
                        $0.maxConnections = 1
                    })
                await shop.reach(5_000_000, download)
                await manager.shutdown()
                other.always("/a", .status(404))
                other.route("/SUMS") { _ in .page(200, "nothing\n") }
                let list = try DownloadURL(other.url("/SUMS"))
                let outcome = try await shop.get("/a", { _ in }) {
                    $0.credentials = Self.ann
                    $0.checksumList = list
                    if let name = HTTPField.Name("X-Key") { $0.headers[name] = "secret" }
                }
                // The list was fetched, and the file's name is not in it.
                #expect(outcome.error?.code == .checksum)
                #expect(other.requests.contains { $0.path == "/SUMS" })
                #expect(!other.requests.contains(where: Self.isSecret))
            }
        }
    }

    @Test("Private addresses: a request may be stricter than its manager, but not laxer")
    func privateAddresses() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a", Resource(size: 1000))
            for (manager, request) in [(false, nil), (false, true), (true, false)] as [(Bool, Bool?)] {
                let outcome = try await shop.get("/a", { $0.transfer.allowsPrivate = manager }) {
                    $0.network.allowsPrivate = request
                }
                #expect(outcome.error?.code == .refused)
                #expect(outcome.error?.phrase?.key == .privateAddress)
                #expect(outcome.error?.recovery == .permanent)
            }
            #expect(shop.server.traffic.acceptedConnections == 0)
            #expect(try await shop.get("/a", { _ in }, { $0.network.allowsPrivate = true }).file.totalBytes == 1000)
        }
    }

    @Test("Private addresses: the rule of a request is kept in its stored form")
    func rule() throws {
        let rule = NetworkRule(allowsPrivate: false)
        #expect(try StoredText.value(NetworkRule.self, StoredText.text(rule)) == rule)
        #expect(try StoredText.value(NetworkRule.self, "{}") == NetworkRule())
        var request = DownloadRequest(sources: [try DownloadURL("http://a.test/f")], destination: .directory("/d"))
        request.network = rule
        #expect(request.stored.join(nil).network == rule)
    }
}
