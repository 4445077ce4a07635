import FerryCore
import Foundation
import HTTPTypes
import Testing

@testable import Ferry
@testable import FerryAPI

@Suite("ChangeBody")
struct ChangeBodyTests {
    @Test("ChangeBody: a change of every property of a download is sent with a member for each property")
    func everyProperty() throws {
        let old = DownloadChange(
            DownloadRequest(sources: [try DownloadURL("https://a.example/f")], destination: .file("/f")))
        var new = old
        new.sources = [try DownloadURL("https://b.example/f")]
        new.headers[.referer] = "https://b.example/"
        new.maxConnections += 1
        new.rateLimit = 1000
        new.network.allowsMetered = true
        new.network.allowsConstrained = true
        new.network.allowsPrivate = false
        new.priority = DownloadPriority(rawValue: old.priority.rawValue + 1)
        new.label = "label"
        new.userInfo = ["key": "value"]
        new.checksum = try Checksum(parsing: "sha256:" + String(repeating: "0", count: 64))
        new.acceptsHTML.toggle()
        for (name, value) in zip(Mirror(reflecting: old).children, Mirror(reflecting: new).children) {
            #expect("\(name.value)" != "\(value.value)", "\(name.label ?? "") is not changed by this test")
        }

        let data = try APICoding.encode(ChangeBody(from: old, to: new))
        let members = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        // One URL is sent among `urls`; credentials are those of a URL.
        let others: Set = ["url", "user", "password"]
        #expect(Set(members.keys) == Set(ChangeBody.CodingKeys.allCases.map(\.rawValue)).subtracting(others))
    }
}
