import Testing

@testable import FerryCore

@Suite("Host names")
struct HostNameTests {
    @Test(
        "DownloadURL: a host name outside ASCII becomes Punycode",
        arguments: [
            ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.example", "xn--bcher-kva.example"),
            ("bu\u{308}cher.example", "xn--bcher-kva.example"), ("münchen.de", "xn--mnchen-3ya.de"),
            ("例え.テスト", "xn--r8jz45g.xn--zckzah"), ("例え。テスト", "xn--r8jz45g.xn--zckzah"),
            ("中国。中国", "xn--fiqs8s.xn--fiqs8s"), ("中國", "xn--fiqz9s"), ("ｅｘａｍｐｌｅ．ｃｏｍ", "example.com"),
            ("пример.испытание", "xn--e1afmkfd.xn--80akhbyknj4f"),
            ("ПРИМЕР.испытание", "xn--e1afmkfd.xn--80akhbyknj4f"),
            ("faß.de", "xn--fa-hia.de"), ("한국.kr", "xn--3e0b707e.kr"),
            ("\u{1112}\u{1161}\u{11AB}\u{1100}\u{116E}\u{11A8}.kr", "xn--3e0b707e.kr"),
            ("カ\u{3099}.jp", "xn--mck.jp"), ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("XN--BCHER-KVA.example", "xn--bcher-kva.example"), ("%E4%B8%AD%E5%9C%8B", "xn--fiqz9s"),
            ("i❤.ws", "xn--i-7iq.ws"), ("\u{212A}elvin.example", "kelvin.example"), ("a\u{AD}b.example", "ab.example"),
        ])
    func punycode(given: String, expected: String) throws {
        #expect(try DownloadURL("http://\(given)/").host == expected)
    }

    /// Each pair was once searched among a thousand letters: such a name, which a redirect can contain, took seconds.
    @Test(
        "DomainMapping: very long names are composed correctly and then refused for their length",
        .timeLimit(.minutes(30)))
    func longNames() throws {
        let labels = Array(repeating: "bu\u{308}cher", count: 20_000).joined(separator: ".")
        #expect(DomainMapping.composed(labels) == Array(repeating: "bücher", count: 20_000).joined(separator: "."))
        #expect(DomainMapping.composed(labels).unicodeScalars.count == 20_000 * 7 - 1)
        #expect(throws: DownloadError.self) { try DownloadURL("http://\(labels.prefix(30_000))/") }
    }

    @Test(
        "Punycode: the samples of RFC 3492 §7.1 are encoded as printed there",
        arguments: [
            ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"), ("他們爲什麽不說中文", "ihqwctvzc91f659drss3x8bo0yb"),
            ("Pročprostěnemluvíčesky", "Proprostnemluvesky-uyb24dma41a"),
            ("なぜみんな日本語を話してくれないのか", "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa"),
            ("почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
            ("3年B組金八先生", "3B-ww4c5e180e575a65lsy2b"), ("-> $1.00 <--é", "-> $1.00 <---meb"),
        ])
    func samples(label: String, expected: String) {
        #expect(Punycode.label(label) == "xn--" + expected)
    }

    @Test(
        "DownloadURL: an IPv4 address is accepted only in its canonical form",
        arguments: [
            ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
            ("256.1.1.1", nil), ("1.2.3", nil), ("127.1", nil), ("2130706433", nil), ("0x7f000001", nil),
            ("0x7f.1", nil),
            ("010.0.0.1", nil), ("1.2.3.4.5", nil), ("1.2.3.04", nil), ("1.2.3.0x4", nil), ("1.2.3.4.", nil),
            ("a.1", nil), ("1.2.3.a", "1.2.3.a"), ("１２７.0.0.1", "127.0.0.1"),
        ] as [(String, String?)])
    func addresses(given: String, expected: String?) {
        #expect((try? DownloadURL("http://\(given)/"))?.host == expected)
    }

    @Test(
        "DownloadURL: an IPv6 address in brackets is written in the form of RFC 5952",
        arguments: [
            ("::1", "::1"), ("::", "::"), ("2001:DB8::1", "2001:db8::1"), ("2001:db8:0:0:0:0:0:1", "2001:db8::1"),
            ("2001:0db8:0000:0001:0001:0001:0001:0001", "2001:db8:0:1:1:1:1:1"), ("1:0:0:2:0:0:0:3", "1:0:0:2::3"),
            ("1:0:0:2:3:0:0:4", "1::2:3:0:0:4"), ("::ffff:192.0.2.1", "::ffff:c000:201"), ("1::", "1::"),
            ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
            ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"), ("", nil), (":", nil), (":::", nil), ("1", nil),
            ("1:2:3:4:5:6:7", nil), ("1:2:3:4:5:6:7:8:9", nil), ("1::2::3", nil), ("1:2:3:4:5:6:7:8::", nil),
            ("12345::", nil), ("g::", nil), ("::1%25eth0", nil), ("fe80::1%eth0", nil), ("v1.x", nil),
            ("::256.0.0.1", nil), ("1.2.3.4::", nil), ("::1.2.3.4:5", nil), (":1:2:3:4:5:6:7:8", nil),
            ("1:2:3:4:5:6:7:1.2.3.4", nil), ("::1 ", nil), ("+1::", nil), ("::-1", nil),
        ] as [(String, String?)])
    func ipv6(given: String, expected: String?) {
        let url = try? DownloadURL("http://[\(given)]:81/")
        #expect(url?.host == expected)
        if let expected { #expect(url?.authority == "[\(expected)]:81") }
    }

    @Test(
        "DownloadURL: brackets are required around an IPv6 address and refused elsewhere",
        arguments: [
            "http://::1/", "http://[::1/", "http://::1]/", "http://[::1]x/", "http://[::1]x:80/",
            "http://[example.com]/",
            "http://[[::1]]/", "http://a:b:80/", "http://[::1]:/:",
        ])
    func brackets(text: String) {
        let host = (try? DownloadURL(text))?.host
        #expect(host == (text == "http://[::1]:/:" ? "::1" : nil))
    }

    @Test("DownloadURL: host labels have at most 63 bytes and the name at most 253")
    func lengths() throws {
        let label = String(repeating: "a", count: 63)
        let longest = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(try DownloadURL("http://\(longest)/").host.utf8.count == 253)
        #expect(try DownloadURL("http://\(longest)./").host.utf8.count == 254)
        #expect(throws: DownloadError.self) { try DownloadURL("http://\(longest)b/") }
        #expect(throws: DownloadError.self) { try DownloadURL("http://\(label)a.b/") }
        #expect(throws: DownloadError.self) { try DownloadURL("http://\(String(repeating: "é", count: 63))/") }
        #expect(throws: DownloadError.self) {
            try DownloadURL("http://\(String(repeating: "é", count: 9999))/")
        }
    }
}
