import FerryCore
import Foundation
import HTTPTypes
import Testing

@Suite("HandoverPlanner")
struct HandoverPlannerTests {
    private static let mib = HandoverFixture.mib

    private func ranges(_ candidate: HandoverCandidate, _ limits: HandoverLimits = HandoverLimits()) -> [Range<
        ByteCount
    >] {
        var fixture = HandoverFixture(limits)
        return fixture.begin([candidate]).compactMap(\.lease.range)
    }

    @Test("HandoverPlanner: exactly the missing bytes are leased, in segments of at most max(32 MiB, missing / 64)")
    func segments() throws {
        for (total, most) in [(100 * Self.mib, 32 * Self.mib), (6400 * Self.mib, 100 * Self.mib), (1, 1)] {
            let claimed: RangeSet<ByteCount> = total > 1 ? RangeSet(10..<20) : RangeSet()
            let found = ranges(try HandoverFixture.candidate(total: total, claimed: claimed))
            #expect(RangeSet(found) == claimed.gaps(in: 0..<total))
            #expect(found.allSatisfy { $0.upperBound - $0.lowerBound <= most })
            #expect(found.count <= 66)
        }
    }

    @Test("HandoverPlanner: all downloads together have at most 100 tasks, in the order of the queue")
    func tasks() throws {
        var fixture = HandoverFixture()
        let candidates = try ["a", "b", "c"].map { try HandoverFixture.candidate($0, total: 64 * 64 * Self.mib) }
        let batch = fixture.handOver(candidates)
        let counts = candidates.map { candidate in batch.requests.count { $0.lease.download == candidate.download } }
        #expect(counts == [64, 36, 0])
        #expect(batch.refusals == [candidates[1].download: .noTaskLeft, candidates[2].download: .noTaskLeft])
    }

    @Test("LeasedRequest: a closed range, a strong If-Range, identity encoding, and the network rules of the download")
    func request() throws {
        var candidate = try HandoverFixture.candidate(total: 1000, claimed: RangeSet(0..<400))
        candidate.needs = NetworkNeeds(allowsMetered: false, allowsConstrained: true)
        candidate.notBefore = Date(timeIntervalSince1970: 5)
        candidate.priority = .high
        var fixture = HandoverFixture()
        let request = try #require(fixture.begin([candidate]).first)
        #expect(request.fields[.range] == "bytes=400-999")
        #expect(request.fields[.ifRange] == "\"v1\"")
        #expect(request.fields[.ifMatch] == "\"v1\"" && request.fields[.ifUnmodifiedSince] == nil)
        #expect(request.fields[.acceptEncoding] == "identity")
        #expect(request.expectedBytes == 600)
        #expect(!request.allowsMetered && request.allowsConstrained)
        #expect(request.earliestBegin == Date(timeIntervalSince1970: 5) && request.priority == .high)
    }

