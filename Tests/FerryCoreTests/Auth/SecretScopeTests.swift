import FerryCore
import HTTPTypes
import Testing

@Suite("SecretScope")
struct SecretScopeTests {
    private let ann = Credentials(user: "ann", password: "hush")
    private let bob = Credentials(user: "bob", password: "quiet")

    private func request(_ urls: String...) throws -> DownloadRequest {
        var request = DownloadRequest(sources: try urls.map { try DownloadURL($0) }, destination: .directory("/d"))
        request.credentials = ann
        request.headers = headers
        return request
    }

    private var headers: HTTPFields {
        var headers = HTTPFields()
        headers[.authorization] = "Bearer t"
        headers[.cookie] = "c=1"
        headers[.accept] = "a/b"
        return headers
    }

    @Test("SecretScope: a URL of the first source's origin gets all headers and the credentials")
    func home() throws {
        let request = try request("https://a.test/f", "https://m.test/f")
        let scope = SecretScope(of: request, for: request.sources[0])
        let elsewhere = try DownloadURL("https://a.test:443/other?q")
        #expect(scope.headers(for: elsewhere) == request.headers)
        #expect(scope.credentials(for: elsewhere) == ann)
    }

    @Test(
        "SecretScope: another scheme, host or port gets no secret header and no credentials",
        arguments: [
            "http://a.test/f", "https://a.test:444/f", "https://b.a.test/f", "https://a.test.evil/f",
            "https://a.test./f",
            "https://m.test/f",
        ])
    func elsewhere(text: String) throws {
        let request = try request("https://a.test/f", "https://m.test/f")
        let url = try DownloadURL(text)
        let redirected = SecretScope(of: request, for: request.sources[0])
        #expect(redirected.credentials(for: url) == nil)
        #expect(redirected.headers(for: url).isEmpty)
        // A mirror that is requested itself gets the headers without secrets.
        let asked = SecretScope(of: request, for: url)
        #expect(asked.credentials(for: url) == nil)
        #expect(asked.headers(for: url) == headers.withoutSecrets)
    }

    @Test("SecretScope: user info of a URL is for that URL's origin alone, before the request's credentials")
    func userInfo() throws {
        let request = try request("https://a.test/f", "https://bob:quiet@m.test/f")
        let mirror = SecretScope(of: request, for: request.sources[1])
        #expect(mirror.credentials(for: try DownloadURL("https://m.test/g")) == bob)
        #expect(mirror.credentials(for: try DownloadURL("https://a.test/f")) == ann)
        #expect(mirror.credentials(for: try DownloadURL("http://m.test/g")) == nil)
        #expect(SecretScope(of: request, for: request.sources[0]).credentials(for: request.sources[1]) == nil)
    }

    @Test("SecretScope: without URLs secrets go to the named origin, and to none without one")
    func named() throws {
        var request = try request()
        let journal = try DownloadURL("https://evil.test/f")
        #expect(SecretScope.home(of: request) == nil)
        #expect(SecretScope(of: request, for: journal).credentials(for: journal) == nil)
        #expect(SecretScope(of: request, for: journal).headers(for: journal) == headers.withoutSecrets)
        request.secretsOrigin = Origin(of: try DownloadURL("https://a.test/"))
        #expect(SecretScope(of: request, for: journal).credentials(for: journal) == nil)
        let honest = try DownloadURL("https://a.test/f")
        #expect(SecretScope(of: request, for: honest).credentials(for: honest) == ann)
    }

    @Test(
        "SecretScope: a change of URLs keeps the secrets only while the first URL is of the same origin",
        arguments: [
            (["https://a.test/new"], true), (["https://a.test/f"], true), (["https://m.test/f"], false),
            (["https://m.test/f", "https://a.test/f"], false), (["http://a.test/f"], false),
            (["https://x.test/f"], false),
        ])
    func change(urls: [String], stays: Bool) throws {
        let old = try request("https://a.test/f", "https://m.test/f")
        let new = SecretScope.change(old, sources: try urls.map { try DownloadURL($0) }, headers: old.headers)
        #expect(new.credentials == (stays ? ann : nil))
        #expect(new.headers == (stays ? headers : headers.withoutSecrets))
        #expect(new.sources.map(\.text) == urls)
    }

    @Test("SecretScope: a change of the origin with one new header keeps that header and no old secret")
    func partlyNew() throws {
        let old = try request("https://a.test/f")
        var wish = old.headers
        wish[.cookie] = "c=2"
        let new = SecretScope.change(old, sources: [try DownloadURL("https://x.test/f")], headers: wish)
        #expect(new.headers[.authorization] == nil)
        #expect(new.headers[.cookie] == "c=2")
        #expect(new.headers[.accept] == "a/b")
    }

    @Test("SecretScope: a named origin stays when other settings change, and is dropped with the URLs")
    func namedHomeStays() throws {
        var old = try request("https://m.test/f")
        old.secretsOrigin = Origin(of: try DownloadURL("https://a.test/"))
        #expect(SecretScope.change(old, sources: old.sources, headers: old.headers) == old)
        let moved = SecretScope.change(old, sources: [try DownloadURL("https://x.test/f")], headers: old.headers)
        #expect(moved.secretsOrigin == nil && moved.credentials == nil)
    }

    @Test("SecretScope: for random lists of URLs no secret is sent to another origin than its own")
    func neverLeaves() throws {
        var generator = SystemRandomNumberGenerator()
        let origins = ["https://a.test", "http://a.test", "https://a.test:8443", "https://m.test", "http://evil.test"]
        for _ in 0..<2000 {
            let count = Int.random(in: 0...3, using: &generator)
            var request = try request()
            for _ in 0..<count {
                let origin = origins[Int.random(in: 0..<origins.count, using: &generator)]
                let hasUser = Bool.random(using: &generator)
                let text = hasUser ? origin.replacing("://", with: "://bob:quiet@") : origin
                request.sources.append(try DownloadURL(text + "/f"))
            }
            if Bool.random(using: &generator) {
                request.secretsOrigin = Origin(origins[Int.random(in: 0..<origins.count, using: &generator)])
            }
            let journal = try DownloadURL("http://journal.test/")
            let asked = request.sources.randomElement(using: &generator) ?? journal
            let scope = SecretScope(of: request, for: asked)
            for text in origins + ["http://journal.test"] {
                let url = try DownloadURL(text + "/x")
                let home = SecretScope.home(of: request)
                if scope.credentials(for: url) == ann { #expect(url.origin == home) }
                if scope.credentials(for: url) == bob { #expect(url.origin == asked.origin) }
                if scope.headers(for: url)[.authorization] != nil { #expect(url.origin == home) }
            }
        }
    }

    @Test(
        "Origin: text and parsed value round-trip, and anything beyond an origin is refused",
        arguments: [
            ("https://a.test", "https://a.test"), ("http://[::1]:81", "http://[::1]:81"),
            ("HTTPS://A.test:443/", "https://a.test"), ("https://a.test/x", nil), ("https://me@a.test", nil),
            ("https://a.test?q", nil), ("a.test", nil), ("ftp://a.test", nil), ("", nil),
        ])
    func origin(text: String, written: String?) {
        let origin = Origin(text)
        #expect(origin?.description == written)
        #expect(origin == written.flatMap { Origin($0) })
    }
}
