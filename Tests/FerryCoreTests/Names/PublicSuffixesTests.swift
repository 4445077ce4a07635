import Testing

@testable import FerryCore

@Suite("PublicSuffixes")
struct PublicSuffixesTests {
    private static let list = PublicSuffixes(
        list: Array(
            """
            // ===BEGIN ICANN DOMAINS===
            com
            uk
            co.uk
            *.ck
            !www.ck
            公司.cn
            cn

            // ===BEGIN PRIVATE DOMAINS===
            github.io
            """.utf8))

    @Test(
        "PublicSuffixes: the registrable domain is the public suffix and one label",
        arguments: [
            ("www.example.com", "example.com"), ("example.com", "example.com"), ("com", "com"),
            ("a.b.example.co.uk", "example.co.uk"), ("example.uk", "example.uk"), ("a.b.c.ck", "b.c.ck"),
            ("www.ck", "www.ck"), ("a.www.ck", "www.ck"), ("a.user.github.io", "user.github.io"),
            ("github.io", "github.io"),
            ("a.shishi.xn--55qx5d.cn", "shishi.xn--55qx5d.cn"), ("a.b.unknown", "b.unknown"),
            ("127.0.0.1", "127.0.0.1"), ("2001:db8::1", "2001:db8::1"), ("localhost", "localhost"),
        ])
    func domains(host: String, domain: String) {
        #expect(Self.list.domain(of: host) == domain)
    }

    @Test(
        "PublicSuffixes: without a list, single labels and the second levels of countries are suffixes",
        arguments: [
            ("www.example.com", "example.com"), ("a.example.co.uk", "example.co.uk"), ("a.example.de", "example.de"),
            ("a.user.github.io", "github.io"), ("10.0.0.1", "10.0.0.1"),
        ])
    func withoutList(host: String, domain: String) {
        let suffixes = PublicSuffixes()
        #expect(!suffixes.hasList)
        #expect(suffixes.domain(of: host) == domain)
    }

    @Test("PublicSuffixes: bytes that are no list give no rules")
    func damaged() {
        #expect(!PublicSuffixes(list: []).hasList)
        #expect(!PublicSuffixes(list: Array("// nothing\n\n   \n".utf8)).hasList)
        _ = PublicSuffixes(list: (0...255).map { UInt8($0) } + [UInt8](repeating: 0x2E, count: 10_000))
    }
}
