import FerryCore
import Testing

@Suite("Redirect policy")
struct RedirectPolicyTests {
    private func url(_ text: String) throws -> DownloadURL { try DownloadURL(text) }

    @Test(
        "RedirectPolicy: only 301, 302, 303, 307 and 308 are followed",
        arguments: [
            (200, false), (206, false), (300, false), (301, true), (302, true), (303, true), (304, false),
            (305, false), (306, false), (307, true), (308, true), (404, false),
        ])
    func statuses(status: Int, leads: Bool) throws {
        var policy = RedirectPolicy(start: try url("http://a.test/f"))
        let verdict = policy.judge(status: status, locations: ["/g"], from: try url("http://a.test/f"))
        #expect(verdict == (leads ? .follow(try url("http://a.test/g")) : .final))
    }

    @Test(
        "RedirectPolicy: a Location is resolved against the requested URL",
        arguments: [
            ("g", "http://a.test/d/g"), ("/g?x=1", "http://a.test/g?x=1"), ("?y", "http://a.test/d/f?y"),
            ("//b.test/g", "http://b.test/g"), ("https://b.test:8443/g", "https://b.test:8443/g"),
            ("../g", "http://a.test/g"), ("http://user:word@b.test/g", "http://b.test/g"),
            ("  /g ", "http://a.test/g"),
        ])
    func resolving(location: String, expected: String) throws {
        let start = try url("http://a.test/d/f")
        var policy = RedirectPolicy(start: start)
        #expect(policy.judge(status: 302, locations: [location], from: start) == .follow(try url(expected)))
        #expect(policy.followed == [try url(expected)])
    }

    @Test("RedirectPolicy: a missing, blank or second Location is refused")
    func locations() throws {
        let start = try url("http://a.test/f")
        var policy = RedirectPolicy(start: start)
        #expect(policy.judge(status: 302, locations: [], from: start) == .refuse(.noLocation))
        #expect(policy.judge(status: 302, locations: [" \t"], from: start) == .refuse(.noLocation))
        #expect(policy.judge(status: 302, locations: ["/g", "/g"], from: start) == .refuse(.severalLocations))
        #expect(policy.followed.isEmpty)
    }

    @Test(
        "RedirectPolicy: a Location that is no usable http or https URL is refused",
        arguments: [
            "file:///etc/passwd", "ftp://a.test/f", "data:text/plain,x", "javascript:x", "http://", "http://a:0/",
        ])
    func schemes(location: String) throws {
        let start = try url("http://a.test/f")
        var policy = RedirectPolicy(start: start)
        guard case .refuse(.unusable) = policy.judge(status: 301, locations: [location], from: start) else {
            Issue.record("followed \(location)")
            return
        }
    }

    @Test("RedirectPolicy: a refusal begins with its reason and names a URL once")
    func texts() throws {
        let start = try url("http://a.test/f?secret")
        #expect(
            RedirectPolicy.Refusal.noLocation.phrase(of: start).text(in: .english)
                == "the redirect names no address to go to (response of http://a.test/f?…)")
        #expect(
            RedirectPolicy.Refusal.loop(start).phrase(of: start).text(in: .english)
                == "the redirects go round in circles at http://a.test/f?…")
    }

    @Test("RedirectPolicy: https to http needs permission, and http to https is always followed")
    func downgrade() throws {
        let secure = try url("https://a.test/f")
        let plain = try url("http://a.test/g")
        var strict = RedirectPolicy(start: secure)
        #expect(strict.judge(status: 302, locations: [plain.text], from: secure) == .refuse(.downgrade(plain)))
        var lenient = RedirectPolicy(start: secure, allowsDowngrade: true)
        #expect(lenient.judge(status: 302, locations: [plain.text], from: secure) == .follow(plain))
        var upgrade = RedirectPolicy(start: plain)
        #expect(upgrade.judge(status: 302, locations: [secure.text], from: plain) == .follow(secure))
    }

    @Test("RedirectPolicy: a loop is refused, unless cookies changed on the way")
    func loop() throws {
        let a = try url("http://a.test/a")
        let b = try url("http://a.test/b")
        var policy = RedirectPolicy(start: a)
        #expect(policy.judge(status: 302, locations: ["/b"], from: a) == .follow(b))
        #expect(policy.judge(status: 302, locations: ["/a"], from: b) == .refuse(.loop(a)))
        var setsCookie = RedirectPolicy(start: a)
        #expect(setsCookie.judge(status: 302, locations: ["/a"], from: a, stateChanged: true) == .follow(a))
        #expect(setsCookie.judge(status: 302, locations: ["/a"], from: a) == .refuse(.loop(a)))
    }

    @Test("RedirectPolicy: a chain longer than the limit is refused")
    func chain() throws {
        var here = try url("http://a.test/0")
        var policy = RedirectPolicy(start: here, limit: 3)
        for step in 1...3 {
            let next = try url("http://a.test/\(step)")
            #expect(policy.judge(status: 307, locations: ["/\(step)"], from: here) == .follow(next))
            here = next
        }
        #expect(policy.judge(status: 307, locations: ["/4"], from: here) == .refuse(.tooMany(limit: 3)))
        #expect(policy.followed.count == 3)
    }

    @Test("RedirectPolicy: a refusal shows no query and no user info")
    func words() throws {
        let start = try url("https://a.test/f")
        var policy = RedirectPolicy(start: start)
        for location in ["http://a.test/g?token=secret", "ftp://u:secret@a.test/g?secret", "https://a.test/f"] {
            guard case .refuse(let refusal) = policy.judge(status: 302, locations: [location], from: start) else {
                Issue.record("followed \(location)")
                continue
            }
            #expect(!"\(refusal)".contains("secret"))
        }
    }
}
