import FerryCore
import Foundation
import Testing

@Suite("Languages of errors")
struct ErrorLanguagesTests {
    @Test("DownloadError.Code: every code has its own sentence in every language")
    func codes() {
        for language in Language.allCases {
            let sentences = DownloadError.Code.known.map { $0.sentence(in: language) }
            #expect(Set(sentences).count == DownloadError.Code.known.count, "\(language)")
            let unknown = DownloadError.Code(rawValue: "of tomorrow").sentence(in: language)
            #expect(!unknown.isEmpty && !sentences.contains(unknown))
            for sentence in sentences { #expect(Self.isOf(language, sentence), "\(sentence)") }
        }
    }

    @Test(
        "ErrorPhrase: every phrase exists in every language with the same placeholders",
        arguments: ErrorPhrase.Key.allCases)
    func phrases(key: ErrorPhrase.Key) {
        let marks = (0..<10).map { "⟨\($0)⟩" }
        let texts = Language.allCases.map { ErrorPhrase(key: key, arguments: marks).text(in: $0) }
        for (language, text) in zip(Language.allCases, texts) {
            #expect(Self.isOf(language, text), "\(text)")
            #expect(!text.contains("{"), "\(text)")
            #expect(marks.filter(text.contains) == marks.filter(texts[0].contains), "\(text)")
        }
        // In English a suggestion is a sentence, and a message is continued by its reason.
        let english = texts[0]
        if english.hasSuffix(".") {
            #expect(english.first?.isUppercase == true || english.hasPrefix("--") || english.hasPrefix("⟨"))
        } else {
            let fields = ["Content-Length", "ETag", "Last-Modified"]
            #expect(english.first?.isUppercase == false || fields.contains { english.hasPrefix($0) }, "\(english)")
        }
    }

    @Test("ErrorPhrase: no two phrases have the same text")
    func different() {
        for language in Language.allCases {
            let texts = ErrorPhrase.Key.allCases.map { ErrorPhrase(key: $0, arguments: []).text(in: language) }
            #expect(Set(texts).count == texts.count, "\(language)")
        }
    }

    @Test("ErrorPhrase: arguments with braces, too many and too few are inserted as they are")
    func arguments() {
        #expect(ErrorPhrase(.answered, "{1}", "{0}").text(in: .english) == "{1} answered {0}")
        #expect(ErrorPhrase(.answered, "a", "b", "c").text(in: .english) == "a answered b")
        #expect(ErrorPhrase(.answered, "a").text(in: .english) == "a answered {1}")
    }

    @Test("DownloadError: the message is English by default and Chinese on request")
    func chosen() {
        let error = DownloadError(
            .network, ErrorPhrase(.gaveUp, "3", "503"), suggestion: ErrorPhrase(.runAgain),
            recovery: .transient(retryAfter: nil))
        #expect(error.message == "gave up after 3 attempts: 503")
        #expect(error.suggestion == "Run it again to resume.")
        #expect(error.message(in: .english) == error.message)
        #expect(error.message(in: .simplifiedChinese) == "尝试 3 次后放弃：503")
        #expect(error.suggestion(in: .simplifiedChinese) == "重新运行即可从这里继续。")
        #expect(
            error
                == DownloadError(
                    .network, error.message, suggestion: error.suggestion, recovery: .transient(retryAfter: nil)))
    }

    @Test("DownloadError: without a translation the code's sentence precedes the English message")
    func untranslated() {
        let error = DownloadError(.network, "connection refused", suggestion: "Wait.")
        #expect(error.message(in: .english) == "connection refused")
        #expect(error.message(in: .simplifiedChinese) == "网络出错：connection refused")
        #expect(error.suggestion(in: .simplifiedChinese) == "Wait.")
        #expect(DownloadError(.network, "").message(in: .simplifiedChinese) == "网络出错")
        #expect(DownloadError(.network, "").message(in: .english) == "the network failed")
        #expect(DownloadError(.network, "").suggestion(in: .english) == nil)
    }

