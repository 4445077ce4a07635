/// The id of an event in the stream: which life of the daemon, and its number there. Text: `BOOT-NUMBER`.
package struct EventID: Sendable, Hashable, CustomStringConvertible {
    /// Letters and digits; another one after each start of the daemon.
    package var boot: String
    /// Ascending from 1 within one life.
    package var number: Int64

    package init(boot: String, number: Int64) {
        self.boot = boot
        self.number = number
    }

    /// `nil` where the text is none.
    package init?(_ text: String) {
        guard let dash = text.utf8.lastIndex(of: UInt8(ascii: "-")),
            let number = Int64(text[text.index(after: dash)...]), number >= 0,
            dash > text.startIndex
        else { return nil }
        self.init(boot: String(text[..<dash]), number: number)
    }

    package var description: String { "\(boot)-\(number)" }
}
