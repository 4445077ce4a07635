import FerryCore
import Foundation
import HTTPTypes
import Testing

@Suite("Lease")
struct LeaseTests {
    private static let id = DownloadID(rawValue: "d")

    private func lease(
        _ number: UInt64 = 1, _ range: Range<ByteCount>? = 0..<10, validator: String? = "\"v\"", total: ByteCount? = 100
    ) -> Lease? {
        Lease(
            number: LeaseNumber(rawValue: number), download: Self.id, range: range, validator: validator, total: total)
    }

    @Test("LeaseBook: it is read back as it was stored")
    func roundTrip() throws {
        let leases = try [#require(lease(2, 20..<30)), #require(lease(1))]
        let book = try #require(LeaseBook(leases))
        #expect(try JSONDecoder().decode(LeaseBook.self, from: JSONEncoder().encode(book)) == book)
        #expect(book.leases.map(\.number.rawValue) == [1, 2])
    }

    @Test("Lease: a range needs a strong validator and a total that contains it, the whole has none")
    func values() {
        #expect(lease(1, nil, validator: nil, total: nil) != nil)
        #expect(lease(1, 0..<101) == nil)
        #expect(lease(1, validator: "W/\"v\"") == nil)
        #expect(lease(1, validator: "not a tag") == nil)
        #expect(lease(1, validator: nil) == nil)
        #expect(lease(1, total: nil) == nil)
        #expect(lease(1, nil) == nil)
    }

    @Test(
        "LeaseBook: a stored book that breaks a rule is refused",
        arguments: [
            "{}", "[]", #"{"version":2,"leases":[]}"#,
            #"{"version":1,"leases":[{"number":"1","download":"d"}]}"#,
            #"{"version":1,"leases":[{"number":"0000000000000001","download":""}]}"#,
            #"{"version":1,"leases":[{"number":"0000000000000001","download":"a\nb"}]}"#,
            #"{"version":1,"leases":[{"number":"0000000000000001","download":"d","range":[5,5],"validator":"\"v\"","total":9}]}"#,
            #"{"version":1,"leases":[{"number":"0000000000000001","download":"d","range":[-1,5],"validator":"\"v\"","total":9}]}"#,
            #"{"version":1,"leases":[{"number":"0000000000000001","download":"d","range":[0,5],"validator":"\"v\"","total":4611686018427387904}]}"#,
            #"{"version":1,"leases":[{"number":"0000000000000001","download":"d"},{"number":"0000000000000001","download":"e"}]}"#,
            #"{"version":1,"leases":[{"number":"0000000000000001","download":"d"},{"number":"0000000000000002","download":"d"}]}"#,
        ])
    func hostile(text: String) {
        #expect(throws: (any Error).self) { try JSONDecoder().decode(LeaseBook.self, from: Data(text.utf8)) }
    }

    @Test("LeaseBook: more leases than tasks are ever begun are refused")
    func tooMany() {
        let leases = (0...LeaseBook.maxLeases).compactMap {
            lease(UInt64($0), ByteCount($0)..<ByteCount($0 + 1), total: 1000)
        }
        #expect(LeaseBook(leases) == nil)
        #expect(LeaseBook(Array(leases.dropLast())) != nil)
    }

    @Test("LeaseTicket: a task's description names lease and download, and nothing else is one")
    func ticket() throws {
        let ticket = LeaseTicket(try #require(lease(255)))
        #expect(ticket.text == "ferry-lease 1 00000000000000ff d")
        #expect(LeaseTicket(ticket.text) == ticket)
        let others = [
            "", "ferry-lease", "ferry-lease 2 00000000000000ff d", "ferry-lease 1 ff d",
            "ferry-lease 1 00000000000000FF d",
            "ferry-lease 1 00000000000000ff ", "ferry-lease 1 00000000000000ff a\nb",
            "ferry-lease 1 +0000000000000ff d",
            "ferry-lease 1 00000000000000ff " + String(repeating: "d", count: 400),
        ]
        for text in others { #expect(LeaseTicket(text) == nil, "\(text.prefix(60))") }
    }
}

@Suite("LandedVerdict")
struct LandedVerdictTests {
    private static let identity = FileIdentity(etag: "\"v\"", totalBytes: 100)

    private func judge(
        status: Int = 206, range: String? = "bytes 10-19/100", tag: String? = "\"v\"", length: ByteCount = 10,
        held: FileIdentity = LandedVerdictTests.identity, claimed: RangeSet<ByteCount> = RangeSet(),
        encoding: String? = nil
    ) throws -> LandedVerdict {
        let lease = try #require(
            Lease(
                number: LeaseNumber(rawValue: 1), download: DownloadID(rawValue: "d"), range: 10..<20,
                validator: "\"v\"",
                total: 100))
        var fields = HTTPFields()
        fields[.contentRange] = range
        fields[.eTag] = tag
        fields[.contentEncoding] = encoding
        return LandedVerdict.judge(
            ResponseHead(status: status, headers: fields), length: length, lease: lease,
            held: PartialContent(identity: held, ranges: claimed), total: held.totalBytes, rules: ResumeRules(),
            acceptsUnproven: false, now: Date(timeIntervalSince1970: 0))
    }

    @Test("LandedVerdict: 412 says that the server has another version, and is no attempt")
    func condition() throws {
        let reason = refusal(try judge(status: 412, range: nil, tag: nil, length: 3))
        #expect(reason == .conditionFailed && reason?.showsChange == true)
        #expect(!LeaseOutcome.refused(.conditionFailed).isAttempt)
    }

    private func refusal(_ verdict: LandedVerdict) -> LandedRefusal? {
        if case .refused(let reason) = verdict { reason } else { nil }
    }

    @Test("LandedVerdict: status, exact range, total, validator and length make a range fit to be spliced")
    func fits() throws {
        let verdict = try judge()
        guard case .splice(let range, _, let join) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(range == 10..<20 && join == .strong)
        #expect(try judge(claimed: RangeSet(0..<50)) == .repeated)
    }

    @Test("LandedVerdict: a response of other bytes, another total or length is refused")
    func others() throws {
        #expect(refusal(try judge(range: "bytes 10-18/100", length: 9)) == .otherRange(10..<19))
        #expect(refusal(try judge(length: 9)) == .wrongLength(9))
        #expect(refusal(try judge(range: "bytes 10-19/*")) == .unproven)
        for range in [nil, "bytes 11-19/100", "bytes 10-19/101", "bytes */100"] {
            guard case .answered? = refusal(try judge(range: range)) else {
                Issue.record("\(range ?? "none")")
                return
            }
        }
    }

    @Test("LandedVerdict: If-Range alone proves nothing: without the equal strong validator a range is refused")
    func validators() throws {
        #expect(refusal(try judge(tag: nil)) == .unproven)
        for tag in ["W/\"v\"", "\"w\""] { #expect(refusal(try judge(tag: tag)) != nil, "\(tag)") }
        #expect(refusal(try judge(encoding: "gzip")) != nil)
    }

    @Test("LandedVerdict: a 200, a 416 and an error are left to the resume rules", arguments: [200, 416, 404, 503])
    func answered(status: Int) throws {
        guard case .answered? = refusal(try judge(status: status, range: nil, tag: "\"w\"")) else {
            Issue.record("not left to the resume rules")
            return
        }
    }

    @Test("LandedVerdict: a lease of an earlier identity of the partial content is stale")
    func stale() throws {
        for held in [
            FileIdentity(etag: "\"w\"", totalBytes: 100), FileIdentity(etag: "\"v\"", totalBytes: 101),
            FileIdentity(totalBytes: 100),
        ] {
            #expect(refusal(try judge(held: held)) == .stale)
        }
    }

    private func judgeWhole(
        tag: String?, declared: String? = "50", length: ByteCount = 50, type: String? = nil, total: ByteCount? = nil,
        claimed: RangeSet<ByteCount> = RangeSet(), known: ByteCount? = nil, acceptsUnproven: Bool = true,
        identity: FileIdentity = FileIdentity()
    ) throws -> LandedVerdict {
        let lease = try #require(
            Lease(
                number: LeaseNumber(rawValue: 1), download: DownloadID(rawValue: "d"), range: nil, validator: nil,
                total: total))
        var fields = HTTPFields()
        fields[.contentLength] = declared
        fields[.eTag] = tag
        fields[.contentType] = type
        return LandedVerdict.judge(
            ResponseHead(status: 200, headers: fields), length: length, lease: lease,
            held: PartialContent(identity: identity, ranges: claimed), total: known, rules: ResumeRules(),
            acceptsUnproven: acceptsUnproven, now: Date(timeIntervalSince1970: 0))
    }

    @Test("LandedVerdict: a whole file without a strong validator is used only if the download permits that")
    func unproven() throws {
        for tag in ["W/\"v\"", nil] {
            guard case .refused(.unproven) = try judgeWhole(tag: tag, acceptsUnproven: false) else {
                Issue.record("\(tag ?? "none")")
                continue
            }
        }
        guard case .splice = try judgeWhole(tag: "\"v\"", acceptsUnproven: false) else {
            Issue.record("a strong one")
            return
        }
    }

    @Test("LandedVerdict: a whole file has the proof of its validator, because the system repeats requests unseen")
    func whole() throws {
        let cases: [(String?, Proof)] = [("\"v\"", .strong), ("W/\"v\"", .weak), (nil, .none)]
        for (tag, proof) in cases {
            let verdict = try judgeWhole(tag: tag)
            guard case .splice(let range, _, let join) = verdict else {
                Issue.record("\(verdict)")
                return
            }
            #expect(range == 0..<50 && join == proof)
        }
    }

    @Test("LandedVerdict: a whole file without its length, of another size, or a page, is refused")
    func unfitWhole() throws {
        #expect(refusal(try judgeWhole(tag: nil, declared: nil)) == .unproven)
        #expect(refusal(try judgeWhole(tag: nil, length: 49)) == .wrongLength(49))
        #expect(refusal(try judgeWhole(tag: nil, total: 51))?.showsChange == true)
        let known = FileIdentity(etag: "\"v\"", totalBytes: 51)
        #expect(refusal(try judgeWhole(tag: "\"w\"", identity: known))?.showsChange == true)
        // Another length under the known tag shows no change.
        #expect(refusal(try judgeWhole(tag: "\"v\"", identity: known))?.showsChange == false)
        #expect(refusal(try judgeWhole(tag: nil, type: "text/html")) != nil)
        #expect(refusal(try judgeWhole(tag: "\"v\"", claimed: RangeSet(0..<1))) == .overtaken)
    }

    @Test("LandedVerdict: a whole file whose bytes are all claimed is repeated, as after a kill behind the claim")
    func claimedWhole() throws {
        #expect(try judgeWhole(tag: "\"v\"", claimed: RangeSet(0..<50), known: 50) == .repeated)
        #expect(refusal(try judgeWhole(tag: "\"v\"", claimed: RangeSet(0..<49), known: 50)) == .overtaken)
    }

    @Test("LandedFacts: what decides is kept and read back, long values are dropped")
    func facts() throws {
        var fields = HTTPFields()
        fields[.contentRange] = "bytes 0-1/2"
        fields[.eTag] = "\"" + String(repeating: "x", count: 2000) + "\""
        fields[.setCookie] = "secret=1"
        let facts = LandedFacts(ResponseHead(status: 206, headers: fields), unsyncedBoot: "b")
        #expect(facts.head.headers.map(\.name) == [.contentRange])
        let data = try JSONEncoder().encode(facts)
        #expect(data.count <= LandedFacts.maxBytes)
        #expect(try JSONDecoder().decode(LandedFacts.self, from: data) == facts)
        for text in ["{}", #"{"version":1,"status":9,"fields":{}}"#, #"{"version":2,"status":206,"fields":{}}"#] {
            #expect(throws: (any Error).self) { try JSONDecoder().decode(LandedFacts.self, from: Data(text.utf8)) }
        }
    }
}