    @Test("ErrorPhrase: a nested phrase is translated with the outer one, also after decoding")
    func nested() throws {
        let error = DownloadError(
            .network,
            ErrorPhrase(
                .gaveUp, "3",
                ErrorPhrase(.at, ErrorPhrase(.connectionReset, "example.com"), ErrorPhrase(.beforeBodyEnd))),
            suggestion: ErrorPhrase(.runAgain))
        let english = "gave up after 3 attempts: example.com: connection reset by peer, before the end of the body"
        #expect(error.message == english)
        #expect(
            error.message(in: .simplifiedChinese) == "尝试 3 次后放弃：example.com：连接被对方重置，发生在正文结束之前")

        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(error), as: UTF8.self)
        #expect(text.contains(#""phrase":["gaveUp","3",["at",["connectionReset","example.com"],["beforeBodyEnd"]]]"#))
        let read = try JSONDecoder().decode(DownloadError.self, from: Data(text.utf8))
        #expect(read.message(in: .simplifiedChinese) == error.message(in: .simplifiedChinese))
        let newer = text.replacing("beforeBodyEnd", with: "ofTomorrow")
        let unknown = try JSONDecoder().decode(DownloadError.self, from: Data(newer.utf8))
        #expect(unknown.message == english)
        #expect(unknown.message(in: .simplifiedChinese) == "网络出错：\(english)")
    }

    @Test("Reason: a phrase and plain words are equal when their English text is equal")
    func reasons() {
        let phrase = Reason.phrase(ErrorPhrase(.serverAnswered, "503"))
        #expect(phrase == "the server answered 503")
        #expect("\(phrase)" == "the server answered 503")
        #expect(phrase != "the server answered 502")
        #expect(DownloadError(.refused, phrase).message(in: .simplifiedChinese) == "服务器返回了 503")
        #expect(DownloadError(.refused, Reason.words("no")).message(in: .simplifiedChinese).hasSuffix("：no"))
    }

    /// An error made of words alone has no translation. Messages of defects are for maintainers and stay English.
    @Test("DownloadError: no error outside .internal is made of English words alone")
    func sources() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
        let literal = try Regex(#"DownloadError\(\s*\.(\w+),\s*""#)
        let suggestion = try Regex(#"DownloadError\([^;{}]*suggestion:\s*""#)
        var seen = 0
        for module in [
            "FerryCore", "FerryEngine", "FerryAPI", "Ferry", "FerryClient", "FerryServer", "FerryTerminal",
            "FerryAria2",
            "FerryCLI",
        ] {
            let files = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: module).path)
            for name in files where name.hasSuffix(".swift") {
                let text = try String(contentsOf: root.appending(path: "\(module)/\(name)"), encoding: .utf8)
                seen += text.ranges(of: "DownloadError(").count
                for match in text.matches(of: literal) where match.output[1].substring != "internal" {
                    Issue.record("\(module)/\(name): \(match.output[0].substring ?? "")")
                }
                #expect(text.firstMatch(of: suggestion) == nil, "\(module)/\(name)")
            }
        }
        #expect(seen > 100, "the sources are not where they were")
    }

    @Test("DownloadError: a changed message is not translated as the old one")
    func changed() {
        var error = DownloadError(.conflict, ErrorPhrase(.thereAlready, "/a"))
        error.message = "/b is there already"
        #expect(error.message(in: .simplifiedChinese) == "名称或下载已被占用：/b is there already")
    }

    @Test("DownloadError: a stored error keeps its translations, and phrases of a newer version are ignored")
    func stored() throws {
        let error = DownloadError(
            .conflict, ErrorPhrase(.thereAlready, "/文件"), suggestion: ErrorPhrase(.updateFerry), recovery: .needsUser)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(error), as: UTF8.self)
        #expect(
            text == #"{"code":"conflict","message":"/文件 is there already","#
                + #""messages":{"en":"/文件 is there already","zh":"/文件 已存在"},"phrase":["thereAlready","/文件"],"#
                + #""recovery":{"kind":"needsUser"},"suggestion":"Update Ferry.","#
                + #""suggestionPhrase":["updateFerry"],"#
                + #""suggestions":{"en":"Update Ferry.","zh":"请更新 Ferry。"}}"#)
        let read = try JSONDecoder().decode(DownloadError.self, from: Data(text.utf8))
        #expect(read == error)
        #expect(read.message(in: .simplifiedChinese) == "/文件 已存在")
        #expect(read.suggestion(in: .simplifiedChinese) == "请更新 Ferry。")

        let newer = #"{"code":"conflict","message":"m","phrase":["ofTomorrow"],"suggestionPhrase":[]}"#
        let unknown = try JSONDecoder().decode(DownloadError.self, from: Data(newer.utf8))
        #expect(unknown.message(in: .simplifiedChinese) == "名称或下载已被占用：m")
    }

    @Test("DownloadError: docs/errors.md lists every code with its sentences")
    func documentation() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/errors.md"), encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(rows.count == DownloadError.Code.known.count)
        for code in DownloadError.Code.known {
            let row = rows.first { $0.hasPrefix("| `\(code.rawValue)` |") } ?? ""
            for language in Language.allCases { #expect(row.contains(" \(code.sentence(in: language)) "), "\(code)") }
        }
    }

    private static func isOf(_ language: Language, _ text: String) -> Bool {
        let hasHan = text.unicodeScalars.contains { (0x4E00...0x9FFF).contains($0.value) }
        return !text.isEmpty && hasHan == (language == .simplifiedChinese)
    }
}
