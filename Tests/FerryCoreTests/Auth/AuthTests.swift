import FerryCore
import Testing

@Suite("Authentication challenges")
struct AuthTests {
    @Test("Credentials: a password that only looks the same is another one")
    func equality() {
        let composed = Credentials(user: "u", password: "caf\u{E9}")
        #expect(composed != Credentials(user: "u", password: "cafe\u{301}"))
        #expect(composed == Credentials(user: "u", password: "caf\u{E9}"))
    }

    @Test(
        "AuthChallenge: one field line may hold several challenges, and malformed ones are left out",
        arguments: [
            ("Basic realm=\"a, b\"", ["basic realm=a, b"]),
            ("basic", ["basic"]),
            ("Basic realm=x, Digest nonce=\"n\", realm=\"r\"", ["basic realm=x", "digest nonce=n realm=r"]),
            ("Negotiate, Basic realm=\"x\"", ["negotiate", "basic realm=x"]),
            ("Negotiate YII=, Basic realm=x", ["negotiate <YII=>", "basic realm=x"]),
            ("NTLM abc==", ["ntlm <abc==>"]),
            ("Bearer error=\"x\\\"y\\\\z\"", ["bearer error=x\"y\\z"]),
            (",, ,Basic  realm = \"x\" ,, charset=UTF-8,", ["basic charset=UTF-8 realm=x"]),
            ("New a=1, a=2", ["new a=1"]),
            ("Basic realm=\"open", ["basic"]),
            ("realm=\"x\"", []), ("", []), ("  ,", []), ("\"Basic\" realm=x, Digest nonce=n", ["digest nonce=n"]),
            ("Basic realm=x junk, Digest nonce=n", ["basic realm=x", "digest nonce=n"]),
            ("Basic =x, Digest nonce=n", ["digest nonce=n"]),
            ("Basic realm=", ["basic <realm=>"]), ("Basic realm=\"\"", ["basic realm="]),
            ("Basic{x}, Digest nonce=n", ["digest nonce=n"]),
        ] as [(String, [String])])
    func challenges(_ line: String, _ expected: [String]) {
        let found = AuthChallenge.parse([line]).map { challenge in
            challenge.scheme + challenge.parameters.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
                + (challenge.token68.map { " <\($0)>" } ?? "")
        }
        #expect(found == expected)
    }

    @Test("BasicCredentials: the header is Base64 of UTF-8 with the right padding") func basic() {
        let header = { BasicCredentials.header(Credentials(user: $0, password: $1)) }
        #expect(header("Aladdin", "open sesame") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(header("", "") == "Basic Og==")
        #expect(header("a", "b") == "Basic YTpi")
        #expect(header("test", "123£") == "Basic dGVzdDoxMjPCow==")
        #expect(header("ab", "??>") == "Basic YWI6Pz8+")
        #expect(header("a\r\nX", "\u{FF}") == "Basic YQ0KWDrDvw==")
    }

    @Test("AuthAnswer: Digest with SHA-256 is preferred to MD5, and both to Basic") func best() {
        let md5 = "Digest realm=r, nonce=m, algorithm=MD5, qop=\"auth,auth-int\""
        let sha = "Digest realm=r, nonce=s, algorithm=sha-256, qop=\"auth\""
        let algorithm = { (lines: [String]) -> String in
            switch AuthAnswer.best(ofFields: lines) {
            case .digest(let digest): digest.algorithm.rawValue
            case .basic(let realm): "Basic \(realm ?? "-")"
            case nil: "none"
            }
        }
        #expect(algorithm(["Basic realm=x", md5, sha]) == "SHA-256")
        #expect(algorithm(["Basic realm=x", md5]) == "MD5")
        #expect(algorithm(["\(sha), \(md5)"]) == "SHA-256")
        #expect(algorithm(["Digest realm=r, nonce=n, algorithm=SHA-512-256, Basic realm=x"]) == "Basic x")
        #expect(algorithm(["Digest realm=r, nonce=n, qop=auth-int", "Basic"]) == "Basic -")
        #expect(algorithm(["Digest realm=r, qop=auth"]) == "none")
        #expect(algorithm(["Digest realm=r, nonce=n"]) == "MD5")
        #expect(algorithm(["Negotiate", "Bearer realm=x"]) == "none")
        #expect(algorithm([]) == "none")
    }

    private func answer(
        _ challenge: String, user: String = "Mufasa", password: String, uri: String = "/dir/index.html", count: Int = 1,
        cnonce: String
    ) throws -> String {
        let parsed = try #require(AuthChallenge.parse([challenge]).first.flatMap { DigestChallenge($0) })
        return parsed.authorization(
            method: "GET", uri: uri, credentials: Credentials(user: user, password: password), nonceCount: count,
            cnonce: cnonce, hash: LittleHash.digest)
    }

