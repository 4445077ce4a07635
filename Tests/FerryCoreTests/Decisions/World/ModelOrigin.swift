import FerryCore
import Foundation
import HTTPTypes

/// A model of a server with one file: its responses and its bodies.
struct ModelOrigin {
    enum Validator: CaseIterable { case strong, weak, oldDate, youngDate, none }
    enum Ranges: Equatable {
        case honoured
        /// 200 to everything.
        case ignored
        /// 200 to this share of ranged requests.
        case flaky(Double)
        /// 206 with at most so many bytes.
        case capped(ByteCount)
        /// 206 from another byte, for this share of requests.
        case misplaced(Double)
        /// The body continues to the end of the file.
        case overlong
        /// Content-Range is right, the body (chunked) ends after so many bytes.
        case short(ByteCount)
    }
    enum IfRange { case honoured, disliked, ignored }
    enum Excess {
        case refuse, reset, busy(Int)
        /// Answered when a connection is free.
        case hang
        /// Never answered.
        case mute
        /// 200 with a body of so many bytes that is not the file, without a validator.
        case document(ByteCount)
        /// 416 with the length 0.
        case vanished
    }

    var size: ByteCount = 40 << 20
    /// The number of its content; bytes of different contents never belong together.
    var content = 1
    /// The time of the last change in whole seconds, for Last-Modified.
    private var changedAt = 0.0
    /// The sizes that earlier contents had.
    private(set) var sizes: [Int: ByteCount] = [:]
    var validator = Validator.strong
    var ranges = Ranges.honoured
    var ifRange = IfRange.honoured
    /// Another strong tag with each response, and an old date.
    var hasOwnTags = false
    /// Every response is a document of so many bytes instead of the file.
    var document: ByteCount?
    /// The status of a dead link.
    var deadStatus = 403
    /// Strong tags of two nodes that have the same file.
    var hasTwoNodes = false
    var tellsTotal = true
    /// No length at all: chunked.
    var isChunked = false
    var latency = 0.03
    var connectionRate = 20e6
    var totalRate = 200e6
    /// Sends a second's worth at once, then pauses, as nginx does with limit_rate.
    var isBursty = false
    var maxOpen = Int.max
    var excess = Excess.refuse
    var retryAfter: Int?
    var refusals = 0.0
    /// Breaks of a body, and bodies that go silent, per megabyte.
    var breaks = 0.0
    var stalls = 0.0
    /// The share of bodies with a wrong digest; all bodies have a digest then.
    var spoils = 0.0
    /// Times at which the content changes, ascending, and the sizes that it then has.
    var changes: [(at: Double, size: ByteCount)] = []
    /// The lifetime of a redirected link, in seconds.
    var linkLife: Double?
    var isDead = false

    struct Body {
        var content: Int
        var position: ByteCount
        var end: ByteCount
        var breakAt: ByteCount?
        var stallAt: ByteCount?
        var started: Double
        var sent = 0.0
        /// Whether its own digest is wrong; `nil` without a digest.
        var isSpoiled: Bool?
        /// The written ranges of the body.
        var written = RangeSet<ByteCount>()
    }

    enum Reply {
        case failure(String)
        case silence
        case answer(ResponseHead, Body?)
    }

    static let epoch = Date(timeIntervalSince1970: 1_700_000_000)

    mutating func age(to now: Double) {
        while let next = changes.first, next.at <= now {
            sizes[content] = size
            changedAt = next.at.rounded(.down)
            content += 1
            size = next.size
            changes.removeFirst()
        }
    }

    /// The length that a content has or had.
    func size(of content: Int) -> ByteCount? { content == self.content ? size : sizes[content] }

