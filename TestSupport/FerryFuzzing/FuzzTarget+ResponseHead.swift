import FerryCore
import HTTPTypes

import struct Foundation.Date

extension FuzzTarget {
    /// The time of all checks: 2026-11-21.
    static let now = Date(timeIntervalSince1970: 1_795_000_000)

    /// The last head is the response. The head before it, if any, belongs to the partial content.
    static func responseHead(_ input: [UInt8]) throws(BrokenPromise) {
        let heads = HeadText.heads(input)
        guard let answer = heads.last else { return }
        let verdict = ResponseVerdict.judge(answer.head, asked: answer.asked, now: now)
        try promise(
            verdict == ResponseVerdict.judge(answer.head, asked: answer.asked, now: now), "judged twice: \(verdict)")
        try check(verdict, of: answer)
        try checkRedirect(answer.head)
        if heads.count > 1 { try checkLadder(verdict, of: answer, after: heads[heads.count - 2]) }
    }

    private static func check(_ verdict: ResponseVerdict, of answer: HeadText) throws(BrokenPromise) {
        switch verdict {
        case .whole(let representation):
            try check(representation)
            if answer.head.status == 206 {
                try promise(representation.identity.totalBytes != nil, "a whole 206 of no length: \(representation)")
            }
        case .part(let range, let representation):
            try check(representation)
            try promise(
                answer.asked != .whole && range.lowerBound == answer.asked.start, "not what was asked: \(range)")
            try promise(range.lowerBound >= 0 && !range.isEmpty, "an impossible range: \(range)")
            try promise(
                range.upperBound <= representation.identity.totalBytes ?? .max,
                "beyond the end: \(range) \(representation)")
            try promise(
                representation.bodyBytes ?? ByteCount(range.count) == range.count,
                "a body of another length: \(representation)")
            try promise(!representation.isEncoded, "a part of an encoded body")
        case .unsatisfied(let representation): try check(representation)
        case .busy(_, let wish): try checkDelay(wish)
        case .unusable(let reason), .refused(let reason): try promiseOneLine("\(reason)")
        case .notModified, .deadLink: break
        }
    }

    private static func check(_ representation: Representation) throws(BrokenPromise) {
        try promise(
            representation.bodyBytes ?? 0 >= 0 && representation.identity.totalBytes ?? 0 >= 0,
            "a negative length: \(representation)")
        try promise(
            !(representation.endsByClose && representation.bodyBytes != nil), "a length, and none: \(representation)")
        try check(representation.digests)
        try check(representation.messageDigests)
        if let name = representation.suggestedName { try promise(!name.isEmpty, "an empty name is none") }
        if let etag = representation.identity.etag {
            try promiseFieldValue(etag)
            try promise(EntityTag(etag)?.field == etag, "an ETag that is not read again: \(etag)")
        }
        if let validator = representation.identity.strongValidator { try promiseFieldValue(validator) }
        let again = IdentityComparison.compare(
            known: representation.identity, offered: representation.identity, strict: true)
        if case .different(let reason) = again {
            throw BrokenPromise(description: "different from itself: \(reason): \(representation)")
        }
    }

    private static func checkRedirect(_ head: ResponseHead) throws(BrokenPromise) {
        guard let start = try? DownloadURL("https://example.com/folder/file?query") else { return }
        var policy = RedirectPolicy(start: start)
        switch policy.judge(status: head.status, locations: head.values(.location), from: start) {
        case .final: try promise(!RedirectPolicy.isRedirect(head.status), "a redirect is no answer")
        case .follow(let target):
            try promise(target.scheme == .https && target.text != start.text, "followed to \(target.text)")
            try checkForm(of: target)
        case .refuse(let refusal): try promiseOneLine(refusal.description)
        }
    }

    private static func checkLadder(
        _ verdict: ResponseVerdict, of answer: HeadText, after before: HeadText
    ) throws(BrokenPromise) {
        var total = before.head.declaredTotal
        let ranges = before.held
        if let end = ranges.ranges.last?.upperBound, let known = total, end > known { total = end }
        var held = PartialContent(identity: Representation(before.head, total: total).identity, ranges: ranges)
        held.digests = Representation(before.head, total: total).digests
        if before.has(rule: "s") { held.sampledAs = held.identity }
        var trust = TrustRules()
        trust.strict = before.has(rule: "t")
        trust.resumesUnproven = before.has(rule: "u")
        let rules = ResumeRules(trust: trust, hasDigest: before.has(rule: "d"))

        var sendsCondition = false
        switch ResumePolicy.opening(held: held, rules: rules) {
        case .whole: try promise(held.isEmpty, "what is held is forgotten")
        case .goOn(let ifRange):
            try promise(!held.isEmpty, "nothing to go on with")
            try promise(ifRange == held.identity.strongValidator, "If-Range is no strong validator: \(ifRange ?? "-")")
            sendsCondition = ifRange != nil
        case .restart(let reason): try promiseOneLine("\(reason)")
        }
        if before.has(rule: "p") { sendsCondition = false }
        let assessment = ResumePolicy.assess(verdict, held: held, rules: rules, ifRange: sendsCondition)
        try check(assessment, of: verdict, held: held)
    }

    private static func check(
        _ assessment: Assessment, of verdict: ResponseVerdict, held: PartialContent
    ) throws(BrokenPromise) {
        switch assessment {
        case .begin:
            guard case .whole = verdict else { throw BrokenPromise(description: "begun with \(verdict)") }
            try promise(held.isEmpty, "begun although something is held")
        case .goOn(let range, let representation, let join):
            try promise(verdict == .part(range, representation), "gone on with \(verdict)")
            try checkSameSize(representation, held)
            try promise(range.upperBound <= held.identity.totalBytes ?? .max, "gone on beyond the end: \(range)")
            try promise(join <= .strong, "a join is not \(join)")
        case .rewind(let representation, let join):
            try promise(verdict == .whole(representation) && !held.isEmpty, "rewound with \(verdict)")
            try checkSameSize(representation, held)
            try promise(join == .strong, "a rewind is not \(join)")
        case .complete(let total):
            try promise(
                held.ranges.holds(0..<total) && held.ranges.byteCount == total, "\(held) is not all of \(total)")
        case .changed(let reason, let representation), .restart(let reason, let representation):
            try promiseOneLine("\(reason)")
            if let representation { try promise(verdict == .whole(representation), "a body from byte 0 in \(verdict)") }
        case .sample(let reason), .unusable(let reason), .refused(let reason), .deadLink(let reason, _):
            try promiseOneLine("\(reason)")
        case .busy(_, let wish): try checkDelay(wish)
        case .askPlainly, .askWhole: break
        }
    }

    private static func checkSameSize(_ representation: Representation, _ held: PartialContent) throws(BrokenPromise) {
        guard let old = held.identity.totalBytes, let new = representation.identity.totalBytes else { return }
        try promise(old == new, "joined a file of \(new) bytes to one of \(old)")
    }

    static func checkDelay(_ delay: Duration?) throws(BrokenPromise) {
        if let delay { try promise(delay >= .zero && delay <= RetryAfter.longest, "a wait of \(delay)") }
    }
}

extension ResponseHead {
    /// The total size that a whole or partial response declares.
    fileprivate var declaredTotal: ByteCount? {
        switch single(.contentRange).flatMap({ ContentRange($0) }) {
        case .part(_, let total), .unsatisfied(let total): total
        case nil: single(.contentLength).flatMap { ByteCount($0) }.flatMap { $0 >= 0 ? $0 : nil }
        }
    }
}
