import FerryCore
import Testing

@Suite("Proxy settings")
struct ProxyTests {
    @Test(
        "Proxy: addresses with and without scheme, port and credentials are parsed",
        arguments: [
            ("http://p.example:3128", "http://p.example:3128", nil), ("p.example:3128", "http://p.example:3128", nil),
            ("http://p.example", "http://p.example:80", nil), ("HTTP://P.Example:8080/", "http://p.example:8080", nil),
            ("socks5://127.0.0.1:1081", "socks5://127.0.0.1:1081", nil), ("socks5h://s", "socks5://s:1080", nil),
            ("http://[::1]:8080", "http://[::1]:8080", nil), ("socks5://[::1]", "socks5://[::1]:1080", nil),
            ("socks5://s:80", "socks5://s:80", nil),
            ("http://u:p%40%3A@h:1", "http://h:1", Credentials(user: "u", password: "p@:")),
            ("http://u@h:1", "http://h:1", Credentials(user: "u", password: "")),
            ("http://u:a@b/c@h:1/x", "http://h:1", Credentials(user: "u", password: "a@b/c")),
            ("http://:@h:1", "http://h:1", nil), ("u:p@h:1", "http://h:1", Credentials(user: "u", password: "p")),
        ] as [(String, String, Credentials?)])
    func parsed(_ text: String, _ description: String, _ credentials: Credentials?) throws {
        let proxy = try Proxy(parsing: text)
        #expect(proxy.description == description)
        #expect(proxy.credentials == credentials)
        #expect(!String(reflecting: proxy).contains("a@b"))
    }

    @Test(
        "Proxy: an invalid address is refused, and the error shows no password",
        arguments: [
            "ftp://h:1", "https://u:hunter2@h:1", "socks4://h:1", "http://", "http://u:hunter2@", "http://h:99999",
            "http://u:hunter2@h:port", "http://h h:1", "socks5://u:hunter2@h:1", "://h", "http://[::1", "http://h:0",
            // A mistyped option value, not a host: it would be looked up ten times.
            "foo", "foo:", "u:hunter2@h", "foo/bar:1",
        ])
    func refused(_ text: String) {
        let error = #expect(throws: TextError.self) { try Proxy(parsing: text) }
        #expect(error?.message.contains("hunter2") == false)
    }

    private func proxy(_ environment: [String: String], _ url: String) throws -> String {
        try ProxySettings(environment: environment).proxy(for: DownloadURL(url)).map { "\($0)" } ?? "direct"
    }

    @Test("ProxySettings: environment variables are applied by curl's rules") func environment() throws {
        let http = "http://h.example/"
        let https = "https://h.example/"
        #expect(try proxy([:], http) == "direct")
        #expect(try proxy(["http_proxy": "a:1"], http) == "http://a:1")
        #expect(try proxy(["http_proxy": "a:1"], https) == "direct")
        #expect(try proxy(["https_proxy": "a:1", "all_proxy": "b:2"], https) == "http://a:1")
        #expect(try proxy(["https_proxy": "a:1", "all_proxy": "socks5://b:2"], http) == "socks5://b:2")
        #expect(try proxy(["http_proxy": "a:1", "HTTP_PROXY": "b:2"], http) == "http://a:1")
        #expect(try proxy(["http_proxy": "", "HTTP_PROXY": "b:2"], http) == "http://b:2")
        #expect(try proxy(["HTTP_PROXY": "b:2", "REQUEST_METHOD": "GET"], http) == "direct")
        #expect(try proxy(["HTTPS_PROXY": "b:2", "REQUEST_METHOD": "GET"], https) == "http://b:2")
        #expect(try proxy(["ALL_PROXY": "b:2", "NO_PROXY": "h.example"], https) == "direct")
        #expect(try proxy(["ALL_PROXY": "b:2", "no_proxy": "", "NO_PROXY": "h.example"], https) == "http://b:2")
        let error = #expect(throws: TextError.self) { try ProxySettings(environment: ["https_proxy": "u:hunter2@h:x"]) }
        #expect(error?.message.hasPrefix("https_proxy: ") == true && error?.message.contains("hunter2") == false)
    }

