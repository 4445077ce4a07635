import Testing

@testable import FerryCore

@Suite("GB 18030")
struct GB18030Tests {
    @Test(
        "GB18030: one-, two- and four-byte codes are decoded",
        arguments: [
            ([], ""), ([0x61, 0x2E], "a."), ([0xD6, 0xD0, 0xCE, 0xC4], "中文"), ([0x81, 0x40], "丂"),
            ([0xA1, 0xA1], "\u{3000}"),
            ([0xA2, 0xA1], "ⅰ"), ([0xA8, 0x40], "ˊ"), ([0xA9, 0x96], "〇"), ([0xAA, 0x40], "狜"), ([0xB0, 0x40], "癅"),
            ([0xB0, 0xA1], "啊"), ([0xF7, 0xFE], "齄"), ([0xF8, 0x40], "鳣"), ([0xFE, 0x50], "⺁"), ([0xFE, 0x9F], "䶮"),
            ([0x81, 0x30, 0x81, 0x30], "\u{80}"), ([0x81, 0x30, 0x84, 0x36], "\u{A5}"),
            ([0x82, 0x35, 0x8F, 0x33], "\u{9FA6}"),
            ([0x84, 0x31, 0xA4, 0x39], "\u{FFFF}"), ([0x90, 0x30, 0x81, 0x30], "\u{10000}"),
            ([0x94, 0x39, 0xDA, 0x33], "\u{1F4A9}"), ([0xE3, 0x32, 0x9A, 0x35], "\u{10FFFF}"),
        ] as [([UInt8], String)])
    func decoded(bytes: [UInt8], expected: String) {
        #expect(GB18030.decode(bytes) == expected)
    }

    @Test(
        "GB18030: a code without a standard character gives nil",
        arguments: [
            [0x80], [0xFF], [0x81], [0x81, 0x20], [0x81, 0x7F], [0x81, 0xFF], [0xAA, 0xA1], [0xF8, 0xA1], [0xA1, 0x40],
            [0xA2, 0xAB], [0xE9, 0x2E], [0x81, 0x30], [0x81, 0x30, 0x81], [0x81, 0x30, 0x80, 0x30],
            [0x81, 0x30, 0x81, 0x40],
            [0x84, 0x31, 0xA5, 0x30], [0x8F, 0x39, 0xFE, 0x39], [0xE3, 0x32, 0x9A, 0x36], [0xFE, 0x39, 0xFE, 0x39],
            [0x83, 0x36, 0xC7, 0x39],
        ] as [[UInt8]])
    func refused(bytes: [UInt8]) {
        #expect(GB18030.decode(bytes) == nil)
    }

    @Test("GB18030: no two codes decode to the same character")
    func distinct() {
        var seen: Set<String> = []
        var count = 0
        for lead in UInt8(0x81)...0xFE {
            for trail in UInt8(0x40)...0xFE {
                guard let text = GB18030.decode([lead, trail]) else { continue }
                seen.insert(text.unicodeScalars.map { String($0.value) }.joined())
                count += 1
            }
        }
        #expect(count == 22_046 - 174)
        #expect(seen.count == count)
    }

    @Test("GB18030: random bytes are decoded or refused, and never trap", arguments: 0..<4 as Range<UInt64>)
    func fuzz(seed: UInt64) {
        var fuzz = SeededBytes(seed: seed)
        for _ in 0..<5000 { _ = GB18030.decode(fuzz.bytes(from: ["0", "9", "a"], upTo: 8)) }
    }

    @Test(
        "NameText: raw bytes are read as UTF-8, as GB 18030 if they look like Chinese, else as Latin-1",
        arguments: [
            ("r\u{E9}sum\u{E9}.pdf", "résumé.pdf"), ("na\u{EF}ve.txt", "naïve.txt"), ("\u{E9}t\u{E9}.txt", "été.txt"),
            ("Gr\u{F6}\u{DF}e F\u{FC}\u{DF}e.txt", "Größe Füße.txt"), ("a\u{E9}", "aé"), ("plain", "plain"),
            ("\u{B1}\u{A8}\u{B8}\u{E6}.pdf", "报告.pdf"), ("x\u{B1}\u{A8}\u{B8}\u{E6}y", "x报告y"),
            ("\u{CE}\u{C4}\u{BC}\u{FE}.png", "文件.png"), ("\u{CD}\u{BC}.png", "\u{37C}.png"),
            ("\u{D6}\u{EC}\u{E9}F\u{BB}\u{F9}.txt", "朱镕基.txt"), ("\u{C3}\u{A9}.txt", "é.txt"),
        ])
    func guess(bytes: String, expected: String) {
        // The scalars of the literals are the bytes.
        #expect(NameText.guess(bytes.unicodeScalars.map { UInt8($0.value) }) == expected)
    }
}
