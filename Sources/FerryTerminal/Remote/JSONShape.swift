import FerryAPI
import Foundation

/// Encodes API objects as lines of JSON for a terminal.
package enum JSONShape {
    /// Returns one line without a line feed, with terminal control characters escaped. Empty if the value cannot be
    /// encoded, which is a defect.
    package static func line(_ shape: some Encodable) -> String {
        guard let data = try? APICoding.encode(shape, sortsKeys: true) else { return "" }
        return safe(String(decoding: data, as: UTF8.self))
    }

    /// Escapes terminal control characters in a JSON text.
    package static func safe(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: PrintableText.isUnsafe) else { return text }
        // Such characters only occur within strings, where an escape sequence is equivalent (RFC 8259 §7).
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
