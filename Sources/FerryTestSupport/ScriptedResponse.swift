import Ferry
import HTTPTypes

/// The response of a server with scripted files to a request: its fields, and the range of bytes that follow.
struct ScriptedResponse {
    var status: Int
    var fields = HTTPFields()
    /// The bytes of the body, as a range of the file.
    var range: Range<ByteCount> = 0..<0
    let file: ScriptedFile?

    /// Creates the response for a path with or without a query.
    init(to target: some StringProtocol, _ fields: HTTPFields, of files: [ScriptedFile]) {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        file = files.first { $0.target.utf8.elementsEqual(path) }
        guard let file else {
            status = 404
            return
        }
        if let refusal = file.status {
            status = refusal
            return
        }
        self.fields = [.acceptRanges: "bytes", .eTag: file.etag, .contentType: "application/octet-stream"]
        if fields[.ifNoneMatch] == file.etag {
            status = 304
            return
        }
        (status, range) = (200, 0..<file.bytes)
        guard let asked = fields[.range], fields[.ifRange].map({ $0 == file.etag }) ?? true,
            let wanted = Self.range(asked, of: file.bytes)
        else { return }
        guard !wanted.isEmpty else {
            (status, range) = (416, 0..<0)
            self.fields[.contentRange] = "bytes */\(file.bytes)"
            return
        }
        (status, range) = (206, wanted)
        self.fields[.contentRange] = "bytes \(wanted.lowerBound)-\(wanted.upperBound - 1)/\(file.bytes)"
    }

    /// Parses a single range (RFC 9110 §14.1.2); empty if it lies beyond the file, `nil` if it must be ignored.
    private static func range(_ text: String, of total: ByteCount) -> Range<ByteCount>? {
        guard let ends = text.dropping(prefix: "bytes=")?.split(at: "-", omittingEmptySubsequences: false),
            ends.count == 2
        else { return nil }
        if ends[0].isEmpty {
            guard let count = ByteCount(ends[1]), count >= 0 else { return nil }
            return max(0, total - count)..<total
        }
        guard let first = ByteCount(ends[0]), first >= 0 else { return nil }
        guard !ends[1].isEmpty else { return first < total ? first..<total : 0..<0 }
        guard let last = ByteCount(ends[1]), last >= first else { return nil }
        return first < total ? first..<min(total, last == .max ? last : last + 1) : 0..<0
    }
}

/// The body of a response, piece by piece.
struct ScriptedBody: Sendable {
    private static let pieceBytes: ByteCount = 64 << 10
    private let file: ScriptedFile
    private var rest: Range<ByteCount>

    enum Step: Sendable {
        /// These bytes, sent after a pause.
        case piece([UInt8], after: Duration)
        /// No more bytes, although the body is incomplete.
        case stop
        case end
    }

    init(_ file: ScriptedFile, _ range: Range<ByteCount>) {
        self.file = file
        rest = range
    }

    mutating func next() -> Step {
        guard !rest.isEmpty else { return .end }
        var (count, pause) = (min(Self.pieceBytes, rest.upperBound - rest.lowerBound), Duration.zero)
        switch file.pace {
        case .atOnce: break
        case .bytesPerSecond(let rate):
            // About ten pieces a second.
            count = min(count, max(1, rate / 10))
            pause = .seconds(Double(count) / Double(max(1, rate)))
        case .stops(let offset):
            guard rest.lowerBound < offset else { return .stop }
            count = min(count, offset - rest.lowerBound)
        }
        let range = rest.lowerBound..<rest.lowerBound + count
        rest = range.upperBound..<rest.upperBound
        return .piece(file.content(range), after: pause)
    }
}
