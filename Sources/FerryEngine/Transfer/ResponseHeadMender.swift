import FerryCore

/// Rewrites the heads of HTTP/1 responses that a strict parser refuses although RFC 9112 defines their meaning.
///
///     begin ──► head: held until its empty line ──► body: passed on as it is
///                 ▲            │ status 1xx
///                 └────────────┘
///
/// Lines may end with only LF (§2.2), values may be folded or surrounded by tabs (§5.1, §5.2), a space may precede the
/// colon (§5.1), and equal values of Content-Length count as one (§6.3). Everything else stays unchanged, so that the
/// parser can refuse it: different lengths, a length together with Transfer-Encoding, lines without a colon. Bodies are
/// never examined.
///
/// Later decoding as UTF-8 would lose non-UTF-8 bytes, so they are converted where they have a meaning: in Location, a
/// byte is percent-encoded, as in browsers; the name in Content-Disposition is decoded by `NameText.guess(_:)`.
package struct ResponseHeadMender: Sendable {
    /// The maximum size of a head that is held; a longer one is passed on unchanged.
    static let maxHeadBytes = 64 << 10

    private enum State: Sendable {
        case head([UInt8], Search)
        case passing
    }

    /// The position up to which the end of a head has been searched for.
    fileprivate struct Search: Sendable {
        var next = 0
        var isLineEmpty = true
        var hasBegun = false
    }

    private var state = State.passing

    package init() {}

    /// Prepares for the response to a request that is being sent.
    package mutating func begin() { state = .head([], Search()) }

    /// Returns the bytes to pass on in place of the piece; an incomplete head is held. `nil` if the piece passes unchanged.
    package mutating func receive(_ piece: some Collection<UInt8>) -> [UInt8]? {
        guard case .head(var held, var search) = state else { return nil }
        state = .passing
        if held.isEmpty, piece.withContiguousStorageIfAvailable(Self.beginsPlainly) == true { return nil }
        held += piece
        var passed: [UInt8] = []
        while Self.mayBeHead(held), let end = search.end(of: held) {
            let head = Array(held[..<end])
            passed += Self.mended(head)
            held.removeFirst(end)
            search = Search()
            guard Self.isInterim(head) else { return passed + held }
        }
        if held.count > Self.maxHeadBytes || !Self.mayBeHead(held) { return passed + held }
        state = .head(held, search)
        return passed
    }

    /// Returns the held bytes, because no more bytes follow.
    package mutating func finish() -> [UInt8] {
        guard case .head(let held, _) = state else { return [] }
        state = .passing
        return held
    }

    private static let (tab, lineFeed, carriageReturn, space): (UInt8, UInt8, UInt8, UInt8) = (0x09, 0x0A, 0x0D, 0x20)
    private static let protocolName = Array("HTTP/".utf8)

    /// Whether the bytes may be the start of a response, after empty lines; anything else is refused without waiting
    /// for more.
    private static func mayBeHead(_ bytes: [UInt8]) -> Bool {
        let text = bytes.drop { $0 == lineFeed || $0 == carriageReturn }
        return zip(text, protocolName).allSatisfy(==)
    }

    /// Whether another head follows (RFC 9110 §15.2).
    private static func isInterim(_ head: [UInt8]) -> Bool {
        let words = head.prefix { $0 != lineFeed && $0 != carriageReturn }.split(separator: space)
        guard words.count > 1 else { return false }
        return words[1].first == 0x31 && !words[1].elementsEqual("101".utf8) && words[1].prefix(3).count == 3
    }

    // MARK: Plain heads

    /// Whether the bytes start with a whole head of a final response that ``mended(_:)`` would not change. This fast path
    /// covers nearly every response, and copies nothing.
    ///
    /// May also be false for a head that would not be changed.
    private static func beginsPlainly(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let bytes = bytes.prefix(maxHeadBytes)
        var line = bytes.prefix(0)
        var isFirst = true
        var hasLength = false
        while let end = bytes[line.endIndex...].firstIndex(of: carriageReturn), end + 1 < bytes.endIndex,
            bytes[end + 1] == lineFeed
        {
            line = bytes[line.endIndex..<end]
            if line.isEmpty { return !isFirst }
            guard line.allSatisfy({ $0 < 0x80 && $0 != lineFeed }) else { return false }
            guard isFirst ? isPlainStatus(line) : isPlainField(line, &hasLength) else { return false }
            isFirst = false
            line = bytes[end..<end + 2]
        }
        return false
    }

    /// Whether the line is the status line of a final response.
    private static func isPlainStatus(_ line: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard line.starts(with: protocolName), let gap = line.firstIndex(of: space), gap + 1 < line.endIndex else {
            return false
        }
        return (UInt8(ascii: "2")...UInt8(ascii: "9")).contains(line[gap + 1])
    }

    /// Whether the line is a field without white space to remove, and not a second length.
    private static func isPlainField(_ line: Slice<UnsafeBufferPointer<UInt8>>, _ hasLength: inout Bool) -> Bool {
        guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex, colon + 2 < line.endIndex,
            !line[..<colon].contains(where: isBlank), line[colon + 1] == space, !isBlank(line[colon + 2]),
            !isBlank(line[line.endIndex - 1])
        else { return false }
        let name = line[..<colon]
        guard name.count == lengthName.count, zip(name, lengthName).allSatisfy({ $0 | 0x20 == $1 }) else { return true }
        defer { hasLength = true }
        return !hasLength && !line.contains(0x2C)
    }

    private static let lengthName = Array("content-length".utf8)

    // MARK: Mending

    private static func mended(_ head: [UInt8]) -> [UInt8] {
        var lines: [[UInt8]] = head.split(separator: lineFeed, omittingEmptySubsequences: false).map { line in
            Array(line.last == carriageReturn ? line.dropLast() : line)
        }
        // Nothing follows the last line feed.
        lines.removeLast()
        var result: [[UInt8]] = []
        var hasBegun = false
        // A line that starts with white space continues the previous value; it cannot turn a line that is not a field
        // into one.
        var isField = false
        for line in lines {
            if isField, let first = line.first, isBlank(first) {
                // A line of only white space adds nothing to the value.
                let rest = trimmed(line)
                if !rest.isEmpty { result[result.count - 1] = trimmed(result[result.count - 1]) + [space] + rest }
                continue
            }
            let field = hasBegun ? field(line) : nil
            result.append(field ?? line)
            isField = field != nil
            hasBegun = hasBegun || !line.isEmpty
        }
        mergeLengths(in: &result)
        return result.map(legible).flatMap { $0 + [carriageReturn, lineFeed] }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    private static func trimmed(_ bytes: some BidirectionalCollection<UInt8>) -> [UInt8] {
        let begun = Array(bytes.drop(while: isBlank))
        return Array(begun[..<((begun.lastIndex { !isBlank($0) } ?? -1) + 1)])
    }

    /// Returns the line without white space around name and value; `nil` if it is not a field.
    private static func field(_ line: [UInt8]) -> [UInt8]? {
        guard let colon = line.firstIndex(of: 0x3A), let first = line.first, !isBlank(first) else { return nil }
        let name = trimmed(line[..<colon])
        return name.isEmpty ? nil : name + [0x3A, space] + trimmed(line[(colon + 1)...])
    }

    /// Returns the line in UTF-8 if it is a field in which non-UTF-8 bytes have a meaning.
    private static func legible(_ line: [UInt8]) -> [UInt8] {
        guard line.contains(where: { $0 >= 0x80 }), String(validating: line, as: UTF8.self) == nil,
            let colon = line.firstIndex(of: 0x3A)
        else { return line }
        let value = line[(colon + 1)...]
        switch String(decoding: line[..<colon], as: UTF8.self).asciiLowercased {
        case "location": return line[...colon] + value.flatMap { $0 < 0x80 ? [$0] : PercentEncoding.escape($0) }
        case "content-disposition": return line[...colon] + Array(NameText.guess(Array(value)).utf8)
        default: return line
        }
    }

    /// Merges the lines of Content-Length into one if all values are the same number.
    private static func mergeLengths(in lines: inout [[UInt8]]) {
        let places = lines.indices.filter { index in
            let name = lines[index].prefix { $0 != 0x3A }
            return String(decoding: name, as: UTF8.self).asciiLowercased == "content-length"
        }
        guard let first = places.first else { return }
        let values = places.flatMap { index in
            lines[index].drop { $0 != 0x3A }.dropFirst().split(separator: 0x2C, omittingEmptySubsequences: false)
                .map { trimmed($0) }
        }
        guard let value = values.first, values.count > 1, !value.isEmpty, Set(values).count == 1,
            value.allSatisfy({ (0x30...0x39).contains($0) })
        else { return }
        lines[first] = Array("Content-Length: ".utf8) + value
        for index in places.dropFirst().reversed() { lines.remove(at: index) }
    }
}

extension ResponseHeadMender.Search {
    /// Returns the index after the empty line that ends the head; `nil` if that line has not arrived.
    fileprivate mutating func end(of bytes: [UInt8]) -> Int? {
        while next < bytes.count {
            let byte = bytes[next]
            if byte == 0x0D {
                // Only the next byte shows whether this one belongs to the end of the line.
                guard next + 1 < bytes.count else { return nil }
                // A CR before the head does not start the head.
                if bytes[next + 1] != 0x0A, hasBegun { isLineEmpty = false }
            } else if byte == 0x0A {
                if isLineEmpty, hasBegun { return next + 1 }
                isLineEmpty = true
            } else {
                (isLineEmpty, hasBegun) = (false, true)
            }
            next += 1
        }
        return nil
    }
}