    @Test(
        "HandoverPlanner: without a strong validator the download waits, or one task fetches the whole file if its rule says so"
    )
    func unproven() throws {
        let identities = [
            FileIdentity(etag: "W/\"v1\""), FileIdentity(), FileIdentity(lastModified: "Mon, 01 Jan 2024 00:00:00 GMT"),
        ]
        for identity in identities {
            var fixture = HandoverFixture()
            var candidate = try HandoverFixture.candidate(identity: identity)
            #expect(
                fixture.handOver([candidate]).refusals == [
                    candidate.download: .unproven
                ])
            candidate.unproven = .whole
            var held = candidate
            held.claimed = RangeSet(0..<1)
            #expect(
                fixture.handOver([held]).refusals == [held.download: .unprovenWithBytes]
            )
            let requests = fixture.begin([candidate])
            #expect(requests.count == 1)
            #expect(
                requests.first?.lease.range == nil && requests.first?.fields[.range] == nil
                    && requests.first?.fields[.ifRange] == nil)
        }
    }

    @Test("HandoverPlanner: a server that has sent no range yet is asked for the first missing one, by one task")
    func unknownRanges() throws {
        var fixture = HandoverFixture()
        var candidate = try HandoverFixture.candidate(total: 6400 * Self.mib, claimed: RangeSet([0..<10, 20..<30]))
        candidate.hasRanges = nil
        let batch = fixture.handOver([candidate])
        #expect(batch.requests.map(\.lease.range) == [10..<20] && batch.refusals == [:])
    }

    @Test("HandoverPlanner: of a download that has not begun one task has the whole file")
    func new() throws {
        var fixture = HandoverFixture()
        var candidate = try HandoverFixture.candidate(total: nil, identity: FileIdentity())
        candidate.isNew = true
        let batch = fixture.handOver([candidate])
        #expect(batch.requests.count == 1 && batch.refusals == [:])
        #expect(batch.requests.first?.lease.range == nil && batch.requests.first?.fields[.ifMatch] == nil)
    }

    @Test("LeasedRequest: where the validator is a date, the condition is If-Unmodified-Since")
    func date() throws {
        let date = "Mon, 01 Jan 2024 00:00:00 GMT"
        var fixture = HandoverFixture()
        let identity = FileIdentity(lastModified: date, date: "Tue, 02 Jan 2024 00:00:00 GMT")
        let request = try #require(fixture.begin([try HandoverFixture.candidate(identity: identity)]).first)
        #expect(request.fields[.ifUnmodifiedSince] == date && request.fields[.ifMatch] == nil)
    }

    @Test("HandoverPlanner: a server that refused ranges, or a file of unknown size, is fetched whole or not at all")
    func noRanges() throws {
        var fixture = HandoverFixture()
        var candidate = try HandoverFixture.candidate()
        candidate.hasRanges = false
        let unknown = try HandoverFixture.candidate("b", total: nil)
        let batch = fixture.handOver([candidate, unknown])
        #expect(batch.refusals == [candidate.download: .unproven, unknown.download: .unproven])
    }

    @Test(
        "HandoverPlanner: an obstacle keeps a download, unless the download accepts it and it may be accepted",
        arguments: HandoverObstacle.allCases)
    func obstacles(obstacle: HandoverObstacle) throws {
        var fixture = HandoverFixture()
        var candidate = try HandoverFixture.candidate()
        candidate.obstacles = [obstacle]
        #expect(
            fixture.handOver([candidate]).refusals == [
                candidate.download: .obstacle(obstacle)
            ])
        candidate.accepts = [obstacle]
        #expect(
            fixture.handOver([candidate]).requests.isEmpty != obstacle.mayBeAccepted)
    }

    @Test("HandoverObstacle: each demand that the system cannot honour is found")
    func demands() throws {
        let home = try DownloadURL("https://a.test/f")
        func found(
            isLimited: Bool = false, hasBudget: Bool = false, at other: DownloadURL? = nil,
            _ change: (inout DownloadRequest, inout TransferSettings) throws -> Void = { _, _ in }
        ) throws -> [HandoverObstacle] {
            let url = other ?? home
            var request = DownloadRequest(sources: [url], destination: .directory("/d"))
            var settings = TransferSettings()
            try change(&request, &settings)
            return HandoverObstacle.demands(
                of: request, settings: settings, url: url, total: nil, isLimited: isLimited, hasBudget: hasBudget)
        }
        #expect(try found() == [])
        #expect(try found { request, _ in request.rateLimit = 1000 } == [.rateLimit])
        #expect(try found(isLimited: true, hasBudget: true) == [.rateLimit, .hostBudget])
        #expect(try found { $1.proxy = $1.proxy.using(try ProxyChoice(parsing: "http://p.test:8080")) } == [.proxy])
        #expect(try found { $1.certificates = "pem" } == [.certificates])
        #expect(try found { $1.insecure = true } == [.insecure])
        #expect(try found { $1.addressFamily = .v6 } == [.addressFamily])
        #expect(try found { request, _ in request.sources.append(try DownloadURL("https://b.test/f")) } == [.mirrors])
        #expect(try found(at: try DownloadURL("http://a.test/f")) == [.unencrypted])
        #expect(try found { $1.allowsPrivate = false } == [.privateAddresses])
        #expect(try found { request, _ in request.network.allowsPrivate = false } == [.privateAddresses])
        #expect(try found { request, _ in request.maxBytes = 5 } == [.maxBytes])
        #expect(try found { request, _ in request.destination = .stream(1) } == [.stream])
        #expect(try found(at: try DownloadURL("s3://bucket/key")) == [.object])
    }
}