    func reply(
        to ask: RangeAsk, ifRange condition: String? = nil, at now: Double, open: Int = 1, linkAge: Double? = nil,
        random: inout SeededBytes
    ) -> Reply {
        func chance(_ share: Double) -> Bool { share > 0 && Double.random(in: 0..<1, using: &random) < share }
        if chance(refusals) { return .failure("connection refused") }
        var head = ResponseHead(status: 200)
        head.headers[.date] = HTTPDate.format(Self.epoch.addingTimeInterval(now))
        if open > maxOpen {
            switch excess {
            case .refuse: return .failure("connection refused")
            case .reset: break
            case .busy(let status):
                head.status = status
                if let retryAfter { head.headers[.retryAfter] = "\(retryAfter)" }
                return .answer(head, nil)
            case .hang, .mute: return .silence
            case .document(let size): return document(size, head)
            case .vanished:
                head.status = 416
                head.headers[.contentRange] = "bytes */0"
                return .answer(head, nil)
            }
        }
        if isDead || linkAge.map({ $0 > linkLife ?? .infinity }) == true {
            head.status = deadStatus
            return .answer(head, nil)
        }
        if let size = self.document { return document(size, head) }
        let node = hasTwoNodes && chance(0.5) ? "b" : "a"
        switch validator {
        case .strong: head.headers[.eTag] = "\"\(node)\(content)\""
        case .weak: head.headers[.eTag] = "W/\"\(content)\""
        case .oldDate: break
        case .youngDate: head.headers[.lastModified] = HTTPDate.format(Self.epoch.addingTimeInterval(changedAt))
        case .none: break
        }
        if hasOwnTags { head.headers[.eTag] = "\"\(UInt64.random(in: 0...(.max), using: &random))\"" }
        if validator == .oldDate || hasTwoNodes || hasOwnTags {
            head.headers[.lastModified] = HTTPDate.format(Self.epoch.addingTimeInterval(-86_400 + Double(content)))
        }
        var body = Body(content: content, position: 0, end: size, started: now)
        body.breakAt = fault(breaks, &random)
        body.stallAt = fault(stalls, &random)
        if spoils > 0 { body.isSpoiled = chance(spoils) }
        var serves = ask != .whole && ranges != .ignored
        if case .flaky(let share) = ranges, chance(share) { serves = false }
        if let condition {
            switch ifRange {
            case .honoured:
                serves = serves && (condition == head.headers[.eTag] || condition == head.headers[.lastModified])
            case .disliked: serves = false
            case .ignored: break
            }
        }
        guard serves else {
            if isChunked {
                head.headers[.transferEncoding] = "chunked"
            } else {
                head.headers[.contentLength] = "\(size)"
            }
            return .answer(head, body)
        }
        var end = size
        if case .range(let range) = ask { end = min(size, range.upperBound) }
        guard ask.start < end else {
            head.status = 416
            head.headers[.contentRange] = "bytes */\(size)"
            return .answer(head, nil)
        }
        body.position = ask.start
        if case .capped(let most) = ranges { end = min(end, ask.start + most) }
        if case .misplaced(let share) = ranges, body.position > 0, chance(share) { body.position -= 1 }
        if ranges == .overlong { end = size }
        head.status = 206
        head.headers[.contentRange] = "bytes \(body.position)-\(end - 1)/\(tellsTotal ? "\(size)" : "*")"
        body.end = end
        if case .short(let most) = ranges {
            head.headers[.transferEncoding] = "chunked"
            body.end = min(end, body.position + most)
        } else {
            head.headers[.contentLength] = "\(end - body.position)"
        }
        if case .reset = excess, open > maxOpen { body.breakAt = 1 }
        return .answer(head, body)
    }

    /// The content 0 is never that of a file.
    private func document(_ size: ByteCount, _ head: ResponseHead) -> Reply {
        var head = head
        head.headers[.contentLength] = "\(size)"
        return .answer(head, Body(content: 0, position: 0, end: size, started: 0))
    }

    private func fault(_ perMegabyte: Double, _ random: inout SeededBytes) -> ByteCount? {
        guard perMegabyte > 0 else { return nil }
        return ByteCount(-log(Double.random(in: 0.0001..<1, using: &random)) / perMegabyte * 1e6)
    }
}
