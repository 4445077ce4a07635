/// Chinese texts of the help, by the English lines that they translate. A door has its own.
package struct ChineseHelp: Sendable {
    package let texts: [String: String]

    package init(_ texts: [String: String]) { self.texts = texts }
}
