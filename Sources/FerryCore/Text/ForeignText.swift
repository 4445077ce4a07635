/// Text from a client, a server or a file.
package enum ForeignText {
    /// Returns the text in quotation marks for a message: at most 80 characters, control characters replaced by U+FFFD.
    package static func quote(_ text: some StringProtocol) -> String {
        var shown = "“"
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if index == 80 {
                shown += "…"
                break
            }
            shown.unicodeScalars.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
        }
        return shown + "”"
    }
}
