/// Quoting of foreign text in messages.
package enum APIText {
    /// Returns the text in quotation marks, shortened, without control characters.
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
