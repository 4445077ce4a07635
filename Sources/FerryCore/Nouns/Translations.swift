/// A sentence in every language.
package struct Translations: Codable, Sendable, Hashable {
    package var en: String
    package var zh: String

    package init(en: String, zh: String) {
        self.en = en
        self.zh = zh
    }

    package init(_ text: (Language) -> String) { self.init(en: text(.english), zh: text(.simplifiedChinese)) }
}
