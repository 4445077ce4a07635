import FerryCore
import Foundation
import HTTPTypes
import Testing

@Suite("Rules in journals") struct JournalRulesTests {
    private func decoded(_ text: String) throws -> DownloadRequest {
        var request = DownloadRequest.plain
        try JSONDecoder().decode(JournalRules.self, from: Data(text.utf8)).apply(to: &request)
        return request
    }

    @Test("JournalRules: a request with defaults has none, and others are the same after coding")
    func coding() throws {
        var request = DownloadRequest(sources: [try DownloadURL("https://h/f")], destination: .directory("/d"))
        (request.label, request.rateLimit, request.trust.allowsDowngrade) = ("a", 5, true)
        request.connection.proxy = .direct
        #expect(JournalRules(of: request) == nil)
        (request.onConflict, request.stallTimeout, request.maxRedirects) = (.skip, .milliseconds(1500), 0)
        request.connection.userAgent = "mine"
        let rules = try #require(JournalRules(of: request))
        #expect(try JSONDecoder().decode(JournalRules.self, from: JSONEncoder().encode(rules)) == rules)
        var other = DownloadRequest.plain
        rules.apply(to: &other)
        #expect(JournalRules(of: other) == rules && other.onConflict == .skip && other.maxRedirects == 0)
        #expect(other.trust == TrustRules() && other.connection.proxy == nil && other.rateLimit == nil)
    }

    @Test("JournalRules: a journal sets no route, no secret, no place and no trust")
    func hostile() throws {
        let request = try decoded(
            """
            {"proxy": "http://evil:1", "insecure": true, "headers": {"X-Key": "1"}, "user": "u", "password": "p",
             "path": "/etc/x", "uploadTo": "s3://evil/x", "allowsDowngrade": true, "urls": ["http://evil/"],
             "startsPaused": true, "syncsToDisk": false, "maxBytes": 9}
            """)
        var expected = DownloadRequest.plain
        expected.maxBytes = 9
        #expect(request == expected)
    }

    @Test(
        "JournalRules: impossible ones are ignored",
        arguments: [
            "{\"maxBytes\": 0}", "{\"maxRedirects\": 1001}", "{\"userAgent\": \"a\\nb\"}",
            "{\"onConflict\": \"newer\"}",
            "{\"stallTimeout\": -1}", "{\"maxRetries\": 1e99}", "[]", "7",
        ])
    func impossible(text: String) throws {
        #expect(try decoded(text) == DownloadRequest.plain)
    }
}
