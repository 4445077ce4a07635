import Ferry
import FerryAPI
import FerryTerminal
import Foundation
import HTTPTypes
import Testing

@Suite("SetPlanner and MovePlanner") struct SetPlannerTests {
    @Test("SetPlanner: words alone change settings of the daemon")
    func daemon() throws {
        var change = SettingsChange()
        change.allowsMetered = .set(false)
        change.maxConcurrentDownloads = .set(2)
        change.rateLimit = .set(5_000_000)
        change.networkAssumption = .set("metered")
        change.retriesFailedAfter = .set(300)
        change.minFreeBytes = .set(0)
        change.proxy = .set("http://u:pw@p:3128")
        change.directory = "/home/x"
        let words = [
            "metered=off", "max-concurrent=2", "limit=5MB", "network=metered", "retry-failed=5m", "min-free=0",
            "proxy=http://u:pw@p:3128", "dir=x",
        ]
        #expect(try SetPlanner.plan(words) { "/home/" + $0 } == .daemon(change))
        var none = SettingsChange()
        none.rateLimit = .set(nil)
        none.networkAssumption = .set(nil)
        none.retriesFailedAfter = .set(nil)
        none.minFreeBytes = .set(nil)
        none.proxy = .set(nil)
        let defaults = ["limit=off", "network=auto", "retry-failed=never", "min-free=auto", "proxy=auto"]
        #expect(try SetPlanner.plan(defaults) == .daemon(none))
        #expect(try SetPlanner.plan([]) == .show)
    }

