/// The number of values of a JSON text, counted before any is made. Pure.
package enum JSONCount {
    /// What a value takes in memory, about: measured with short members of objects.
    package static let bytesPerValue = 128

    /// Counts values and names of members; `nil` for more than `most`.
    package static func values(in text: some Sequence<UInt8>, upTo most: Int) -> Int? {
        var count = 1
        var isInText = false
        var isEscaped = false
        for byte in text {
            if isInText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInText = true
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ","), UInt8(ascii: ":"):
                count += 1
                if count > most { return nil }
            default: break
            }
        }
        return count
    }
}
