import HTTPTypes
import Testing

@testable import FerryCore

@Suite("A request for a listed download")
struct RepeatedRequestTests {
    private func request(_ url: String = "https://a.example/f") throws -> DownloadRequest {
        DownloadRequest(sources: [try DownloadURL(url)], destination: .directory("/d"))
    }

    private func listed() throws -> DownloadRequest {
        var listed = try request("https://ann:hush@a.example/f")
        listed.credentials = Credentials(user: "bob", password: "secret")
        listed.headers[.authorization] = "Bearer old"
        listed.headers[.referer] = "https://a.example/"
        listed.maxConnections = 3
        listed.label = "mine"
        return listed
    }

    @Test("Repeated request: defaults change nothing")
    func defaults() throws {
        let listed = try listed()
        #expect(listed.requested(again: try request()) == listed)
    }

    @Test("Repeated request: what it sets replaces the listed values, except the listed identity")
    func values() throws {
        var new = try request()
        new.headers[.authorization] = "Bearer new"
        (new.maxConnections, new.label, new.expectedBytes, new.trust.strict) = (5, "yours", 10, true)
        let request = try listed().requested(again: new)
        #expect(request.headers[.authorization] == "Bearer new" && request.headers[.referer] == "https://a.example/")
        #expect(request.maxConnections == 5 && request.expectedBytes == 10 && request.trust.strict)
        #expect(request.label == "mine")
        #expect(request.credentials?.user == "bob" && request.sources[0].credentials?.user == "ann")
    }

    @Test("Repeated request: new credentials take precedence over those in a listed URL")
    func credentials() throws {
        var new = try request()
        new.credentials = Credentials(user: "cyd", password: "word")
        let request = try listed().requested(again: new)
        #expect(request.credentials?.user == "cyd" && request.sources[0].credentials == nil)
        let other = try listed().requested(again: try self.request("https://cyd:word@a.example/f"))
        #expect(other.sources[0].credentials?.user == "cyd")
    }

    @Test("Repeated request: secrets do not follow to another proxy, certificate or origin", arguments: 0..<4)
    func routes(number: Int) throws {
        var new = try request()
        switch number {
        case 0: new.connection.proxy = try ProxyChoice(parsing: "http://p.example:80")
        case 1: new.connection.insecure = true
        case 2: new.connection.certificates = "/c.pem"
        default: new.secretsOrigin = try DownloadURL("https://b.example/").origin
        }
        let request = try listed().requested(again: new)
        #expect(!request.hasSecrets && request.sources[0].credentials == nil)
        #expect(request.headers[.referer] == "https://a.example/")
    }
}