    @Test("ProxySettings: an explicit proxy applies to every URL, and an empty one or none is direct") func explicit()
        throws
    {
        let url = try DownloadURL("https://h.example/")
        for text in ["", "  ", "none", "NONE"] { #expect(try ProxySettings(explicit: text).proxy(for: url) == nil) }
        let settings = try ProxySettings(explicit: "http://u:hunter2@p:1", noProxy: "x.example")
        #expect(settings.proxy(for: url)?.credentials?.password == "hunter2")
        #expect(settings.proxy(for: try DownloadURL("http://x.example/")) == nil)
        #expect("\(settings)" == "http://p:1" && !String(reflecting: settings).contains("hunter2"))
        #expect("\(ProxySettings())" == "direct")
        #expect(ProxySettings().proxy(for: url) == nil)
    }

    @Test(
        "ProxySettings: no_proxy matches hosts, suffixes, ports and networks",
        arguments: [
            ("*", "http://a/", true), ("x, *", "http://a/", true), ("", "http://a/", false),
            (",, ", "http://a/", false),
            ("example.com", "http://example.com/", true), ("example.com", "http://www.example.com/", true),
            ("example.com", "http://notexample.com/", false), (".example.com", "http://example.com/", true),
            (".example.com", "http://a.b.example.com/", true), ("*.example.com", "http://a.example.com/", true),
            ("www.example.com", "http://example.com/", false), ("EXAMPLE.com", "http://Example.COM/", true),
            ("example.com.", "http://example.com/", true), ("example.com", "http://example.com./", true),
            ("a.example b.example", "http://b.example/", true), ("localhost", "http://localhost:8080/", true),
            ("h:8080", "http://h:8080/", true), ("h:8080", "http://h/", false), ("h:443", "https://h/", true),
            ("h:x", "http://h/", false), ("h:99999999999999999999", "http://h/", false),
            ("127.0.0.1", "http://127.0.0.1:81/", true), ("127.0.0.1", "http://127.0.0.2/", false),
            ("0.0.1", "http://127.0.0.1/", false), ("1", "http://127.0.0.1/", false),
            ("127.0.0.1:80", "http://127.0.0.1/", true), ("127.0.0.1:81", "http://127.0.0.1/", false),
            ("10.0.0.0/8", "http://10.255.1.2/", true), ("10.0.0.0/8", "http://11.0.0.1/", false),
            ("10.0.0.0/8", "http://10.example/", false), ("192.168.128.0/17", "http://192.168.127.1/", false),
            ("192.168.128.0/17", "http://192.168.129.1/", true), ("1.2.3.4/0", "http://9.9.9.9/", true),
            ("1.2.3.4/32", "http://1.2.3.4/", true), ("1.2.3.4/33", "http://1.2.3.4/", false),
            ("1.2.3.4/", "http://1.2.3.4/", false), ("1.2.3.4/-1", "http://1.2.3.4/", false),
            ("::1", "http://[::1]/", true), ("[::1]", "http://[::1]/", true), ("[::1]:80", "http://[::1]/", true),
            ("[::1]:81", "http://[::1]/", false), ("0:0:0:0:0:0:0:1", "http://[::1]/", true),
            ("fd00::/8", "http://[fd12::1]/", true), ("fd00::/8", "http://[fe80::1]/", false),
            ("::/0", "http://1.2.3.4/", false), ("example.com/8", "http://example.com/", false),
            (".", "http://a/", false), ("..", "http://a/", false), ("[", "http://a/", false),
        ] as [(String, String, Bool)])
    func bypass(_ list: String, _ url: String, _ isDirect: Bool) throws {
        let settings = try ProxySettings(explicit: "p:1", noProxy: list)
        #expect((settings.proxy(for: try DownloadURL(url)) == nil) == isDirect)
    }

    @Test(
        "Proxy: random text never traps, and a parsed proxy has a host and a valid port",
        arguments: [81, 82, 83] as [UInt64])
    func anyText(seed: UInt64) throws {
        var random = SeededBytes(seed: seed)
        let urls = try ["http://h/", "https://1.2.3.4:5/", "http://[::1]/"].map { try DownloadURL($0) }
        let pieces = [
            "http://", "socks5://", "@", ":", "/", "[", "]", "::1", "1.2.3.4", "/8", ",", "*", ".", "h", "%41",
        ]
        for _ in 0..<3000 {
            let text = random.text(of: pieces, length: 40)
            if let proxy = try? Proxy(parsing: text) {
                #expect(!proxy.host.isEmpty && (1...65_535).contains(proxy.port))
            }
            let settings = try ProxySettings(explicit: "p:1", noProxy: text)
            for url in urls { _ = settings.proxy(for: url) }
            _ = try? ProxySettings(environment: ["all_proxy": text])
        }
    }
}
