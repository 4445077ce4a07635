import FerryTerminal
import Testing

@Suite("DisplayWidth") struct DisplayWidthTests {
    @Test(
        "DisplayWidth: columns are counted as a terminal does",
        arguments: [
            ("", 0), ("abc", 3), ("中文", 4), ("ｶﾅ", 2), ("カナ", 4), ("한글", 4), ("é", 1), ("e\u{301}", 1), ("😀", 2),
            ("a\u{200B}b", 2), ("ÅÄÖ", 3), ("𠀀", 2), ("（）", 4), ("\u{2588}", 1), ("🇩🇪", 2), ("❤\u{FE0F}", 2),
        ])
    func counts(text: String, columns: Int) {
        #expect(DisplayWidth.columns(of: text) == columns)
    }

    @Test(
        "DisplayWidth: a long text is cut in the middle and keeps its end",
        arguments: [
            ("a-long-name.iso", 15, "a-long-name.iso"), ("a-long-name.iso", 12, "a-lon....iso"),
            ("a-long-name.iso", 4, "a-lo"), ("a-long-name.iso", 0, ""), ("中文文件名很长.iso", 12, "中文....iso"),
        ])
    func cuts(text: String, limit: Int, expected: String) {
        #expect(DisplayWidth.fit(text, to: limit) == expected)
    }

    @Test(
        "DisplayWidth: a long sentence is cut at its end",
        arguments: [
            ("connection refused", 18, "connection refused"), ("connection refused", 14, "connection..."),
            ("connection refused", 4, "conn"), ("服务器返回了 503", 11, "服务器返..."), ("中文", 3, "中"),
        ])
    func begins(text: String, limit: Int, expected: String) {
        #expect(DisplayWidth.begin(text, to: limit) == expected)
    }

    @Test("DisplayWidth: fitting and padding divide no character and respect the limit", arguments: 0...24)
    func fits(limit: Int) {
        for text in [
            "中文文件名很长很长.iso", "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}", "😀👨‍👩‍👧‍👦😀 family.mkv",
            "plain-ascii-name.tar.gz",
        ] {
            let cut = DisplayWidth.fit(text, to: limit)
            #expect(DisplayWidth.columns(of: cut) <= limit)
            let known = Set(text).union(["."])
            #expect(cut.allSatisfy { known.contains($0) })
            #expect(DisplayWidth.columns(of: DisplayWidth.pad(text, to: limit)) == limit)
        }
    }

    @Test("DisplayWidth: samples of each wide range take two columns, and their neighbours do not")
    func tableIsSorted() {
        // The table is searched by bisection: an unsorted row would never be found.
        for sample: UInt32 in [
            0x1100, 0x115F, 0x231A, 0x2E80, 0x4E00, 0xAC00, 0xD7A3, 0xFF01, 0x1F600, 0x2FFFD, 0x30000,
        ] {
            #expect(Unicode.Scalar(sample).map(DisplayWidth.columns(of:)) == 2)
        }
        for sample: UInt32 in [0x10FF, 0x2E7F, 0xA4CF, 0xD7FC, 0xFF61, 0x1F321, 0x40000] {
            #expect(Unicode.Scalar(sample).map(DisplayWidth.columns(of:)) != 2)
        }
    }

    @Test("DisplayWidth: a sentence is wrapped between words; every word and figure stays whole", arguments: 20...90)
    func wraps(limit: Int) {
        let text = "not enough space in /mnt/tiny: 5.4 MB free, 44.7 MB missing, with 83.9 KB kept free"
        let lines = DisplayWidth.wrap(text, to: limit)
        #expect(lines.allSatisfy { DisplayWidth.columns(of: $0) <= limit })
        #expect(lines.joined(separator: " ") == text)
    }

    @Test("DisplayWidth: wide characters and long words are wrapped where the line ends")
    func wrapsLong() {
        #expect(DisplayWidth.wrap("中文文件名 12.5 MB", to: 6) == ["中文文", "件名", "12.5", "MB"])
        #expect(DisplayWidth.wrap("abcdefgh i", to: 4) == ["abcd", "efgh", "i"])
        #expect(DisplayWidth.wrap("a", to: 1) == ["a"] && DisplayWidth.wrap("", to: 5) == [])
    }

    @Test("DisplayWidth: a shortened sentence does not end with a part of a figure")
    func figures() {
        #expect(DisplayWidth.begin("free: 44.7 MB of the disk", to: 12) == "free:...")
        #expect(DisplayWidth.begin("free: 44.7 MB of the disk", to: 14) == "free: 44.7...")
    }
}
