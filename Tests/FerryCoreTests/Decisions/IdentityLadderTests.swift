import FerryCore
import Foundation
import HTTPTypes
import Testing

private let old = "Tue, 14 Nov 2023 10:00:00 GMT"
private let older = "Mon, 13 Nov 2023 10:00:00 GMT"
private let soon = "Tue, 14 Nov 2023 10:00:30 GMT"
private let late = "Tue, 14 Nov 2023 22:00:00 GMT"

@Suite("Comparison of identities")
struct IdentityComparisonTests {
    private static func file(
        _ etag: String?, _ modified: String? = nil, _ date: String? = late, _ total: ByteCount? = 9
    )
        -> FileIdentity
    {
        FileIdentity(etag: etag, lastModified: modified, date: date, totalBytes: total)
    }

    @Test(
        "IdentityComparison: validators and length decide whether a representation is the same",
        arguments: [
            (file("\"a\""), file("\"a\""), "same"), (file("\"a\""), file("\"b\""), "different"),
            (file("\"a\""), file("\"b\"", nil, late, 8), "different"),
            (file("\"a\""), file("\"a\"", nil, late, nil), "same"),
            (file("W/\"a\""), file("W/\"a\""), "plausible"), (file("W/\"a\""), file("\"a\""), "plausible"),
            (file("\"a\""), file("W/\"a\""), "plausible"), (file("W/\"a\""), file("W/\"b\""), "different"),
            (file("W/\"a\"", old), file("W/\"b\"", old), "plausible"),
            (file("W/\"a\"", old), file("W/\"b\"", older), "different"),
            // Nodes of a CDN: another strong tag, the same old date, the same length.
            (file("\"a\"", old), file("\"b\"", old), "plausible"),
            (file("\"a\"", old), file("\"b\"", older), "different"),
            (file("\"a\"", old, soon), file("\"b\"", old, soon), "different"),
            (file("\"a\"", old), file("\"b\"", old, late, nil), "different"),
            (file(nil, old), file(nil, old), "same"), (file(nil, old, old), file(nil, old), "plausible"),
            (file(nil, old, older), file(nil, old), "plausible"), (file(nil, old, nil), file(nil, old), "plausible"),
            (file(nil, old), file(nil, older), "different"), (file(nil), file(nil), "unknown"),
            (file("\"a\""), file(nil), "unknown"), (file("\"a\"", old), file(nil, old), "plausible"),
            (file("\"a\"", old), file(nil, older), "different"), (file(nil), file(nil, nil, nil, 8), "different"),
            (file("\"\u{E9}\""), file("\"e\u{301}\""), "different"),
        ])
    func compare(known: FileIdentity, offered: FileIdentity, expected: String) {
        #expect(word(.compare(known: known, offered: offered, strict: false)) == expected)
    }

    @Test("IdentityComparison: strict mode treats another strong ETag as a different file")
    func strict() {
        let (a, b) = (Self.file("\"a\"", old), Self.file("\"b\"", old))
        #expect(word(.compare(known: a, offered: b, strict: true)) == "different")
    }

    private func word(_ comparison: IdentityComparison) -> String {
        switch comparison {
        case .same: "same"
        case .plausible: "plausible"
        case .unknown: "unknown"
        case .different: "different"
        case .inconsistent: "inconsistent"
        }
    }

