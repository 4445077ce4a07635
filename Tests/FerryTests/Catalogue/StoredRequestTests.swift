import FerryCore
import Foundation
import HTTPTypes
import Testing

@testable import Ferry

@Suite("Stored requests")
struct StoredRequestTests {
    private func request() throws -> DownloadRequest {
        var request = DownloadRequest(
            sources: [
                try DownloadURL("https://me:pass%40word@example.com/a?token=1"), try DownloadURL("http://b.example/"),
                try DownloadURL("http://other:w0rd@c.example:8080/x"),
            ], destination: .file("/dl/a"))
        request.credentials = Credentials(user: "user", password: "hunter2")
        request.checksumList = try DownloadURL("https://lister:listpw@example.com/SUMS")
        request.headers.append(HTTPField(name: .accept, value: "a/b"))
        request.headers.append(HTTPField(name: .authorization, value: "Bearer tok"))
        request.headers.append(HTTPField(name: .accept, value: "c/d"))
        request.headers.append(HTTPField(name: .cookie, value: "session=cookie1"))
        request.headers.append(HTTPField(name: HTTPField.Name("X-Key")!, value: "xkey1"))
        request.headers.append(HTTPField(name: HTTPField.Name("X-Key")!, value: "xkey2"))
        request.headers.append(HTTPField(name: .referer, value: "https://example.com/page"))
        request.connection.proxy = try ProxyChoice(parsing: "http://prox:pr%40xypw@p.example:3128")
        request.connection.cookies = CookieJar(netscapeFile: "example.com\tTRUE\t/\tFALSE\t0\tid\tcookie2\n")
        request.connection.userAgent = "agent"
        request.knownObject = KnownObject(etag: "\"object\"")
        request.knownIdentity = FileIdentity(etag: "\"file\"", lastModified: nil, totalBytes: 5)
        return request
    }

    @Test("StoredRequest: a request is equal after split, storage and join")
    func roundTrip() throws {
        let whole = try request()
        let (stored, secrets) = (whole.stored, Secrets(of: whole))
        #expect(stored.join(secrets) == whole)
        let column = RequestColumn(stored, hasSecrets: true)
        let again = try StoredText.value(RequestColumn.self, StoredText.text(column))
        let read = again.request
        #expect(again.hasSecrets)
        #expect(read == stored)
        #expect(read.join(secrets) == whole)
    }

