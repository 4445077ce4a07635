import FerryCore
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("Headers for all downloads of a manager")
struct SharedHeadersTests {
    private static let home = "https://a.test/f"
    private static let mirror = "https://m.test/f"
    private static let stranger = "https://cdn.test/f"

    private func settings(_ change: (inout TransferSettings) throws -> Void) rethrows -> TransferSettings {
        var settings = TransferSettings()
        try change(&settings)
        return settings
    }

    private func origin(_ text: String) throws -> Origin { Origin(of: try DownloadURL(text)) }

    /// What a request to `text` has, in the chain that begins at the first source, or at `source`.
    private func sent(
        to text: String, from source: String? = nil, _ settings: TransferSettings,
        _ change: (inout DownloadRequest) -> Void = { _ in }
    ) throws -> [String: String] {
        var request = DownloadRequest(
            sources: [try DownloadURL(Self.home), try DownloadURL(Self.mirror)], destination: .directory("/d"))
        change(&request)
        let source = try source.map { try DownloadURL($0) } ?? request.sources[0]
        let headers = SecretScope(of: request, for: source).headers(
            for: try DownloadURL(text), settings.with(request.connection).headers)
        return Dictionary(uniqueKeysWithValues: headers.map { ($0.name.canonicalName, $0.value) })
    }

    @Test("Shared headers: without origins they are sent to the sources, and to no other origin after a redirect")
    func open() throws {
        let settings = try settings { try $0.setHeader("Accept-Language", to: "de") }
        #expect(try sent(to: Self.home, settings) == ["accept-language": "de"])
        #expect(try sent(to: Self.mirror, from: Self.mirror, settings) == ["accept-language": "de"])
        for other in [Self.mirror, Self.stranger, "http://a.test/f", "https://a.test:444/f"] {
            #expect(try sent(to: other, settings).isEmpty, "\(other)")
        }
    }

    @Test("Shared headers: those of an origin are sent to it alone, from whatever source a redirect leads there")
    func scoped() throws {
        let settings = try settings {
            try $0.setHeader("Authorization", to: "Bearer a", for: [origin(Self.home)])
            try $0.setHeader("Authorization", to: "Bearer c", for: [origin(Self.stranger)])
            try $0.setHeader("X-Key", to: "k", for: [origin(Self.home), origin(Self.stranger)])
        }
        #expect(try sent(to: Self.home, settings) == ["authorization": "Bearer a", "x-key": "k"])
        #expect(try sent(to: Self.home, from: Self.mirror, settings) == ["authorization": "Bearer a", "x-key": "k"])
        #expect(try sent(to: Self.stranger, settings) == ["authorization": "Bearer c", "x-key": "k"])
        for other in [
            Self.mirror, "http://a.test/f", "https://a.test:444/f", "https://b.a.test/f", "https://a.test./f",
        ] {
            #expect(try sent(to: other, from: other, settings).isEmpty, "\(other)")
        }
    }

    @Test("Shared headers: a download's own headers, credentials, cookies and user agent take precedence")
    func precedence() throws {
        let settings = try settings {
            for name in ["Authorization", "Cookie", "User-Agent", "X-Key"] {
                try $0.setHeader(name, to: "shared", for: [origin(Self.home)])
            }
        }
        let all = ["authorization", "cookie", "user-agent", "x-key"]
        func kept(_ change: (inout DownloadRequest) throws -> Void) throws -> [String] {
            try sent(to: Self.home, settings) { try? change(&$0) }.filter { $0.value == "shared" }.keys.sorted()
        }
        #expect(try kept { _ in } == all)
        #expect(try kept { try $0.setHeader("x-KEY", to: "own") } == ["authorization", "cookie", "user-agent"])
        #expect(try kept { try $0.setHeader("X-Key", to: "") } == ["authorization", "cookie", "user-agent"])
        let ann = Credentials(user: "ann", password: "hush")
        #expect(try kept { $0.credentials = ann } == ["cookie", "user-agent", "x-key"])
        #expect(try kept { $0.sources[0] = $0.sources[0].with(ann) } == ["cookie", "user-agent", "x-key"])
        #expect(try kept { $0.connection.cookies = CookieJar() } == ["authorization", "user-agent", "x-key"])
        #expect(try kept { $0.connection.userAgent = "own" } == ["authorization", "cookie", "x-key"])
        // Own headers that are not sent to that origin replace nothing there.
        let elsewhere = try sent(to: Self.home, from: Self.mirror, settings) {
            $0.secretsOrigin = Origin(of: $0.sources[1])
            $0.headers[.authorization] = "own"
        }
        #expect(elsewhere["authorization"] == "shared")
    }

    @Test("Shared headers: for an origin they come before those without, and are removed one by one or together")
    func removed() throws {
        let (home, other) = (try origin(Self.home), try origin(Self.mirror))
        var settings = try settings {
            try $0.setHeader("Accept", to: "a/a")
            try $0.setHeader("Accept", to: "b/b", for: [home, other])
        }
        #expect(try sent(to: Self.home, settings) == ["accept": "b/b"])
        try settings.setHeader("accept", to: nil, for: [home])
        #expect(settings.header("Accept", for: home) == nil && settings.header("Accept", for: other) == "b/b")
        #expect(try sent(to: Self.home, settings) == ["accept": "a/a"])
        try settings.setHeader("ACCEPT", to: nil)
        #expect(settings.header("Accept") == nil && settings.header("Accept", for: other) == nil)
        #expect(try sent(to: Self.home, settings).isEmpty)
    }

    @Test(
        "Shared headers: one that may be secret needs an origin, and an impossible one is refused without its value",
        arguments: [
            ("Authorization", "hunter2"), ("Cookie", "hunter2"), ("X-Key", "hunter2"), ("no name", "hunter2"),
            ("Accept", "hunter2\n"), ("", "hunter2"),
        ])
    func refused(name: String, value: String) throws {
        var settings = TransferSettings()
        let error = #expect(throws: DownloadError.self) { try settings.setHeader(name, to: value) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("hunter2") == false)
        #expect(settings.headers == SharedHeaders())
    }

    @Test("Shared headers: no value is printed with the settings")
    func printed() throws {
        let settings = try settings { try $0.setHeader("X-Key", to: "hunter2", for: [origin(Self.home)]) }
        var dumped = ""
        dump(settings, to: &dumped)
        #expect(!"\(settings) \(String(reflecting: settings)) \(dumped)".contains("hunter2"))
    }

    @Test("Shared headers: secret ones are handed over to the system only if the URL is known to redirect nowhere")
    func handedOver() throws {
        let settings = try settings {
            try $0.setHeader("Authorization", to: "Bearer a", for: [origin(Self.home)])
            try $0.setHeader("Accept", to: "a/a")
        }
        let request = DownloadRequest(sources: [try DownloadURL(Self.home)], destination: .directory("/d"))
        func target(_ answered: String?, isDirect: Bool) throws -> HTTPFields {
            try HandoverTarget.choose(
                for: request, source: request.sources[0], target: try answered.map { try DownloadURL($0) },
                isDirect: isDirect, settings: settings, now: Date(timeIntervalSince1970: 0)
            ).fields
        }
        let direct = try target(nil, isDirect: true)
        #expect(direct[.authorization] == "Bearer a" && direct[.accept] == "a/a")
        #expect(throws: HandoverObstacle.secretsAcrossOrigins) { try target(nil, isDirect: false) }
        let signed = try target(Self.stranger, isDirect: false)
        #expect(signed[.authorization] == nil && signed[.accept] == nil)
    }
}
