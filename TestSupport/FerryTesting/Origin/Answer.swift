/// The response to one request, as a list of steps that behaviours may change before it is sent.
public struct Answer: Sendable {
    /// The status code of the status line.
    public var status: Int
    /// The reason phrase; nil for the standard one.
    public var reason: String?
    /// The header fields as sent; none are added later.
    public var fields: [Field]
    /// The steps before the head: 1xx responses, delays, gates.
    public var before: [Step]
    /// Bytes to send instead of status line, fields and empty line.
    public var rawHead: [UInt8]?
    /// The content.
    public var body: [Step]
    /// The end of the response.
    public var ending: Ending

    /// One action of the connection.
    public enum Step: Sendable {
        /// Bytes that count as head or framing.
        case raw([UInt8])
        /// The bytes `range` of the resource, in chunks of `chunk` bytes with chunk heads; nil for no chunks.
        case content(Resource, Range<Int64>, chunk: Int?)
        /// Bytes that count as content.
        case literal([UInt8])
        /// These bytes repeatedly, until the client closes.
        case endless([UInt8])
        /// Limits the rate from here on.
        case pace(bytesPerSecond: Int64)
        /// Waits until a test opens the gate.
        case wait(Gate)
        /// Waits for this time.
        case delay(Duration)
    }

    /// The end of a response.
    public enum Ending: Sendable, Hashable {
        /// The connection is kept for the next request.
        case keepAlive
        /// An orderly close; over TLS with close_notify.
        case close
        /// FIN without close_notify.
        case cut
        /// RST (SO_LINGER 0): unread data of the client may be lost.
        case reset
        /// Nothing more is sent and the connection stays open.
        case hang
    }

    /// Creates a response from its parts.
    public init(_ status: Int, fields: [Field] = [], body: [Step] = [], ending: Ending = .keepAlive) {
        self.status = status
        self.fields = fields
        self.body = body
        self.ending = ending
        before = []
    }

    /// Returns a small page with its Content-Length.
    public static func page(
        _ status: Int, _ text: String = "", contentType: String = "text/html", fields: [Field] = []
    ) -> Answer {
        let length = Field("Content-Length", "\(text.utf8.count)")
        return Answer(
            status, fields: fields + [Field("Content-Type", contentType), length], body: [.literal(Array(text.utf8))])
    }

    /// Replaces this response with the response to a request beyond a limit.
    mutating func replace(with excess: ConnectionLimit.Excess) {
        switch excess {
        case .status(let status, let retryAfter):
            self = .page(status, "<html>too many</html>")
            if let retryAfter { fields.append(Field("Retry-After", retryAfter)) }
        case .document(let type, let text): self = .page(200, text, contentType: type)
        case .unsatisfied: self = .page(416, fields: [Field("Content-Range", "bytes */0")])
        case .wait, .hang, .close, .reset, .refuse: break
        }
    }

    /// Returns a redirect with an empty body.
    public static func redirect(to location: String, status: Int = 302, fields: [Field] = []) -> Answer {
        Answer(status, fields: fields + [Field("Location", location), Field("Content-Length", "0")])
    }

    /// The bytes of the head.
    var head: [UInt8] {
        if let rawHead { return rawHead }
        var text = "HTTP/1.1 \(status) \(reason ?? Self.reason(status))\r\n"
        for field in fields { text += "\(field.name): \(field.value)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// The number of content bytes in the steps; nil if endless.
    public var bodyCount: Int64? {
        var count: Int64 = 0
        for step in body {
            switch step {
            case .content(_, let range, _): count += Int64(range.count)
            case .literal(let bytes): count += Int64(bytes.count)
            case .endless: return nil
            case .raw, .pace, .wait, .delay: break
            }
        }
        return count
    }

    /// Inserts steps after `count` bytes of content, within a chunk if necessary; at the end if there are fewer.
    public mutating func insert(_ steps: [Step], after count: Int64) {
        let (first, second) = split(at: count)
        body = first + steps + second
    }

    /// Keeps `count` bytes of content and sets the ending.
    public mutating func cut(after count: Int64, _ ending: Ending) {
        body = split(at: count).0
        self.ending = ending
    }

    private func split(at count: Int64) -> ([Step], [Step]) {
        var left = max(0, count)
        for (index, step) in body.enumerated() {
            let rest = Array(body[(index + 1)...])
            switch step {
            case .content(let resource, let range, let chunk):
                guard left < Int64(range.count) else {
                    left -= Int64(range.count)
                    continue
                }
                let (first, second) = Self.split(resource, range, chunk, at: range.lowerBound + left)
                return (Array(body[..<index]) + first, second + rest)
            case .literal(let bytes):
                guard left < Int64(bytes.count) else {
                    left -= Int64(bytes.count)
                    continue
                }
                let first = Step.literal(Array(bytes[..<Int(left)]))
                return (Array(body[..<index]) + [first], [.literal(Array(bytes[Int(left)...]))] + rest)
            case .endless(let bytes):
                return (Array(body[..<index]) + [.literal(Self.cycle(bytes, count: Int(left)))], [step] + rest)
            case .raw, .pace, .wait, .delay: continue
            }
        }
        return (body, [])
    }

    private static func split(
        _ resource: Resource, _ range: Range<Int64>, _ chunk: Int?, at offset: Int64
    ) -> ([Step], [Step]) {
        guard let chunk else {
            return (
                [.content(resource, range.lowerBound..<offset, chunk: nil)],
                [.content(resource, offset..<range.upperBound, chunk: nil)]
            )
        }
        let whole = range.lowerBound + (offset - range.lowerBound) / Int64(chunk) * Int64(chunk)
        let end = min(whole + Int64(chunk), range.upperBound)
        let size = String(end - whole, radix: 16)
        return (
            [
                .content(resource, range.lowerBound..<whole, chunk: chunk), .raw(Array("\(size)\r\n".utf8)),
                .content(resource, whole..<offset, chunk: nil),
            ],
            [
                .content(resource, offset..<end, chunk: nil), .raw(Array("\r\n".utf8)),
                .content(resource, end..<range.upperBound, chunk: chunk),
            ]
        )
    }

    private static func cycle(_ bytes: [UInt8], count: Int) -> [UInt8] {
        bytes.isEmpty ? [] : (0..<count).map { bytes[$0 % bytes.count] }
    }

    static func reason(_ status: Int) -> String {
        let known = [
            100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints", 200: "OK",
            204: "No Content", 206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
            304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
            401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
            407: "Proxy Authentication Required", 408: "Request Timeout", 410: "Gone", 416: "Range Not Satisfiable",
            425: "Too Early", 429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway",
            503: "Service Unavailable", 504: "Gateway Timeout",
        ]
        return known[status] ?? "Status \(status)"
    }
}
