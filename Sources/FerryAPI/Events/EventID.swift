/// The id of an event in the stream: boot identifier and number. Text: `BOOT-NUMBER`.
package struct EventID: Sendable, Hashable, CustomStringConvertible {
    /// The boot identifier: letters and digits, different after each start of the daemon.
    package var boot: String
    /// Ascending from 1 within one boot.
    package var number: Int64

    package init(boot: String, number: Int64) {
        self.boot = boot
        self.number = number
    }

    /// Returns `nil` when the text is malformed.
    package init?(_ text: String) {
        guard let dash = text.utf8.lastIndex(of: UInt8(ascii: "-")),
            let number = Int64(text[text.index(after: dash)...]), number >= 0,
            dash > text.startIndex
        else { return nil }
        self.init(boot: String(text[..<dash]), number: number)
    }

    package var description: String { "\(boot)-\(number)" }
}
