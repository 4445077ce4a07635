import FerryCore
import Testing

@Suite("Language of messages")
struct LanguageTests {
    @Test(
        "Language: the first environment variable that is set and not empty decides",
        arguments: [
            ([:], .english),
            (["LANG": "zh_CN.UTF-8"], .simplifiedChinese),
            (["LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_US.UTF-8"], .english),
            (["LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"], .simplifiedChinese),
            (["LANG": "en_US.UTF-8", "LC_MESSAGES": "en_US", "LC_ALL": "zh_CN"], .simplifiedChinese),
            (["LANG": "zh_CN.UTF-8", "LC_MESSAGES": "", "LC_ALL": ""], .simplifiedChinese),
            (["LANG": "zh_CN.UTF-8", "LC_ALL": "C"], .english),
            (["LANG": "zh_CN.UTF-8", "LC_ALL": "POSIX"], .english),
            (["LC_CTYPE": "zh_CN.UTF-8"], .english),
        ] as [([String: String], Language)])
    func environment(variables: [String: String], language: Language) {
        #expect(Language(environment: variables) == language)
    }

    @Test(
        "Language: Chinese locales are recognised in any spelling, except traditional script",
        arguments: [
            ("zh", .simplifiedChinese), ("zh_SG.utf8", .simplifiedChinese), ("ZH-hans-HK", .simplifiedChinese),
            ("zh_CN@pinyin", .simplifiedChinese), ("zh_TW.UTF-8", .english), ("zh_HK", .english), ("zh-Hant", .english),
            ("zh-Hant-CN", .english), ("de_DE", .english), ("zhx_CN", .english), ("-", .english), ("_._", .english),
            ("@", .english), (String(repeating: "_", count: 100_000), .english),
        ] as [(String, Language)])
    func locales(locale: String, language: Language) { #expect(Language(environment: ["LANG": locale]) == language) }

    @Test("Language: of a list of preferences the first supported one is chosen")
    func preferences() {
        #expect(Language(preferring: ["fr-FR", "zh-Hans-CN", "en-US"]) == .simplifiedChinese)
        #expect(Language(preferring: ["zh-Hant-TW", "en-GB", "zh-Hans"]) == .english)
        #expect(Language(preferring: ["fr"]) == .english)
        #expect(Language(preferring: []) == .english)
    }

    @Test("Language: an app without Chinese shows none to a Chinese user, and a program without localizations does")
    func localizations() {
        let user = ["zh-Hans-CN", "en-US"]
        func language(_ localizations: [String], _ chosen: [String]) -> Language {
            Language(localizations: localizations, chosen: chosen, preferred: user)
        }
        #expect(language(["Base", "en"], ["en"]) == .english)
        #expect(language(["en", "zh-Hans"], ["zh-Hans"]) == .simplifiedChinese)
        #expect(language(["fr"], ["fr"]) == .english)
        #expect(language([], ["en"]) == .simplifiedChinese)
        #expect(language(["Base"], ["Base"]) == .simplifiedChinese)
    }
}
