import FerryAPI
import FerryCore
import Foundation
import HTTPTypes
import Testing

@testable import Ferry

@Suite("RequestChange")
struct RequestChangeTests {
    @Test("RequestChange: every property that may change is sent, and arrives; the others stay")
    func everyProperty() throws {
        let old = DownloadRequest(sources: [try DownloadURL("https://a.example/f")], destination: .file("/f"))
        var new = old
        new.sources = [try DownloadURL("https://a.example/g")]
        new.headers[.referer] = "https://b.example/"
        new.onConflict = .skip
        new.maxConnections += 1
        new.rateLimit = 1000
        new.network.allowsMetered = true
        new.network.allowsConstrained = true
        new.network.allowsPrivate = false
        new.priority = .high
        new.notBefore = Date(timeIntervalSince1970: 1_700_000_000)
        new.label = "label"
        new.userInfo = ["key": "value"]
        new.checksum = try Checksum(parsing: "sha256:" + String(repeating: "0", count: 64))
        new.trust.acceptsHTML.toggle()
        new.trust.resumesUnproven.toggle()
        new.trust.allowsDowngrade.toggle()
        new.connection.proxy = .direct
        new.connection.certificates = "-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n"
        new.connection.insecure.toggle()
        new.connection.addressFamily = .v6
        new.connection.connectTimeout = .milliseconds(1500)
        new.connection.userAgent = "agent"
        new.connection.cookies = CookieJar(netscapeFile: "h\tFALSE\t/\tFALSE\t0\ta\tb\n")
        new.stallTimeout = .seconds(1)
        new.minSpeed = 1
        new.maxRetries = 0
        new.minFreeBytes = 0
        new.maxBytes = 1
        var wish = new
        wish.destination = .file("/elsewhere")
        wish.startsPaused = true
        let change = RequestChange(from: old, to: wish)
        let data = try JSONCoding.encode(change)
        let members = try #require(try JSONValue(data).members)
        #expect(Set(members.keys) == RequestChange.memberNames.subtracting(["user", "password"]))
        var changed = old
        try JSONCoding.decode(Strict<RequestChange>.self, from: data).body.apply(to: &changed)
        #expect(changed == new)
        #expect(old.changed(to: wish) == new)
    }

    @Test("RequestChange: a property that cannot be changed is refused by its name")
    func fixedProperties() throws {
        let old = DownloadRequest(sources: [try DownloadURL("https://a.example/f")], destination: .file("/f"))
        let list = try DownloadURL("https://a.example/sums")
        let changes: [(name: String, change: (inout DownloadRequest) -> Void)] = [
            ("destination", { $0.destination = .file("/elsewhere") }),
            ("credentials", { $0.credentials = Credentials(user: "u", password: "p") }),
            ("checksumList", { $0.checksumList = list }), ("expectedBytes", { $0.expectedBytes = 1 }),
            ("maxRedirects", { $0.maxRedirects = 1 }), ("strict", { $0.trust.strict = true }),
            ("startsPaused", { $0.startsPaused = true }), ("id", { $0.id = "other" }),
            ("uploadTo", { $0.uploadTo = list }), ("syncsToDisk", { $0.syncsToDisk = false }),
        ]
        for (name, change) in changes {
            var wish = old
            wish.label = "label"
            change(&wish)
            #expect {
                _ = try old.amended(to: wish)
            } throws: {
                let error = $0 as? DownloadError
                return error?.code == .invalidRequest && error?.phrase == ErrorPhrase(.notChangeable, name)
            }
        }
    }

    @Test("RequestChange: a checksum of null also drops the checksum in the journal, and is stored")
    func noChecksum() throws {
        var request = DownloadRequest(sources: [try DownloadURL("https://a.example/f")], destination: .file("/f"))
        let change = try JSONCoding.decode(Strict<RequestChange>.self, from: Data(#"{"checksum": null}"#.utf8)).body
        change.apply(to: &request)
        #expect(request.ignoresEarlierChecksum)
        let stored = try JSONCoding.decode(DownloadRequest.self, from: try JSONCoding.encode(request))
        #expect(stored == request)
        var other = request
        other.checksum = try Checksum(parsing: "sha256:" + String(repeating: "0", count: 64))
        #expect(!request.changed(to: other).ignoresEarlierChecksum)
        #expect(request.changed(to: other).changed(to: request) == request)
    }
}
