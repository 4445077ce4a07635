import FerryCore
import Foundation
import Testing

@Suite("Connection rules") struct ConnectionRulesTests {
    private func request(_ change: (inout ConnectionRules) throws -> Void) throws -> DownloadRequest {
        var request = DownloadRequest(sources: [try DownloadURL("https://h/f")], destination: .directory("/d"))
        try change(&request.connection)
        return request
    }

    @Test(
        "ProxyChoice: any credentials are the same after coding, and in no description",
        arguments: ["http://u:hunter2@h:1", "http://u%3A%40:hunter2%2F%40@[::1]:8080", "socks5://h", "h:1", "none", ""])
    func coding(text: String) throws {
        let choice = try ProxyChoice(parsing: text)
        let data = try JSONEncoder().encode(choice)
        #expect(try JSONDecoder().decode(ProxyChoice.self, from: data) == choice)
        #expect(!"\(choice) \(String(reflecting: choice))".contains("hunter2"))
        #expect(choice.withoutCredentials.server?.credentials == nil)
    }

    @Test("CookieJar: a jar is the same after coding, except for lines without a cookie")
    func cookies() throws {
        let text = """
            # Netscape HTTP Cookie File
            nonsense
            example.com\tTRUE\t/a\tTRUE\t4102444800\tid\tx y
            #HttpOnly_www.example.com\tFALSE\t/\tFALSE\t0\tempty\t
            127.0.0.1\tTRUE\t/\tFALSE\t-5\tid\t1
            example.com\tTRUE\t/\tFALSE\t0\tsecond\t2

            """
        let jar = CookieJar(netscapeFile: text)
        #expect(jar.count == 4 && jar.skippedLines == [2])
        let back = try JSONDecoder().decode(CookieJar.self, from: JSONEncoder().encode(jar))
        #expect(back.skippedLines.isEmpty)
        for url in ["https://www.example.com/a/b", "http://www.example.com/", "http://127.0.0.1/"] {
            let url = try DownloadURL(url)
            let header = jar.header(for: url, now: Date(timeIntervalSince1970: 0))
            #expect(header != nil && back.header(for: url, now: Date(timeIntervalSince1970: 0)) == header)
        }
        #expect(try JSONDecoder().decode(CookieJar.self, from: JSONEncoder().encode(back)) == back)
        for text in ["", "a=b", String(repeating: "h\tFALSE\t/\tFALSE\t0\ta\tb\n", count: 60_000)] {
            #expect(throws: DownloadError.self) {
                try JSONDecoder().decode(CookieJar.self, from: JSONEncoder().encode(text))
            }
        }
    }

    @Test("ConnectionRules: without secrets the cookies and the proxy's credentials are missing, the proxy is not")
    func secrets() throws {
        let request = try request {
            $0.proxy = try ProxyChoice(parsing: "http://u:hunter2@p:1")
            $0.cookies = CookieJar(netscapeFile: "h\tFALSE\t/\tFALSE\t0\tid\thunter2\n")
            $0.userAgent = "a"
        }
        let open = request.withoutSecrets
        #expect(open.connection.proxy == (try ProxyChoice(parsing: "http://p:1")))
        #expect(open.connection.cookies == nil && open.connection.userAgent == "a")
        #expect(!String(decoding: try JSONEncoder().encode(open), as: UTF8.self).contains("hunter2"))
    }

    @Test("ConnectionRules: a download's rules take precedence over its manager's, whose exceptions stay")
    func precedence() throws {
        var settings = TransferSettings(proxy: try ProxySettings(explicit: "a:1", noProxy: "local.test"))
        settings.userAgent = "manager"
        settings.connectTimeout = .seconds(3)
        #expect(settings.with(ConnectionRules()) == settings)
        var rules = ConnectionRules()
        rules.proxy = try ProxyChoice(parsing: "b:2")
        rules.userAgent = "own"
        let (far, near) = (try DownloadURL("https://h/"), try DownloadURL("http://local.test/"))
        let own = settings.with(rules)
        #expect(own.proxy.proxy(for: far)?.port == 2 && own.proxy.proxy(for: near) == nil)
        #expect(own.userAgent == "own" && own.connectTimeout == .seconds(3))
        rules.proxy = .direct
        #expect(settings.with(rules).proxy.proxy(for: far) == nil)
    }
}