    @Test(
        "DigestChallenge: the examples of RFC 7616 §3.9.1 give the printed responses",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ])
    func rfc7616(_ algorithm: String, _ response: String) throws {
        let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
        let opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
        let header = try answer(
            "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=\(algorithm), nonce=\"\(nonce)\","
                + " opaque=\"\(opaque)\"", password: "Circle of Life", cnonce: cnonce)
        #expect(
            header == "Digest username=\"Mufasa\", realm=\"http-auth@example.org\", nonce=\"\(nonce)\", "
                + "uri=\"/dir/index.html\", algorithm=\(algorithm), qop=auth, nc=00000001, cnonce=\"\(cnonce)\", "
                + "response=\"\(response)\", opaque=\"\(opaque)\"")
    }

    @Test("DigestChallenge: without qop the response follows RFC 2069") func legacy() throws {
        let header = try answer(
            "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"",
            password: "CircleOfLife", cnonce: "unused")
        #expect(
            header == "Digest username=\"Mufasa\", realm=\"testrealm@host.com\", "
                + "nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", uri=\"/dir/index.html\", "
                + "response=\"1949323746fe6a43ef61f9606e7febea\"")
    }

    @Test(
        "DigestChallenge: the -sess algorithms hash the nonces into the secret",
        arguments: [
            ("MD5-sess, qop=auth", "1b0a0359f8f47c00479e30e4e9ee6dd6"),
            ("md5-sess", "e2ace29c9393b3248002d6037e054761"),
            ("SHA-256-sess, qop=auth", "7f600a8822c246b44de53685a6749feb3c839f73cb6040df08e8e35b6f82bc46"),
            ("SHA-256-SESS", "0aeef60536fe9915ab9fa28c605c9db8d121ac640dae94d7aac0162b70a750a4"),
        ])
    func sessions(_ algorithm: String, _ response: String) throws {
        let header = try answer(
            "Digest realm=\"http-auth@example.org\", nonce=N0, algorithm=\(algorithm)", password: "Circle of Life",
            uri: "/f?x=1", count: 10, cnonce: "C0")
        #expect(header.contains("response=\"\(response)\""))
        #expect(header.contains("cnonce=\"C0\""))
        #expect(header.contains("nc=0000000a") == algorithm.contains("qop"))
    }

    @Test("DigestChallenge: the user name is hashed when userhash is set, and stale is recognised") func userhash()
        throws
    {
        let line = "Digest realm=\"http-auth@example.org\", nonce=n, userhash=true, qop=auth, stale=TRUE"
        let header = try answer(line, password: "x", cnonce: "c")
        #expect(header.contains("username=\"4238f3a16167373febb9bc4d43db9cc4\""))
        #expect(header.hasSuffix("userhash=true"))
        #expect(AuthChallenge.parse([line]).first.flatMap { DigestChallenge($0) }?.isStale == true)
    }

    @Test("DigestChallenge: quotes in the header are escaped, and line ends are dropped") func injection() throws {
        let header = try answer(
            "Digest realm=\"a\\\"b\\\\c\", nonce=n", user: "x\"\r\nEvil: 1", password: "p\r\n", uri: "/", count: .max,
            cnonce: "c")
        #expect(header.contains("realm=\"a\\\"b\\\\c\""))
        #expect(header.contains("username=\"x\\\"Evil: 1\""))
        #expect(!header.utf8.contains { $0 < 0x20 })
    }

    @Test("DigestChallenge: user names and passwords outside ASCII are hashed as UTF-8") func unicode() throws {
        let header = try answer(
            "Digest realm=a, nonce=n, algorithm=SHA-256", user: "Jäsøn", password: "pä\"ss", uri: "/", cnonce: "c")
        #expect(header.contains("response=\"ddc1882d8adf2fb40e768b120f9455d28849239c00ceb56eed8b833d90f9478d\""))
    }

    @Test(
        "AuthChallenge: random fields never trap, and a header has no control characters",
        arguments: [51, 52, 53] as [UInt64])
    func anyField(seed: UInt64) {
        var random = SeededBytes(seed: seed)
        let pieces = [
            "Basic", "Digest ", " realm=", "nonce=\"", "\"", "\\", ",", "=", " ", "qop=\"auth\"", "algorithm=MD5",
            "YII=",
        ]
        for _ in 0..<3000 {
            let text = random.text(of: pieces)
            for challenge in AuthChallenge.parse([text, text]) { #expect(!challenge.scheme.isEmpty) }
            if case .digest(let digest)? = AuthAnswer.best(ofFields: [text]) {
                let header = digest.authorization(
                    method: "GET", uri: text, credentials: Credentials(user: text, password: text), nonceCount: -1,
                    cnonce: "c", hash: { algorithm, _ in Array(repeating: 0, count: algorithm.byteCount) })
                #expect(!header.utf8.contains { $0 < 0x20 && $0 != 0x09 })
            }
        }
    }

    @Test("Credentials: descriptions and dumps, alone or of a request, never show the values")
    func redacted() throws {
        let credentials = Credentials(user: "hunter1", password: "hunter2")
        var request = DownloadRequest(sources: [try DownloadURL("http://h/f")], destination: .directory("."))
        request.credentials = credentials
        var dumped = ""
        dump(request, to: &dumped)
        for text in [
            "\(credentials)", String(reflecting: credentials), "\(request)", String(reflecting: request), dumped,
        ] {
            #expect(!text.contains("hunter"), "\(text)")
        }
    }
}
