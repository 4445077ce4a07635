import FerryAPI
import Foundation

/// Shapes of the API as lines of JSON on a terminal.
package enum JSONShape {
    /// One line, without its end; what could steer a terminal is escaped. Empty for what cannot be coded: a defect.
    package static func line(_ shape: some Encodable) -> String {
        guard let data = try? APICoding.encode(shape) else { return "" }
        return safe(String(decoding: data, as: UTF8.self))
    }

    /// A text of JSON without what could steer a terminal.
    package static func safe(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: PrintableText.isUnsafe) else { return text }
        // Such characters stand inside of texts alone, where an escape means the same (RFC 8259 §7).
        var shown = ""
        for scalar in text.unicodeScalars {
            if PrintableText.isUnsafe(scalar) {
                for unit in String(scalar).utf16 {
                    shown += "\\u" + String(Int(unit) + 0x10000, radix: 16).dropFirst()
                }
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }
}
