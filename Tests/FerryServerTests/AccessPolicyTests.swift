import FerryAPI
import HTTPTypes
import Testing

@testable import FerryServer

@Suite("AccessPolicy over TCP")
struct DoorPolicyTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var method = "GET"
        var target = "/api/v1/downloads"
        var hosts = ["127.0.0.1:3377"]
        var origins: [String] = []
        var sites: [String] = []
        var types: [String] = []
        var token = true
        var isLocal = false
        var isNavigation = false
        var session: String?
        var status: Int?

        var testDescription: String {
            "\(method) \(target) Host \(hosts) Origin \(origins) Site \(sites) Type \(types) token \(token) socket \(isLocal) → \(status.map(String.init) ?? "in")"
        }

        init(_ status: Int?, _ change: (inout Row) -> Void = { _ in }) {
            self.status = status
            change(&self)
        }
    }

    static let json = ["application/json"]

    static let rows: [Row] = [
        Row(nil), Row(nil) { $0.hosts = ["localhost:3377"] }, Row(nil) { $0.hosts = ["[::1]:3377"] },
        Row(nil) { $0.hosts = ["LocalHost:3377"] },
        // Host, before anything else, static files too.
        Row(421) { $0.hosts = [] }, Row(421) { $0.hosts = ["127.0.0.1"] }, Row(421) { $0.hosts = ["127.0.0.1:80"] },
        Row(421) { $0.hosts = ["evil.example:3377"] }, Row(421) { $0.hosts = ["evil.example"] },
        Row(421) { $0.hosts = ["127.0.0.1:3377", "evil.example"] }, Row(421) { $0.hosts = ["127.0.0.1:3377."] },
        Row(421) { $0.hosts = ["localhost.:3377"] }, Row(421) { $0.hosts = ["[::]:3377"] },
        Row(421) { $0.hosts = ["0.0.0.0:3377"] }, Row(421) { $0.hosts = ["127.0.0.2:3377"] },
        Row(421) { $0.hosts = ["127.0.0.1:3377@evil.example"] },
        Row(421) {
            $0.hosts = ["evil.example:3377"]
            $0.target = "/"
            $0.token = false
        },
        Row(421) {
            $0.hosts = ["evil.example:3377"]
            $0.token = false
            $0.origins = ["http://evil.example:3377"]
        },
        // Origin.
        Row(nil) { $0.origins = ["http://127.0.0.1:3377"] }, Row(nil) { $0.origins = ["http://localhost:3377"] },
        Row(403) { $0.origins = ["http://evil.example"] }, Row(403) { $0.origins = ["null"] },
        Row(403) { $0.origins = ["http://127.0.0.1:8080"] }, Row(403) { $0.origins = ["https://127.0.0.1:3377"] },
        Row(403) { $0.origins = ["http://127.0.0.1"] }, Row(403) { $0.origins = [""] },
        Row(403) { $0.origins = ["http://127.0.0.1:3377", "http://evil.example"] },
        Row(403) {
            $0.origins = ["http://evil.example"]
            $0.token = false
        },
        Row(403) {
            $0.origins = ["http://evil.example"]
            $0.target = "/"
        },
        // Sec-Fetch-Site.
        Row(nil) { $0.sites = ["same-origin"] }, Row(nil) { $0.sites = ["none"] },
        Row(403) { $0.sites = ["cross-site"] }, Row(403) { $0.sites = ["same-site"] },
        Row(403) { $0.sites = ["same-origin", "cross-site"] }, Row(403) { $0.sites = [""] },
        Row(403) {
            $0.sites = ["cross-site"]
            $0.target = "/"
            $0.token = false
        },
        // A navigation from another site gets the page, and nothing else.
        Row(nil) {
            $0.sites = ["cross-site"]; $0.target = "/"; $0.token = false; $0.isNavigation = true
        },
        Row(403) {
            $0.sites = ["cross-site"]; $0.target = "/main.js"; $0.token = false; $0.isNavigation = true
        },
        Row(403) {
            $0.sites = ["cross-site"]; $0.isNavigation = true
        },
        Row(403) {
            $0.sites = ["cross-site"]; $0.target = "/"; $0.isNavigation = true; $0.method = "POST"; $0.types = json
        },
        Row(403) {
            $0.sites = ["cross-site"]; $0.target = "/"; $0.isNavigation = true; $0.origins = ["http://evil.example"]
        },
        // Over TCP there is one session.
        Row(nil) { $0.session = "default" }, Row(403) { $0.session = "app" }, Row(403) { $0.session = "all" },
        Row(403) {
            $0.session = "app"; $0.method = "POST"; $0.types = json
        },
        Row(nil) {
            $0.session = "app"; $0.isLocal = true; $0.token = false
        },
        Row(403) { $0.target = "/api/v1/sessions" },
        // Metrics: over the Unix socket only; over TCP they have a port of their own.
        Row(403) { $0.target = "/metrics" },
        Row(401) {
            $0.target = "/metrics"; $0.token = false
        },
        Row(nil) {
            $0.target = "/metrics"; $0.token = false; $0.isLocal = true
        },
        Row(405) {
            $0.target = "/metrics"; $0.method = "POST"; $0.types = json; $0.isLocal = true
        },
        // Token: for the API; the page is public.
        Row(401) { $0.token = false },
        Row(401) {
            $0.token = false; $0.target = "/api/v1/events"
        },
        Row(401) {
            $0.token = false; $0.target = "/api/v1/openapi.json"
        },
        Row(401) {
            $0.token = false; $0.target = "/api/v1"
        },
        Row(401) {
            $0.token = false; $0.target = "/api/v1/tokens"
        },
        Row(nil) { $0.target = "/api/v1/tokens" },
        Row(401) {
            $0.token = false; $0.target = "/api/v2/x"
        },
        Row(401) {
            $0.token = false; $0.target = "/api/v1/nothing"
        },
        Row(401) {
            $0.token = false; $0.method = "POST"; $0.types = json
        },
        Row(nil) {
            $0.token = false; $0.target = "/"
        },
        Row(nil) {
            $0.token = false; $0.target = "/app.js"
        },
        Row(nil) {
            $0.token = false; $0.method = "HEAD"; $0.target = "/"
        },
        Row(nil) {
            $0.token = false; $0.method = "POST"; $0.target = "/api/v1/login"; $0.types = json
        },
        // Changes are JSON.
        Row(nil) {
            $0.method = "POST"; $0.types = json
        },
        Row(nil) {
            $0.method = "POST"; $0.types = ["Application/JSON; charset=utf-8"]
        },
        Row(415) { $0.method = "POST" },
        Row(415) {
            $0.method = "POST"; $0.types = ["text/plain"]
        },
        Row(415) {
            $0.method = "POST"; $0.types = ["application/x-www-form-urlencoded"]
        },
        Row(415) {
            $0.method = "POST"; $0.types = ["multipart/form-data; boundary=x"]
        },
        Row(415) {
            $0.method = "POST"; $0.types = ["application/jsonp"]
        },
        Row(415) {
            $0.method = "POST"; $0.types = ["application/json", "text/plain"]
        },
        Row(415) {
            $0.method = "POST"; $0.types = ["text/plain, application/json"]
        },
        Row(415) {
            $0.method = "DELETE"; $0.target = "/api/v1/downloads/a"
        },
        Row(415) {
            $0.method = "PATCH"; $0.target = "/api/v1/settings"; $0.types = ["text/plain"]
        },
        // A method that a path does not have is refused for that (405), with any other fields.
        Row(nil) { $0.method = "PUT" }, Row(nil) { $0.method = "OPTIONS" },
        Row(401) {
            $0.method = "PUT"; $0.token = false
        },
        Row(415) {
            $0.method = "POST"; $0.target = "/api/v1/login"; $0.token = false
        },
        Row(405) {
            $0.method = "POST"; $0.target = "/"; $0.types = json
        },
        Row(405) {
            $0.method = "OPTIONS"; $0.target = "/"; $0.token = false
        },
        // Other forms of the target.
        Row(400) { $0.target = "http://127.0.0.1:3377/" }, Row(400) { $0.target = "*" },
        Row(400) { $0.target = "evil.example:80" },
        // Routes for the Unix socket alone.
        Row(403) {
            $0.method = "POST"; $0.target = "/api/v1/codes"; $0.types = json
        },
        Row(403) {
            $0.method = "POST"; $0.target = "/api/v1/sessions"; $0.types = json
        },
        Row(403) {
            $0.method = "POST"; $0.target = "/api/v1/downloads/a/relocate"; $0.types = json
        },
        Row(403) {
            $0.method = "POST"; $0.target = "/api/v1/downloads/resume-data"; $0.types = json
        },
        // Requests through the Unix socket.
        Row(nil) {
            $0.isLocal = true; $0.hosts = []; $0.token = false
        },
        Row(nil) {
            $0.isLocal = true
            $0.hosts = ["anything"]
            $0.token = false
            $0.method = "POST"
            $0.target = "/api/v1/codes"
            $0.types = json
        },
        Row(415) {
            $0.isLocal = true; $0.token = false; $0.method = "POST"
        },
    ]

    @Test("AccessPolicy: Host, Origin, Sec-Fetch-Site, token, type and session decide as in the table", arguments: rows)
    func table(row: Row) throws {
        let method = try #require(HTTPRequest.Method(row.method))
        var origin = AccessPolicy.RequestOrigin(method: method, target: row.target, hosts: row.hosts)
        origin.origins = row.origins
        origin.sites = row.sites
        origin.contentTypes = row.types
        origin.isLocal = row.isLocal
        origin.isNavigation = row.isNavigation
        origin.session = row.session
        origin.hasToken = row.token
        let target = DaemonResponder.resource(method, row.target.prefix { $0 != "?" })
        #expect(AccessPolicy(port: 3377).refusal(origin, to: target)?.status == row.status)
    }

    @Test("AccessPolicy: port 80 may be missing in Host")
    func port80() {
        let policy = AccessPolicy(port: 80)
        for host in ["127.0.0.1", "127.0.0.1:80", "localhost"] {
            let origin = AccessPolicy.RequestOrigin(method: .get, target: "/", hosts: [host])
            #expect(policy.refusal(origin, to: .page) == nil)
        }
    }

    @Test("AccessPolicy: an origin is a scheme, a host and perhaps a port, or null")
    func origins() {
        for text in ["null", "http://a", "https://a.b:1", "chrome-extension://abc", "http://[::1]:80"] {
            #expect(AccessPolicy.isOrigin(text), "\(text)")
        }
        for text in ["*", "", "http://", "a.b", "http://a/", "http://a b", "://a", "http://*.a"] {
            #expect(!AccessPolicy.isOrigin(text), "\(text)")
        }
    }
}