@Suite("docs/handover.md")
struct HandoverDocumentTests {
    @Test("docs/handover.md: the table has each obstacle, with a star if it may be accepted")
    func obstacles() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/handover.md"), encoding: .utf8)
        let section = try #require(text.components(separatedBy: "## What the system cannot honour").last)
        let table = section.split(separator: "\n").filter { $0.starts(with: "| `") }
        var listed: [String: Bool] = [:]
        for line in table {
            for word in line.split(separator: "|")[0].split(separator: ",") {
                let name = word.trimmingCharacters(in: CharacterSet(charactersIn: " `*"))
                listed[name] = word.contains("*")
            }
        }
        let known = HandoverObstacle.allCases.map { ($0.rawValue, $0.mayBeAccepted) }
        #expect(listed == Dictionary(uniqueKeysWithValues: known))
    }
}

@Suite("HandoverTarget")
struct HandoverTargetTests {
    private let home = "https://a.test/f"

    private func target(
        _ answered: String? = nil, isDirect: Bool = false, cookies: CookieJar = CookieJar(),
        _ change: (inout DownloadRequest) -> Void = { _ in }
    ) throws -> HandoverTarget {
        var request = DownloadRequest(sources: [try DownloadURL(home)], destination: .directory("/d"))
        change(&request)
        return try HandoverTarget.choose(
            for: request, source: request.sources[0], target: try answered.map { try DownloadURL($0) },
            isDirect: isDirect,
            settings: TransferSettings(cookies: cookies), now: Date(timeIntervalSince1970: 0))
    }

    private static func secret(_ request: inout DownloadRequest) { request.headers[.authorization] = "Bearer s" }

    @Test(
        "HandoverTarget: the URL that answered is requested, without user info, with the fields that may be sent to it")
    func plain() throws {
        let found = try target("https://a.test/g") { $0.headers[.referer] = "https://r.test/" }
        #expect(found.url.text == "https://a.test/g")
        #expect(found.fields[.referer] == "https://r.test/" && found.fields[.userAgent] != nil)
    }

    @Test("HandoverTarget: secret headers go along only if the URL is known to redirect nowhere")
    func secrets() throws {
        #expect(try target(isDirect: true, Self.secret).fields[.authorization] == "Bearer s")
        // The signed target answers without them.
        let signed = try target("https://cdn.test/f?sig=1", Self.secret)
        #expect(signed.url.text == "https://cdn.test/f?sig=1" && signed.fields[.authorization] == nil)
        // There and back, as far as one can tell: the system would send them to the other origin.
        for answered in [nil, "https://a.test/g"] {
            #expect(throws: HandoverObstacle.secretsAcrossOrigins) { try target(answered, Self.secret) }
        }
    }

    @Test("HandoverTarget: credentials and cookies for the URL keep the download with the app")
    func credentials() throws {
        let credentials = Credentials(user: "u", password: "p")
        #expect(throws: HandoverObstacle.credentials) { try target { $0.credentials = credentials } }
        #expect(throws: HandoverObstacle.credentials) {
            try target { $0.sources[0] = $0.sources[0].with(credentials) }
        }
        #expect(try target("https://cdn.test/f") { $0.credentials = credentials }.fields[.authorization] == nil)
        var cookies = CookieJar()
        cookies.store("k=v", from: try DownloadURL(home), now: Date(timeIntervalSince1970: 0))
        #expect(throws: HandoverObstacle.cookies) { try target(cookies: cookies) }
    }

    @Test("HandoverTarget: fields of ranges and codings are Ferry's")
    func reserved() throws {
        let found = try target(isDirect: true) { $0.headers[.range] = "bytes=0-1" }
        #expect(found.fields[.range] == nil)
    }
}
