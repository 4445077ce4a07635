/// Splits text that arrives in pieces into numbered lines, without the byte order mark and line ends (LF or CRLF).
///
/// Keeps no more than one unfinished line and the last piece.
package struct TextLines: Sequence, IteratorProtocol, Sendable {
    package struct Line: Sendable {
        /// The number of the line, counted from 1.
        package let number: Int
        /// The offset of the line's first byte in the text.
        package let offset: Int
        /// The bytes of the line; empty if it is too long.
        package let bytes: ArraySlice<UInt8>
        /// Whether the line has more bytes than ``TextLines/mostBytes``.
        package let isTooLong: Bool

        /// The line as text; invalid UTF-8 is replaced.
        package var text: Substring { Substring(String(decoding: bytes, as: UTF8.self)) }
    }

    /// The maximum length of a line, in bytes.
    private let mostBytes: Int
    private var buffer: [UInt8] = []
    /// The start of the unfinished line in the buffer.
    private var start = 0
    /// The end of the bytes in which no line end was found.
    private var scanned = 0
    private var number: Int
    /// The offset of the unfinished line in the text.
    private var lineOffset: Int
    private var isTooLong = false
    /// The number of bytes of the unfinished line that are no longer kept.
    private var skippedBytes = 0
    /// Whether the start of the text has been checked for a byte order mark.
    private var isBegun: Bool
    /// Whether the last piece of the text has been added.
    private var isWhole = false

    /// - Parameters:
    ///   - offset: The offset of the first added line in the text.
    ///   - number: The number of lines before the first added one.
    package init(mostBytes: Int, startingAt offset: Int = 0, after number: Int = 0) {
        self.mostBytes = mostBytes
        (lineOffset, self.number, isBegun) = (offset, number, offset > 0)
    }

    /// Splits a whole text.
    package init(_ text: String) {
        self.init(mostBytes: .max)
        append(text.utf8)
        finish()
    }

    /// Adds the next piece of the text.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        buffer.removeFirst(start)
        scanned -= start
        start = 0
        buffer.append(contentsOf: bytes)
    }

    /// Declares the text complete, so that its last line needs no line end.
    package mutating func finish() { isWhole = true }

    /// Returns the next line; `nil` if it is not complete yet, or at the end of the text.
    package mutating func next() -> Line? {
        if !isBegun {
            guard buffer.count >= 3 || isWhole else { return nil }
            if buffer.starts(with: [0xEF, 0xBB, 0xBF]) { (start, scanned, lineOffset) = (3, 3, 3) }
            isBegun = true
        }
        guard let end = buffer[scanned...].firstIndex(of: 0x0A) ?? (isWhole ? buffer.endIndex : nil) else {
            scanned = buffer.endIndex
            if scanned - start > mostBytes {
                isTooLong = true
                skippedBytes += scanned - start
                start = scanned
            }
            return nil
        }
        guard number == 0 || start < buffer.endIndex || isTooLong else { return nil }
        number += 1
        let offset = lineOffset
        defer {
            lineOffset += skippedBytes + end + 1 - start
            skippedBytes = 0
            start = Swift.min(end + 1, buffer.endIndex)
            scanned = start
            isTooLong = false
        }
        if isTooLong || end - start > mostBytes {
            return Line(number: number, offset: offset, bytes: [], isTooLong: true)
        }
        let line = buffer[start..<end]
        return Line(
            number: number, offset: offset, bytes: line.last == 0x0D ? line.dropLast() : line, isTooLong: false)
    }
}