    @Test(
        "IdentityComparison: another length under an equal validator is inconsistent, and no proof of another file",
        arguments: [
            (file("\"a\""), file("\"a\"", nil, late, 8), "inconsistent"),
            (file("\"a\""), file("\"a\"", nil, late, 0), "inconsistent"),
            (file("\"a\"", old), file("\"a\"", old, late, 8), "inconsistent"),
            (file("W/\"a\""), file("W/\"a\"", nil, late, 8), "inconsistent"),
            (file("\"a\""), file("W/\"a\"", nil, late, 8), "inconsistent"),
            // A date counts only against an equal tag if it is old: a service may give its own date to an error.
            (file("\"a\"", old), file("\"a\"", older, late, 8), "different"),
            (file("\"a\"", old), file("\"a\"", late, late, 8), "inconsistent"),
            (file("\"a\"", old), file("\"a\"", nil, late, 8), "inconsistent"),
            (file("\"a\""), file("\"a\"", old, late, 8), "inconsistent"),
            (file(nil, old), file(nil, old, late, 8), "inconsistent"),
            (file(nil, old, old), file(nil, old, late, 8), "different"),
            (file(nil, old), file(nil, older, late, 8), "different"),
            (file("\"a\"", old), file(nil, old, late, 8), "inconsistent"),
            (file(nil, old), file("\"a\"", old, late, 8), "inconsistent"),
            (file("\"a\""), file(nil, old, late, 8), "different"),
            (file("\"a\"", old), file("\"b\"", old, late, 8), "different"),
            (file("W/\"a\"", old), file("W/\"b\"", old, late, 8), "different"),
        ])
    func otherLength(known: FileIdentity, offered: FileIdentity, expected: String) {
        for strict in [false, true] {
            #expect(word(.compare(known: known, offered: offered, strict: strict)) == expected)
        }
    }

    @Test("FileIdentity: only a strong ETag or an old Last-Modified is a strong validator")
    func strongValidator() {
        #expect(Self.file("\"a\"", old).strongValidator == "\"a\"")
        #expect(Self.file("W/\"a\"", old).strongValidator == nil)
        #expect(Self.file(nil, old).strongValidator == old)
        #expect(Self.file(nil, old, old).strongValidator == nil)
        #expect(Self.file(nil, late, old).strongValidator == nil)
        #expect(Self.file(nil).strongValidator == nil)
    }
}

@Suite("Resume policy")
struct ResumePolicyTests {
    private func held(_ etag: String?, _ modified: String? = nil, total: ByteCount? = 1000, digests: [Checksum] = [])
        -> PartialContent
    {
        var held = PartialContent(
            identity: FileIdentity(etag: etag, lastModified: modified, date: late, totalBytes: total),
            ranges: RangeSet(0..<100))
        held.digests = digests
        return held
    }

    private func rules(_ change: (inout ResumeRules) -> Void = { _ in }) -> ResumeRules {
        var rules = ResumeRules()
        change(&rules)
        return rules
    }

    private func assess(
        _ answer: ResponseHead, _ held: PartialContent, _ ask: RangeAsk = .from(100),
        rules: ResumeRules = ResumeRules(),
        ifRange: Bool = false
    ) -> String {
        let verdict = ResponseVerdict.judge(answer, asked: ask, now: .distantPast)
        switch ResumePolicy.assess(verdict, held: held, rules: rules, ifRange: ifRange) {
        case .begin: return "begin"
        case .goOn(_, _, let join): return "goOn \(join.rawValue)"
        case .rewind(_, let join): return "rewind \(join.rawValue)"
        case .askPlainly: return "askPlainly"
        case .askWhole: return "askWhole"
        case .sample: return "sample"
        case .changed(_, let representation): return representation == nil ? "changed" : "changed, with body"
        case .restart(_, let representation): return representation == nil ? "restart" : "restart, with body"
        case .complete(let total): return "complete \(total)"
        case .deadLink(_, let status): return "dead \(status)"
        case .busy: return "busy"
        case .unusable: return "unusable"
        case .refused: return "refused"
        }
    }

    private func part(_ lines: (HTTPField.Name, String)..., total: String = "1000") -> ResponseHead {
        var answer = head(206, (.contentRange, "bytes 100-999/\(total)"), (.date, late))
        for (name, value) in lines { answer.headers[name] = value }
        return answer
    }