    @Test("SetPlanner: words after names of downloads change those downloads")
    func downloads() throws {
        var change = RequestChange()
        change.set(.rateLimit, \.rateLimit, 1000)
        change.set(.priority, \.priority, .high)
        change.set(.allowsMetered, \.network.allowsMetered, nil)
        change.set(.label, \.label, "a=b")
        change.set(.maxConnections, \.maxConnections, 4)
        #expect(
            try SetPlanner.plan(["a", "b", "limit=1K", "priority=high", "metered=auto", "label=a=b", "connections=4"])
                == .downloads(["a", "b"], change))
    }

    @Test("SetPlanner: at= sets the start time of a download, at=none takes it away")
    func start() throws {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        var change = RequestChange()
        change.set(.notBefore, \.notBefore, now.addingTimeInterval(7200))
        change.set(.resumesUnproven, \.trust.resumesUnproven, true)
        #expect(
            try SetPlanner.plan(["a", "at=+2h", "resume-unproven=on"], now: now) == .downloads(["a"], change))
        change = RequestChange()
        change.set(.notBefore, \.notBefore, nil)
        #expect(try SetPlanner.plan(["a", "at=none"]) == .downloads(["a"], change))
        #expect(throws: UsageError("2020-01-01 10:00 has passed")) {
            try SetPlanner.plan(["a", "at=2020-01-01 10:00"], now: now)
        }
    }

    @Test("SetPlanner: how a download connects is changed by the names of the options, auto restores the daemon's")
    func connection() throws {
        func change(_ words: String...) throws -> RequestChange {
            let pem = "-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n"
            let world = PlanningWorld.test(files: ["ca.pem": pem, "jar": "h\tFALSE\t/\tFALSE\t0\ta\tb\n"])
            guard case .downloads(["a"], let change) = try SetPlanner.plan(["a"] + words, world: world) else {
                throw UsageError("no change of a")
            }
            return change
        }
        let all = try change(
            "proxy=none", "ca-file=ca.pem", "load-cookies=jar", "insecure=on", "allow-downgrade=on", "user-agent=me",
            "ip=6", "connect-timeout=2", "stall-timeout=1m", "min-speed=2K", "retries=inf", "min-free=0",
            "max-size=5MB",
            "on-conflict=skip")
        #expect(all.request.connection.proxy == .direct)
        #expect(all.request.connection.certificates?.utf8.count == 63)
        #expect(all.request.connection.cookies?.count == 1)
        #expect(all.request.connection.insecure && all.request.trust.allowsDowngrade)
        #expect(all.request.connection.userAgent == "me")
        #expect(all.request.connection.addressFamily == .v6)
        #expect(all.request.connection.connectTimeout == .seconds(2))
        #expect(all.request.stallTimeout == .seconds(60))
        #expect(all.request.minSpeed == 2000)
        #expect(all.request.maxRetries == DownloadRequest.mostRetries)
        #expect(all.request.minFreeBytes == 0)
        #expect(all.request.maxBytes == 5_000_000)
        #expect(all.request.onConflict == .skip)
        #expect(all.members.count == 14)
        let none = try change("proxy=auto", "ca-file=auto", "ip=auto", "retries=auto", "load-cookies=auto")
        #expect(none.request == RequestChange().request)
        #expect(none.members == [.proxy, .certificates, .addressFamily, .maxRetries, .cookies])
    }

    @Test(
        "SetPlanner: unknown, malformed and misplaced words are refused",
        arguments: [
            ["limit=5"], ["a", "limit=999"], ["a", "min-speed=5"], ["speed=1"], ["metered=perhaps"],
            ["max-concurrent=0"],
            ["max-concurrent=many"], ["limit=fast"], ["dir="],
            ["network=5g"], ["retry-failed=soon"], ["a"], ["a", "limit=1", "b"], ["a", "max-concurrent=2"],
            ["a", "priority=urgent"], ["a", "checksum=sha256:12"], ["a", "on-conflict=ask"], ["retry-failed=0s"],
            ["proxy=foo"], ["a", "proxy=ftp://h"], ["a", "ca-file=gone"], ["a", "insecure=maybe"], ["a", "ip=5"],
            ["a", "retries=-1"],
            ["a", "stall-timeout=0"], ["a", "user-agent=a\r\nb: c"],
        ])
    func refused(words: [String]) { #expect(throws: UsageError.self) { try SetPlanner.plan(words) } }

    @Test(
        "SetPlanner: a number out of range is refused with the word that was typed",
        arguments: [
            ("max-concurrent=1001", "max-concurrent=1001: write a number from 1 to 1000"),
            ("connections-per-host=5000", "connections-per-host=5000: write a number from 1 to 1000"),
        ])
    func range(word: String, message: String) {
        #expect(throws: UsageError(.words(message))) { try SetPlanner.plan([word]) }
    }

    @Test("SetPlanner: headers, a user and a URL with user info become the change of a download")
    func access() throws {
        func change(
            _ words: [String], headers: [String] = [], user: String? = nil, password: String? = nil
        ) throws -> RequestChange? {
            let world = PlanningWorld.test(files: ["fields": "X-One: 1\nX-Two: 2\n"], password: password)
            let plan = try SetPlanner.plan(["a"] + words, headers: headers, user: user, world: world)
            guard case .downloads(let names, let body) = plan, names == ["a"] else { return nil }
            return body
        }
        let named = try #require(try change([], user: "me:se:same"))
        #expect(named.request.credentials == Credentials(user: "me", password: "se:same"))
        #expect(named.members == [.user, .password])
        #expect(try change([], user: "me", password: "typed")?.request.credentials?.password == "typed")
        let headers = try #require(try change(["limit=1K"], headers: ["@fields", "X-Three: 3"]))
        #expect(headers.request.headers.map(\.name.rawName) == ["X-One", "X-Two", "X-Three"])
        #expect(headers.request.rateLimit == 1000)
        #expect(headers.members == [.headers, .rateLimit])
        let url = try #require(try change(["url=http://me:sesame@h/f?q"]))
        #expect(url.request.sources == [try DownloadURL("http://h/f?q")])
        #expect(url.request.credentials == Credentials(user: "me", password: "sesame"))
        #expect(throws: UsageError.self) { try SetPlanner.plan(["limit=1K"], user: "me:pw") }
        #expect(throws: UsageError.self) { try change([], headers: ["no colon"]) }
        #expect(throws: UsageError.self) { try change(["url=nonsense"]) }
    }

    @Test("MovePlanner: places at the ends, beside a download and by number are parsed, others refused")
    func places() throws {
        func place(_ words: [String]) throws(UsageError) -> ListPlacement { try MovePlanner.place(words) }
        #expect(try place(["first"]) == .first)
        #expect(try place(["last"]) == .last)
        #expect(try place(["before", "x"]) == .before(DownloadID(rawValue: "x")))
        #expect(try place(["after", "x"]) == .after(DownloadID(rawValue: "x")))
        #expect(try place(["3"]) == .index(2))
        for words in [[], ["0"], ["-1"], ["before"], ["first", "x"], ["somewhere"], ["1", "2"]] {
            #expect(throws: UsageError.self) { try place(words) }
        }
    }
}