    @Test("StoredRequest: neither its text nor its description contains a secret")
    func secrecy() throws {
        let (stored, secrets) = (try request().stored, Secrets(of: try request()))
        let words = [
            "pass", "w0rd", "hunter2", "user\"", "lister", "listpw", "tok\"", "Bearer", "cookie1", "xkey", "X-Key",
            "prox:", "xypw", "cookie2",
        ]
        for text in [
            try StoredText.text(RequestColumn(stored, hasSecrets: false)), "\(stored)", "\(try #require(secrets))",
        ] {
            for word in words { #expect(!text.contains(word), "\(word) in \(text)") }
        }
        #expect(stored.headers.map(\.value).sorted() == ["a/b", "c/d", "https://example.com/page"])
        // Without secrets the request has its URLs and no credentials.
        let bare = stored.join(nil)
        #expect(bare.credentials == nil && bare.sources.allSatisfy { $0.credentials == nil })
        #expect(bare.sources.map(\.text) == (try request()).sources.map(\.text))
    }

    @Test("StoredRequest: a request without secrets has none after the split")
    func noSecrets() throws {
        var whole = DownloadRequest(sources: [try DownloadURL("https://example.com/a")], destination: .directory("/dl"))
        whole.headers[.acceptLanguage] = "en"
        whole.headers[.userAgent] = "x"
        let (stored, secrets) = (whole.stored, Secrets(of: whole))
        #expect(secrets == nil)
        #expect(stored.join(nil) == whole)
    }

    @Test("StoredRequest: secrets of removed sources are left out by join")
    func fewerSources() throws {
        var stored = try request().stored
        let secrets = Secrets(of: try request())
        stored.sources.removeLast(2)
        #expect(stored.join(secrets).sources.map(\.credentials) == [Credentials(user: "me", password: "pass@word")])
    }

    @Test("StoredRequest: another proxy than the one that they were given for does not get the credentials")
    func otherProxy() throws {
        let file = try StoredText.text(SecretText(id: "a", secrets: try #require(Secrets(of: try request()))))
        let secrets = try StoredText.value(SecretText.self, file).secrets
        var stored = try request().stored
        #expect(stored.connection.proxy?.server?.credentials == nil)
        #expect(stored.join(secrets).connection == (try request()).connection)
        for other in ["http://p.example:3129", "http://evil.example:3128", "socks5://p.example:3128", "none"] {
            stored.connection.proxy = try ProxyChoice(parsing: other)
            #expect(stored.join(secrets).connection.proxy == stored.connection.proxy)
        }
    }

    @Test("StoredRequest: with other URLs than the secrets' origins, join gives them to no other origin")
    func otherSources() throws {
        let (whole, given) = (try request().stored, Secrets(of: try request()))
        let file = try StoredText.text(SecretText(id: "a", secrets: try #require(given)))
        let secrets = try StoredText.value(SecretText.self, file).secrets
        var stored = whole
        let evil = try DownloadURL("https://evil.example/a")
        stored.sources = [evil, try DownloadURL("https://example.com/a")]
        let joined = stored.join(secrets)
        #expect(joined.sources.allSatisfy { $0.credentials == nil })
        let scope = SecretScope(of: joined, for: evil)
        #expect(scope.credentials(for: evil) == nil)
        #expect(scope.headers(for: evil) == joined.headers.withoutSecrets)
        #expect(scope.credentials(for: joined.sources[1]) == Credentials(user: "user", password: "hunter2"))
    }

    @Test(
        "StoredRequest: a minimal request has this JSON text",
        arguments: [
            (DownloadRequest.Destination.directory("/dl"), "\"directory\":\"/dl\""),
            (.directory("/dl", name: .exact("n \"1\"")), "\"directory\":\"/dl\",\"name\":\"n \\\"1\\\"\""),
            (.file("/dl/a"), "\"path\":\"/dl/a\""), (.part("/dl/a.part"), "\"part\":\"/dl/a.part\""),
        ])
    func shape(destination: DownloadRequest.Destination, text: String) throws {
        let stored = try StoreBench.request("https://example.com/a?b", to: destination)
        let json = try StoredText.text(RequestColumn(stored, hasSecrets: false))
        #expect(json == "{\(text),\"urls\":[\"https://example.com/a?b\"]}")
        #expect(try StoredText.value(RequestColumn.self, json).request == stored)
    }

    @Test("StoredRequest: a full request has this JSON text")
    func fullShape() throws {
        let stored = try StoreBench.fullRow("a").request
        let json = try StoredText.text(RequestColumn(stored, hasSecrets: false))
        #expect(
            json == """
                {"allowsConstrained":false,"allowsMetered":true,\
                "checksum":"sha-256=\(String(repeating: "07", count: 32))",\
                "checksumList":"https://example.com/SHA256SUMS","directory":"/dl/sub",\
                "headers":{"Accept":"text/plain, */*","User-Agent":"me \\"2\\""},\
                "maxBytes":1152921504606846976,"maxConnections":3,"name":"c d.bin","notBefore":1700000010.5,\
                "onConflict":"overwrite","onDuplicate":"fail","rateLimit":1000,"startsPaused":true,"strict":true,\
                "syncsToDisk":false,"urls":["https://example.com/%C3%A4%20b?k=v&x=1","http://mirror.example/c"]}
                """)
        #expect(try StoredText.value(RequestColumn.self, json).request == stored)
    }

    @Test("StoredRequest: missing newer fields are read as defaults, and are read back when set")
    func later() throws {
        let before = #"{"urls":["http://h/a"],"directory":"/d","allowsUnprovenParts":true}"#
        var stored = try StoredText.value(RequestColumn.self, before).request
        #expect(stored.trust.allowsUnprovenParts && !stored.trust.acceptsHTML && stored.root == nil)
        stored.trust.acceptsHTML = true
        stored.root = "/d"
        let text = try StoredText.text(RequestColumn(stored, hasSecrets: false))
        #expect(try StoredText.value(RequestColumn.self, text).request == stored)
        #expect(stored.join(nil) == stored && stored.stored == stored)
    }

    @Test(
        "StoredRequest: an invalid text is an error",
        arguments: [
            "{}", "[]", "{\"urls\":[],\"directory\":\"\"}", "{\"urls\":[\"ftp://x\"],\"path\":\"a\"}",
            "{\"path\":\"a\",\"checksum\":\"x\"}", "{\"path\":\"a\",\"onConflict\":\"explode\"}",
            "{\"path\":\"a\",\"part\":\"b\"}",
        ])
    func nonsense(text: String) {
        #expect(throws: (any Error).self) { try StoredText.value(RequestColumn.self, text) }
    }

    @Test("StoredRequest: unknown fields are ignored, and numbers out of range are clamped")
    func unknownFields() throws {
        let text = "{\"part\":\"/a\",\"colour\":\"blue\",\"maxConnections\":-4}"
        let stored = try StoredText.value(RequestColumn.self, text).request
        #expect(stored.destination == .part("/a") && stored.maxConnections == 1)
    }
}