    private func whole(_ lines: (HTTPField.Name, String)..., length: Int = 1000) -> ResponseHead {
        var answer = head(200, (.contentLength, "\(length)"), (.date, late))
        for (name, value) in lines { answer.headers[name] = value }
        return answer
    }

    @Test("ResumePolicy: the opening request carries the strongest validator, and none means a restart")
    func opening() {
        #expect(
            ResumePolicy.opening(held: PartialContent(identity: FileIdentity(), ranges: RangeSet()), rules: rules())
                == .whole)
        #expect(ResumePolicy.opening(held: held("\"a\""), rules: rules()) == .goOn(ifRange: "\"a\""))
        #expect(ResumePolicy.opening(held: held(nil, old), rules: rules()) == .goOn(ifRange: old))
        #expect(ResumePolicy.opening(held: held("W/\"a\"", old), rules: rules()) == .goOn(ifRange: nil))
        #expect(ResumePolicy.opening(held: held(nil), rules: rules { $0.hasDigest = true }) == .goOn(ifRange: nil))
        #expect(
            ResumePolicy.opening(held: held(nil), rules: rules { $0.trust.resumesUnproven = true })
                == .goOn(ifRange: nil))
        for (part, strict) in [(held(nil), false), (held(nil), true), (held("W/\"a\""), true)] {
            guard case .restart = ResumePolicy.opening(held: part, rules: rules { $0.trust.strict = strict }) else {
                Issue.record("went on without proof: \(part)")
                continue
            }
        }
    }

    @Test("ResumePolicy: --resume-unproven is advised only where samples would then be compared")
    func advice() {
        func reasons(_ rules: ResumeRules) -> [Reason] {
            var reasons: [Reason] = []
            if case .restart(let reason) = ResumePolicy.opening(held: held(nil), rules: rules) {
                reasons.append(reason)
            }
            let verdict = ResponseVerdict.judge(part(), asked: .from(100), now: .distantPast)
            if case .restart(let reason, _) = ResumePolicy.assess(
                verdict, held: held("W/\"a\""), rules: rules, ifRange: false)
            {
                reasons.append(reason)
            }
            return reasons
        }
        #expect(reasons(rules()) == [Reason(.nothingProves), Reason(.validatorGone)])
        #expect(reasons(rules { $0.canSample = false }) == [Reason(.noValidator), Reason(.noValidator)])
        #expect(reasons(rules { $0.trust.strict = true }) == [Reason(.noStrongValidator), Reason(.noValidator)])
    }

    @Test("ResumePolicy: only the requested block of a file of the same length is compared as a sample")
    func samples() {
        func assess(
            _ answer: ResponseHead, _ held: PartialContent, _ block: Range<ByteCount> = 100..<1000,
            acceptsHTML: Bool = false
        ) -> SampleAssessment {
            let verdict = ResponseVerdict.judge(answer, asked: .range(block), now: .distantPast)
            return ResumePolicy.assessSample(
                verdict, of: block, held: held, rules: rules { $0.trust.acceptsHTML = acceptsHTML })
        }
        let mine = held("\"a\"")
        let page = Reason(.pageInstead)
        if case .compare = assess(part(), mine) {} else { Issue.record("the block was not compared") }
        if case .different = assess(part(total: "1001"), mine) {} else { Issue.record("another length was compared") }
        if case .deadLink = assess(part((.eTag, "\"a\""), total: "1001"), mine) {
        } else {
            Issue.record("a changed file")
        }
        #expect(assess(part(), mine, 0..<1000) == .inconclusive(Reason(.otherStart, "0", "100")))
        #expect(assess(whole(), mine) == .inconclusive(Reason(.noRanges)))
        #expect(assess(whole((.contentType, "text/html"), length: 12), mine) == .deadLink(page, status: 200))
        if case .different = assess(part((.contentType, "text/html"), total: "1001"), mine) {
        } else {
            Issue.record("a 206 with the requested block was taken for a page")
        }
        let json = whole((.contentType, "application/json"), length: 12)
        #expect(assess(json, mine) == .deadLink(Reason(.unprovenInstead), status: 200))
        #expect(assess(whole((.contentType, "text/html")), mine, acceptsHTML: true) == .inconclusive(Reason(.noRanges)))
        #expect(assess(head(400), mine) == .refused(Reason(.serverAnswered, "400")))
        #expect(assess(head(416), mine) == .inconclusive(Reason(.serverAnswered, "416")))
        #expect(assess(head(404), mine) == .deadLink(Reason(.serverAnswered, "404"), status: 404))
        #expect(assess(head(503), mine) == .busy(status: 503))
    }

    @Test("ResumePolicy: a 200 to a range request is never written at the offset")
    func wholes() {
        let mine = held("\"a\"")
        #expect(assess(whole((.eTag, "\"a\"")), mine, ifRange: true) == "askPlainly")
        #expect(assess(whole((.eTag, "\"a\"")), mine) == "rewind strong")
        #expect(assess(whole((.eTag, "\"b\"")), mine, ifRange: true) == "changed, with body")
        #expect(assess(whole((.eTag, "\"a\""), length: 999), mine, ifRange: true) == "dead 200")
        #expect(assess(whole((.eTag, "\"a\""), length: 0), mine, rules: rules { $0.trust.strict = true }) == "dead 200")
        #expect(assess(whole((.eTag, "W/\"a\""), length: 0), held("W/\"a\"")) == "dead 200")
        #expect(assess(whole((.lastModified, old), length: 0), held(nil, old)) == "dead 200")
        #expect(assess(whole((.lastModified, old), length: 0), held("\"a\"", old)) == "dead 200")
        #expect(
            assess(whole((.eTag, "\"a\""), length: 0), mine, rules: rules { $0.trust.acceptsHTML = true })
                == "changed, with body")
        #expect(assess(whole(), mine) == "restart, with body")
        #expect(assess(whole((.eTag, "W/\"a\"")), held("W/\"a\"")) == "restart, with body")
        #expect(
            assess(whole((.eTag, "\"b\""), (.lastModified, old)), held("\"a\"", old), ifRange: true) == "askPlainly")
        var known = mine
        known.identity.contentType = "application/zip"
        #expect(assess(whole((.contentType, "text/html; charset=utf-8"), length: 12), known) == "dead 200")
        #expect(assess(whole((.contentType, "text/html"), length: 12), mine) == "dead 200")
        #expect(
            assess(whole((.contentType, "text/html")), known, rules: rules { $0.trust.acceptsHTML = true })
                == "restart, with body")
        #expect(assess(part((.contentType, "text/html")), known) == "sample")
        #expect(assess(part((.contentType, "text/html"), (.eTag, "\"b\"")), known, ifRange: true) == "changed")
        #expect(assess(part((.contentType, "text/html"), (.eTag, "\"a\"")), known) == "goOn strong")
        known.identity.contentType = "text/html"
        #expect(assess(whole((.contentType, "text/html"), length: 12), known) == "dead 200")
        #expect(
            assess(whole((.contentType, "text/html"), (.eTag, "\"b\""), length: 12), known) == "changed, with body")
        #expect(
            assess(whole(length: 5), PartialContent(identity: FileIdentity(), ranges: RangeSet()), .whole) == "begin")
    }

    @Test("ResumePolicy: an encoded body of unknown or another length restarts, although the ETag is the same")
    func encoded() {
        let answer = head(200, (.eTag, "\"a\""), (.transferEncoding, "chunked"), (.contentEncoding, "gzip"))
        #expect(assess(answer, held("\"a\"")) == "restart, with body")
        #expect(
            assess(whole((.eTag, "\"a\""), (.contentEncoding, "gzip"), length: 9), held("\"a\""))
                == "restart, with body")
    }

    @Test("ResumePolicy: a 206 is joined only with a validator, samples or a digest")
    func parts() {
        let mine = held("\"a\"")
        #expect(assess(part((.eTag, "\"a\"")), mine, ifRange: true) == "goOn strong")
        #expect(assess(part(), mine, ifRange: true) == "goOn strong")
        #expect(assess(part((.lastModified, old)), held("\"a\"", old), ifRange: true) == "goOn strong")
        #expect(assess(part((.lastModified, older)), held("\"a\"", old), ifRange: true) == "changed")
        #expect(assess(part((.eTag, "\"b\"")), mine, ifRange: true) == "changed")
        #expect(assess(part((.eTag, "\"b\""), total: "1001"), mine, ifRange: true) == "changed")
        #expect(assess(part((.eTag, "\"a\""), total: "1001"), mine, ifRange: true) == "askWhole")
        #expect(assess(part((.eTag, "\"a\""), total: "*"), mine, ifRange: true) == "goOn strong")
        #expect(assess(part((.eTag, "\"a\""), total: "*"), held("\"a\"", total: nil), ifRange: true) == "goOn none")
        // More bytes than before, though the total is unknown: another file, unless the tag says otherwise.
        #expect(assess(part((.eTag, "\"b\""), total: "*"), held("\"a\"", total: 900), ifRange: true) == "changed")
        #expect(assess(part((.eTag, "\"a\""), total: "*"), held("\"a\"", total: 900), ifRange: true) == "askWhole")
        #expect(assess(part(), mine) == "sample")
        #expect(assess(part(), mine, rules: rules { $0.trust.strict = true }) == "restart")
        #expect(assess(part(), held("W/\"a\"")) == "restart")
        // Without evidence of its own, another length is only a reason to request the whole.
        #expect(assess(part(total: "1001"), mine, ifRange: true) == "askWhole")
        #expect(assess(part((.eTag, "W/\"b\""), total: "1001"), mine, ifRange: true) == "askWhole")
        #expect(assess(part(total: "1001"), held(nil)) == "changed")
        #expect(assess(part((.eTag, "W/\"a\"")), held("W/\"a\"")) == "sample")
        #expect(assess(part((.eTag, "W/\"a\"")), held("W/\"a\""), rules: rules { $0.trust.strict = true }) == "restart")
        #expect(assess(part((.eTag, "W/\"a\"")), held("W/\"a\""), rules: rules { $0.hasDigest = true }) == "goOn weak")
        #expect(assess(part((.eTag, "\"b\""), (.lastModified, old)), held("\"a\"", old)) == "sample")
        #expect(
            assess(
                part((.eTag, "\"b\""), (.lastModified, old)), held("\"a\"", old),
                rules: rules { $0.trust.strict = true })
                == "changed")
        #expect(assess(part(), held(nil), rules: rules { $0.hasDigest = true }) == "goOn none")
        #expect(assess(part(), held(nil), rules: rules { $0.trust.resumesUnproven = true }) == "sample")
        var sampled = held("W/\"a\"")
        sampled.sampledAs = sampled.identity
        #expect(assess(part((.eTag, "W/\"a\"")), sampled) == "goOn sampled")
        #expect(assess(part((.eTag, "W/\"b\"")), sampled) == "changed")
        // Each sample had another tag: date and length decide.
        sampled = held("\"a\"", old)
        sampled.sampledAs = FileIdentity(lastModified: old, date: late, totalBytes: 1000)
        #expect(assess(part((.eTag, "\"c\""), (.lastModified, old)), sampled) == "goOn sampled")
        #expect(assess(part((.eTag, "\"c\""), (.lastModified, older)), sampled) == "changed")
    }

    @Test("SamplePlan: samples with other tags are of one representation if their dates and lengths are equal")
    func commonValidators() {
        func file(_ etag: String?, _ modified: String? = old, _ total: ByteCount? = 9) -> FileIdentity {
            FileIdentity(etag: etag, lastModified: modified, totalBytes: total)
        }
        #expect(SamplePlan.common(file("\"a\""), file("\"a\"")) == file("\"a\""))
        #expect(SamplePlan.common(file("\"a\""), file("\"b\"")) == file(nil))
        #expect(SamplePlan.common(file(nil), file("\"b\"")) == file(nil))
        #expect(SamplePlan.common(file("\"a\""), file("\"b\"", older)) == nil)
        #expect(SamplePlan.common(file("\"a\"", nil), file("\"b\"", nil)) == nil)
        #expect(SamplePlan.common(file("\"a\""), file("\"b\"", old, 8)) == nil)
    }

    @Test("ResumePolicy: a digest of the server that has changed means another file")
    func digests() throws {
        let (one, two) = (
            "sha-256=:\(String(repeating: "A", count: 43))=:", "sha-256=:\(String(repeating: "A", count: 42))E=:"
        )
        let name = try #require(HTTPField.Name("Repr-Digest"))
        let known = Representation(head(200, (name, one)), total: nil).digests
        #expect(known.count == 1)
        let mine = held(nil, digests: known)
        #expect(assess(part((name, one)), mine, rules: rules { $0.hasDigest = true }) == "goOn none")
        #expect(assess(part((name, two)), mine, rules: rules { $0.hasDigest = true }) == "changed")
        #expect(assess(part((name, one), total: "1001"), mine, rules: rules { $0.hasDigest = true }) == "askWhole")
        #expect(assess(whole((name, one), length: 0), mine, rules: rules { $0.hasDigest = true }) == "dead 200")
        #expect(
            assess(whole((name, two), length: 0), mine, rules: rules { $0.hasDigest = true }) == "changed, with body")
    }

    @Test("ResumePolicy: a 416 proves completeness only together with a validator")
    func unsatisfied() {
        func answer(_ total: Int?, _ tag: String? = nil) -> ResponseHead {
            var answer = head(416)
            if let total { answer.headers[.contentRange] = "bytes */\(total)" }
            if let tag { answer.headers[.eTag] = tag }
            return answer
        }
        let mine = held("\"a\"", total: nil)
        #expect(assess(answer(100), mine, ifRange: true) == "complete 100")
        #expect(assess(answer(100, "\"a\""), mine) == "complete 100")
        #expect(assess(answer(100, "\"b\""), mine, ifRange: true) == "changed")
        #expect(assess(answer(100), mine) == "askWhole")
        #expect(assess(answer(100), held("W/\"a\"", total: nil)) == "askWhole")
        #expect(assess(answer(99, "\"b\""), mine, ifRange: true) == "changed")
        #expect(assess(answer(99), mine, ifRange: true) == "askWhole")
        #expect(assess(answer(0), mine, ifRange: true) == "askWhole")
        #expect(assess(answer(99), held(nil, total: nil)) == "changed")
        #expect(assess(answer(101), mine, ifRange: true) == "unusable")
        #expect(assess(answer(500), held("\"a\""), ifRange: true) == "askWhole")
        #expect(assess(answer(500, "\"b\""), held("\"a\""), ifRange: true) == "changed")
        #expect(assess(answer(0, "\"a\""), held("\"a\""), ifRange: true) == "askWhole")
        #expect(assess(answer(99, "\"a\""), mine, ifRange: true) == "askWhole")
        #expect(assess(answer(nil), mine, ifRange: true) == "askWhole")
    }

    @Test("ResumePolicy: unusable, busy and dead responses are passed on as they are")
    func others() {
        #expect(assess(head(304), held("\"a\"")) == "refused")
        #expect(assess(head(404), held("\"a\"")) == "dead 404")
        #expect(assess(head(503), held("\"a\"")) == "busy")
        #expect(assess(head(204), held("\"a\"")) == "refused")
        #expect(assess(head(206), held("\"a\"")) == "unusable")
    }
}
