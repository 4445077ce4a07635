import FerryCore
import FerryTerminal
import Foundation
import Testing

@Suite("Text for terminals, shells and JSON") struct TextTests {
    @Test(
        "PrintableText: control and bidirectional characters are shown as escapes",
        arguments: [
            ("plain name.iso", "plain name.iso"), ("中文.iso", "中文.iso"), ("a\u{1B}[31mred", "a\\x1b[31mred"),
            ("two\nlines\r\t", "two\\nlines\\r\\t"), ("\u{7F}\u{9B}2J", "\\x7f\\x9b2J"),
            ("exe\u{202E}gpj", "exe\\u{202e}gpj"),
            ("bell\u{07}", "bell\\x07"), ("\u{2028}", "\\u{2028}"),
        ])
    func escapes(text: String, expected: String) {
        #expect(PrintableText.escape(text) == expected)
    }

    @Test("PrintableText: a line of JSON of any author has the same values without what a terminal obeys")
    func json() throws {
        var hostile = "\u{85}\u{9B}31m\u{202E}\u{FEFF}\u{E0041}"
        for scalar in (0..<0x2100).compactMap(Unicode.Scalar.init) { hostile.unicodeScalars.append(scalar) }
        let value = ["url": hostile, "中文": "b"]
        let plain = String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
        let shown = PrintableText.escapeJSON(plain)
        #expect(!shown.unicodeScalars.contains(where: PrintableText.isUnsafe))
        #expect(try JSONDecoder().decode([String: String].self, from: Data(shown.utf8)) == value)
        #expect(PrintableText.escapeJSON("{\n\u{1B}[2J}") == "{\\u000a\\u001b[2J}")
        #expect(PrintableText.escapeJSON(#"{"a":"中文"}"#) == #"{"a":"中文"}"#)
    }

    @Test(
        "ShellWord: a word is quoted only where it must be",
        arguments: [
            ("plain.part", "plain.part"), ("a b.part", "'a b.part'"), ("it's.part", "'it'\\''s.part'"), ("", "''"),
            ("$(rm).part", "'$(rm).part'"), ("文件.part", "文件.part"), ("https://h/p?…", "'https://h/p?…'"),
            ("~x", "'~x'"), ("'\u{301}x", "''\\''\u{301}x'"),
        ])
    func quotes(text: String, expected: String) {
        #expect(ShellWord.quote(text).utf8.elementsEqual(expected.utf8))
    }

    /// A quote followed by a combining mark was not escaped: the text after it ran when the printed line was pasted.
    @Test(
        "ShellWord: a shell reads the quoted word as the original text",
        arguments: [
            "x'\u{301};touch ran;'\u{301}.part", "\u{600}'$(touch ran)'", "'\r\n'touch ran",
            "a'\u{200D}`touch ran`'\u{FE0F}", "plain.part", "\u{301}", "文件'.part",
        ])
    func shell(text: String) throws {
        let shell = Process()
        let output = Pipe()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", "touch() { printf RAN; }; printf '%s|' \(ShellWord.quote(text)) END"]
        shell.standardOutput = output
        try shell.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        shell.waitUntilExit()
        #expect(Array(data) == Array((text + "|END|").utf8))
    }

    @Test(
        "RFC3339: times are written in UTC with milliseconds, clamped to years 1970 to 9999",
        arguments: [
            (0.0, "1970-01-01T00:00:00.000Z"), (951_782_400.25, "2000-02-29T00:00:00.250Z"),
            (1_738_314_300.999, "2025-01-31T09:05:00.999Z"), (4_107_542_399, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"), (-5, "1970-01-01T00:00:00.000Z"),
            (1e30, "9999-12-31T23:59:59.999Z"), (.nan, "1970-01-01T00:00:00.000Z"),
        ])
    func times(seconds: Double, expected: String) {
        #expect(RFC3339.text(Date(timeIntervalSince1970: seconds)) == expected)
    }

    @Test("PasswordLine: typed input can be corrected, erased and interrupted")
    func password() {
        func type(_ keys: [UInt8]) -> PasswordLine.Answer {
            var line = PasswordLine()
            for key in keys.dropLast() {
                let answer = line.take(key)
                if answer != .more { return answer }
            }
            return keys.last.map { line.take($0) } ?? .more
        }
        #expect(type(Array("secret\n".utf8)) == .done("secret"))
        #expect(type(Array("sé".utf8) + [0x7F] + Array("x\r".utf8)) == .done("sx"))
        #expect(type(Array("wrong".utf8) + [0x15] + Array("right\n".utf8)) == .done("right"))
        #expect(type(Array("sec".utf8) + [0x03]) == .interrupted)
        #expect(type([0x04]) == .nothing)
        #expect(type([0x7F, 0x0A]) == .done(""))
    }
}
