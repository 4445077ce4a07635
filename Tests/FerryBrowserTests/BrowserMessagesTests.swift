import Ferry
import FerryAPI
import FerryBrowser
import FerryCore
import Foundation
import HTTPTypes
import Testing

@Suite("Messages of the browser's extension") struct BrowserMessagesTests {
    private func link(_ text: String) throws -> BrowserLink {
        try JSONCoding.decode(Strict<BrowserLink>.self, from: Data(text.utf8)).body
    }

    private static let whole = """
        {"url": "https://example.com/a?b=c", "name": "x/../a.zip", "totalBytes": 7, "referer": "https://example.com/p",
        "userAgent": "Mozilla/5.0", "authorization": "Basic YTpi", "page": "https://example.com/p",
        "cookies": "example.com\\tFALSE\\t/\\tTRUE\\t0\\tsession\\tsecret"}
        """

    @Test("BrowserLink: cookies and Authorization of the request are secrets of the download, the name is made safe")
    func request() async throws {
        let request = try await link(Self.whole).request(isPaused: true) { _ in nil }
        #expect(request.destination == .directory("", name: .exact("a.zip")))
        #expect(request.startsPaused && request.id != nil)
        #expect(request.headers[.referer] == "https://example.com/p")
        #expect(request.headers[.authorization] == "Basic YTpi")
        #expect(request.connection.userAgent == "Mozilla/5.0")
        #expect(request.userInfo == ["page": "https://example.com/p"])
        let cookies = try #require(request.connection.cookies)
        #expect(cookies.header(for: request.sources[0], now: Date()) == "session=secret")
        #expect(cookies.header(for: try DownloadURL("https://example.org/"), now: Date()) == nil)
        let open = request.withoutSecrets
        #expect(open.headers[.authorization] == nil && open.connection.cookies == nil)
        try request.checkValues()
    }

    @Test("BrowserLink: the user and the password in the address of a tab are neither stored nor sent as the referrer")
    func userInfo() async throws {
        var link = BrowserLink(url: try DownloadURL("https://example.com/f"))
        (link.page, link.referer) = ("https://me:sesame@example.com/p?q=1", "https://me:sesame@example.com/p")
        let request = await link.request(isPaused: true) { _ in nil }
        #expect(request.userInfo == ["page": "https://example.com/p?q=1"])
        #expect(request.headers[.referer] == "https://example.com/p")
        link.page = "about:blank"
        #expect(await link.request(isPaused: true) { _ in nil }.userInfo.isEmpty)
    }

    @Test(
        "BrowserLink: only a page or an address that is known to be private leads into the user's network",
        arguments: [
            ("https://public.test/f", "https://public.test/", false), ("https://public.test/f", nil, false),
            ("https://public.test/f", "http://nas.test/", true), ("http://nas.test/f", "https://public.test/", true),
            ("http://127.0.0.1:8080/f", nil, true), ("https://unknown.test/f", "https://public.test/", false),
            ("https://public.test/f", "https://unknown.test/", false), ("https://public.test/f", "about:blank", false),
        ] as [(String, String?, Bool)])
    func network(url: String, page: String?, allowsPrivate: Bool) async throws {
        var link = BrowserLink(url: try DownloadURL(url))
        link.page = page
        let request = await link.request(isPaused: true) { host in
            ["public.test": false, "nas.test": true, "127.0.0.1": true][host]
        }
        #expect((request.network.allowsPrivate ?? true) == allowsPrivate)
    }

    @Test(
        "BrowserLink: a name that is private at the click leads into the user's network only if the browser has gone there",
        arguments: [
            (["192.168.1.2"], true), (["93.184.216.34", "10.0.0.1"], true), (["fd00::1"], true), (["::1"], true),
            (["93.184.216.34"], false), ([], false), (["192.168.1.2.example"], false), ([""], false), (nil, true),
        ] as [([String]?, Bool)])
    func rebinding(addresses: [String]?, allowsPrivate: Bool) async throws {
        var link = BrowserLink(url: try DownloadURL("http://rebound.test/f"))
        (link.page, link.addresses) = ("http://rebound.test/", addresses)
        let request = await link.request(isPaused: true) { _ in true }
        #expect((request.network.allowsPrivate ?? true) == allowsPrivate)
    }

    @Test("BrowserLink: a change has the URL, headers, cookies and User-Agent, and nothing else of a download")
    func change() throws {
        let change = try link(Self.whole).change(forbidsPrivate: false)
        let data = try JSONCoding.encode(change)
        let members = try #require(JSONValue(data).members)
        #expect(Set(members.keys) == ["urls", "headers", "cookies", "userAgent"])
        #expect(members["urls"] == ["https://example.com/a?b=c"])
        // Without cookies, those of the old link are dropped too.
        let plain = try link(#"{"url": "https://a.example/"}"#).change(forbidsPrivate: true)
        let bare = try #require(JSONValue(JSONCoding.encode(plain)).members)
        // What a public page offers does not lead into the network, although the download did.
        #expect(bare["allowsPrivate"] == false)
        #expect(bare["cookies"] == .null && bare["userAgent"] == .null && bare["headers"] == [:])
    }

    @Test(
        "BrowserLink: a place, a proxy, a header or a certificate is refused, and so is what is no web address",
        arguments: [
            #"{"url": "https://a.example/", "directory": "/etc"}"#, #"{"url": "https://a.example/", "path": "/etc/x"}"#,
            #"{"url": "https://a.example/", "proxy": "http://p:1"}"#,
            #"{"url": "https://a.example/", "insecure": true}"#,
            #"{"url": "https://a.example/", "headers": {"X": "y"}}"#, #"{"url": "file:///etc/passwd"}"#, "{}",
        ])
    func refused(text: String) {
        #expect(throws: (any Error).self) { try link(text) }
    }

    @Test("BrowserLink: names that leave nothing, headers with line breaks and long pages are left out")
    func odd() async throws {
        var odd = try link(#"{"url": "https://a.example/f", "name": "..", "referer": "a\r\nX: y"}"#)
        odd.page = "https://a.example/" + String(repeating: "x", count: 3000)
        let request = await odd.request(isPaused: false) { _ in nil }
        #expect(request.destination == .directory("", name: .suggested))
        #expect(request.headers.isEmpty && request.userInfo.isEmpty && !request.startsPaused)
    }

    @Test(
        "BrowserHost: what is no message of this version is answered with its number and the reason",
        arguments: [
            ("[]", nil, "JSON"), ("{\"version\": 1}", nil, "JSON"),
            (#"{"version": 2, "number": 7, "new": true}"#, 7, "version 2"),
            (#"{"version": 1, "number": 8, "request": "list", "path": "/"}"#, 8, "path"),
            (#"{"version": 1, "number": 9, "request": "run"}"#, 9, "run"),
            (#"{"version": 1, "number": 10, "request": "open"}"#, 10, "“id”"),
            (#"{"version": 1, "number": 11, "request": "add", "downloads": []}"#, 11, "“downloads”"),
            (#"{"version": 1, "number": 12, "request": "take", "id": "x"}"#, 12, "“id”"),
            (String(repeating: "[", count: 9), nil, "deeply"),
        ] as [(String, Int?, String)])
    func unusable(text: String, number: Int?, reason: String) async {
        let answer = await BrowserHost { _ in false }.answer(to: Data(text.utf8))
        #expect(answer.number == number)
        #expect(answer.error?.code == .invalidRequest)
        #expect(answer.error?.message.contains(reason) == true, "\(String(describing: answer.error))")
    }
}
