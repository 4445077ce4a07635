import FerryCore

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// The date and the size of a file on an index page, next to the file's link.
///
/// Pages of nginx, Apache (including tables), lighttpd and Caddy are supported; a page without both values has no rows.
/// Dates are in the server's time zone and often lack seconds, and sizes may be rounded. Changes are therefore
/// detected only by comparing the text with that of an earlier page.
struct IndexRow: Sendable, Hashable {
    /// The date as on the page, without the time zone: `28-Nov-2026 10:00`.
    private let day: String
    /// The size as on the page: `1234`, `1.2M`.
    private let size: String

    /// The date and the size as one text: `28-Nov-2026 10:00 1234`.
    var text: String { day + " " + size }
    /// The size in bytes; `nil` if it is rounded.
    var totalBytes: ByteCount? { ASCII.size(Array(size.utf8)) }
    /// The size in bytes, approximate if it is rounded.
    var nearBytes: ByteCount? { totalBytes ?? (try? SizeText.parse(size)) }

    /// The date as if the server's time zone were UTC, with at least minute precision.
    var date: Date? {
        let parts = day.split(at: " ")
        guard parts.count == 2 else { return RFC3339.date(day) }
        let (fields, time) = (parts[0].split(at: "-"), parts[1])
        guard fields.count == 3 else { return nil }
        let (year, number) = fields[0].utf8.count == 4 ? (fields[0], fields[2]) : (fields[2], fields[0])
        let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        let name = String(fields[1]).asciiLowercased
        let month = months.firstIndex(of: name).map { $0 < 9 ? "0\($0 + 1)" : "\($0 + 1)" } ?? name
        return RFC3339.date("\(year)-\(month)-\(number)T\(time)\(time.utf8.count == 5 ? ":00" : "")Z")
    }

    /// The maximum number of bytes that are read after a link.
    static let mostBytes = 1 << 10
    private static let mostWords = 24

    /// Reads the text between the end of a link and the next link; `nil` without a date and a size.
    init?(_ text: ArraySlice<UInt8>) {
        let words = Self.words(text.prefix(Self.mostBytes))
        var (date, size): (String?, String?)
        var index = words.startIndex
        while index < words.endIndex, date == nil || size == nil {
            let (word, next) = (words[index], index + 1 < words.endIndex ? words[index + 1] : "")
            index += 1
            if date == nil, Self.isDateAndTime(word) {
                date = word
            } else if date == nil, Self.isDate(word), Self.isTime(next) {
                date = word + " " + next
                index += 1
            } else if size == nil, Self.isNumber(word), Self.isUnit(next) {
                size = word + next
                index += 1
            } else if size == nil, Self.isSize(word) {
                size = word
            }
        }
        guard let date, let size else { return nil }
        (day, self.size) = (date, size)
    }

    /// The words outside tags, and the dates of `<time>` elements.
    private static func words(_ text: ArraySlice<UInt8>) -> [String] {
        var words: [String] = []
        var (word, rest): ([UInt8], ArraySlice<UInt8>) = ([], text)
        func end() {
            if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
            word = []
        }
        while let byte = rest.first, words.count < mostWords {
            if byte == UInt8(ascii: "<") {
                end()
                let tag = HTMLTag(rest)
                if tag.name == "time", let date = tag.value(of: "datetime") { words.append(date) }
                rest = rest[tag.text.endIndex...]
                continue
            }
            rest = rest.dropFirst()
            if byte <= 0x20 {
                end()
            } else if byte == UInt8(ascii: "&"), rest.starts(with: "nbsp;".utf8) {
                end()
                rest = rest.dropFirst(5)
            } else {
                word.append(byte)
            }
        }
        end()
        return words
    }

    /// `2026-11-28T10:00:00Z`.
    private static func isDateAndTime(_ word: String) -> Bool {
        let parts = word.split(at: "T", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 && word.utf8.count <= 40 && isDate(String(parts[0]))
            && isTime(String(parts[1].prefix(5)))
    }

    /// `28-Nov-2026`, `2026-11-28`, `2026-Nov-28`.
    private static func isDate(_ word: String) -> Bool {
        let parts = word.split(at: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, word.utf8.count <= 11 else { return false }
        let isMonth = isDigits(parts[1], 2) || parts[1].utf8.count == 3 && parts[1].utf8.allSatisfy(ASCII.isLetter)
        return isMonth
            && (isDigits(parts[0], 2) && isDigits(parts[2], 4) || isDigits(parts[0], 4) && isDigits(parts[2], 2))
    }

    /// `10:00`, `10:00:00`.
    private static func isTime(_ word: String) -> Bool {
        let parts = word.split(at: ":", omittingEmptySubsequences: false)
        return (2...3).contains(parts.count) && parts.allSatisfy { isDigits($0, 2) }
    }

    private static func isDigits(_ text: Substring, _ count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy(ASCII.isDigit)
    }

    /// `1234`, `1.2`.
    private static func isNumber(_ word: String) -> Bool {
        let parts = word.split(at: ".", omittingEmptySubsequences: false)
        return parts.count <= 2 && word.utf8.count <= 20
            && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(ASCII.isDigit) }
    }

    /// `B`, `K`, `KB`, `KiB`.
    private static func isUnit(_ word: String) -> Bool {
        ["b", "byte", "bytes"].contains(word.asciiLowercased)
            || ["k", "m", "g", "t", "p"].contains { unit in
                ["", "b", "ib"].contains { word.asciiLowercased == unit + $0 }
            }
    }

    private static func isSize(_ word: String) -> Bool {
        if isNumber(word) { return true }
        let end = word.utf8.firstIndex(where: ASCII.isLetter) ?? word.endIndex
        return isNumber(String(word[..<end])) && isUnit(String(word[end...]))
    }
}
