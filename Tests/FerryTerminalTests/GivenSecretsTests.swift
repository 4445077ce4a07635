import Ferry
import FerryAPI
import FerryCore
import HTTPTypes
import Synchronization
import Testing

@testable import FerryTerminal

@Suite("GetPlanner: servers for --user and --header")
struct GivenSecretsTests {
    private static let one = ["https://files.test/a", "https://files.test/b"]
    private static let two = ["https://files.test/a", "https://evil.test/b"]

    private func plan(
        _ options: GetOptions, journals: [String: [String]] = [:], files: [String: String] = [:], answer: Bool? = nil,
        asked: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(UsageError) -> GetPlan {
        var all = files
        all["a.part"] = ""
        return try GetPlanner.plan(
            options,
            world: .test(
                files: all, directories: [".", "x"], password: "typed", journals: journals, answer: answer, asked: asked
            ))
    }

    private func message(of body: () throws(UsageError) -> GetPlan) -> String? {
        do { _ = try body() } catch { return error.message }
        return nil
    }

    private func request(_ plan: GetPlan) throws -> DownloadRequest { try #require(Array(plan.items).first?.request) }

    @Test("GetPlanner: NAME@HOST with a directory is for that host over https")
    func named() throws {
        let options = GetOptions.of("x") { $0.request.user = "me:p@ss@files.test" }
        let request = try request(plan(options, journals: ["x": Self.two]))
        #expect(request.credentials == Credentials(user: "me", password: "p@ss"))
        #expect(request.secretsOrigin == Origin("https://files.test"))
    }

    @Test(
        "UserWord: NAME@HOST is split at its last @",
        arguments: [
            ("me@files.test", "me", "https://files.test"),
            ("me@example.com@files.test", "me@example.com", "https://files.test"),
            ("me@http://nas:81", "me", "http://nas:81"), ("me@[::1]:8443", "me", "https://[::1]:8443"),
        ])
    func words(text: String, user: String, origin: String) throws {
        let word = try UserWord(namingServer: text)
        #expect(word.user == user && word.password == nil)
        #expect(word.server == Origin(origin))
    }

    @Test(
        "GetPlanner: an invalid host after the last @ is refused without showing it",
        arguments: ["me:p@ss/w", "me@", "@h"])
    func noHost(text: String) {
        let options = GetOptions.of("x") { $0.request.user = text }
        let message = message { () throws(UsageError) in try plan(options, journals: ["x": Self.one]) }
        #expect(message?.contains("NAME@HOST") == true)
        #expect(message?.contains("ss/w") == false)
    }

    @Test("GetPlanner: with a URL an @ belongs to the user name")
    func mailAddress() throws {
        let options = GetOptions.of("https://files.test/a") { $0.request.user = "me@example.com" }
        let request = try request(plan(options))
        #expect(request.credentials == Credentials(user: "me@example.com", password: "typed"))
        #expect(request.secretsOrigin == nil)
    }

    @Test("GetPlanner: a host that no journal names is refused, with the form for a mail address")
    func unknownHost() {
        let options = GetOptions.of("x") { $0.request.user = "me@example.com" }
        let message = message { () throws(UsageError) in try plan(options, journals: ["x": Self.one]) }
        #expect(message?.contains("me@example.com@HOST") == true)
    }

    @Test("GetPlanner: a host that the journals name only over http is refused with the form to write")
    func overHTTP() throws {
        let journals = ["x": ["http://files.test/a"]]
        let options = GetOptions.of("x") { $0.request.user = "me@files.test" }
        let message = message { () throws(UsageError) in try plan(options, journals: journals) }
        #expect(message?.contains("NAME@http://files.test") == true)
        let meant = GetOptions.of("x") { $0.request.user = "me@http://files.test" }
        #expect(try request(plan(meant, journals: journals)).secretsOrigin == Origin("http://files.test"))
    }

    @Test("GetPlanner: one server in all journals is confirmed on the terminal, and only yes sends the secrets")
    func confirmed() throws {
        let questions = Mutex<[String]>([])
        let options = GetOptions.of("x", "a.part") {
            $0.request.user = "me"
            $0.request.common.header = ["X-Key: 1"]
        }
        let journals = ["x": Self.one, "a.part": Self.one]
        let plan = try self.plan(options, journals: journals, answer: true) { text in
            questions.withLock { $0.append(text) }
        }
        #expect(questions.withLock(\.self) == ["Send user name and password and headers to https://files.test?"])
        #expect(Array(plan.items).count == 2)
        for item in plan.items {
            #expect(item.request?.credentials == Credentials(user: "me", password: "typed"))
            #expect(item.request?.secretsOrigin == Origin("https://files.test"))
        }
        for answer in [false, nil] {
            #expect(
                message { () throws(UsageError) in try self.plan(options, journals: journals, answer: answer) } != nil)
        }
    }

    @Test("GetPlanner: several servers in the journals are named in the refusal")
    func several() {
        for change in [{ $0.request.user = "me" }, { $0.request.common.header = ["Authorization: Bearer t"] }]
            as [(inout GetOptions) -> Void]
        {
            let options = GetOptions.of("x", change: change)
            let message = message { () throws(UsageError) in try plan(options, journals: ["x": Self.two], answer: true)
            }
            #expect(message?.contains("https://evil.test, https://files.test") == true)
        }
    }

    @Test("GetPlanner: headers without secrets need no confirmation")
    func openHeaders() throws {
        let options = GetOptions.of("x") {
            $0.request.common.header = ["Accept: a/b"]
            $0.request.referer = "http://r.test/"
        }
        let request = try request(plan(options, journals: ["x": Self.two]))
        #expect(request.headers[.accept] == "a/b" && request.secretsOrigin == nil)
    }

    @Test("GetPlanner: --user with a directory beside a URL is refused")
    func mixed() {
        let options = GetOptions.of("https://files.test/a", "x") { $0.request.user = "me:pw" }
        #expect(message { () throws(UsageError) in try plan(options, journals: ["x": Self.one]) } != nil)
    }

    @Test("GetPlanner: a list of one server gets the secrets, and one of several only for the named server")
    func lists() throws {
        let alone = GetOptions.of {
            $0.files.lists = ["l"]; $0.request.user = "me:pw"
        }
        let list = "https://files.test/a\nhttps://files.test/b\n"
        for item in try plan(alone, files: ["l": list]).items {
            #expect(item.request?.credentials == Credentials(user: "me", password: "pw"))
        }
        let mixed = list + "https://evil.test/c\n  header=X-Own: 1\n"
        #expect(message { () throws(UsageError) in try plan(alone, files: ["l": mixed]) } != nil)
        let named = GetOptions.of {
            $0.files.lists = ["l"]
            $0.request.user = "me:pw@files.test"
            $0.request.common.header = ["X-Key: 1"]
        }
        let requests = try plan(named, files: ["l": mixed]).items.compactMap(\.request)
        #expect(requests.map { $0.credentials != nil } == [true, true, false])
        let (key, own) = (try #require(HTTPField.Name("X-Key")), try #require(HTTPField.Name("X-Own")))
        #expect(requests.map { $0.headers[key] } == ["1", "1", nil])
        #expect(requests.last?.headers[own] == "1")
    }

    @Test("GetPlanner: a header of a list's entry replaces the command's of the same name")
    func ownHeader() throws {
        let options = GetOptions.of {
            $0.files.lists = ["l"]
            $0.request.common.header = ["X-Key: 1", "X-Other: 2"]
        }
        let list = "https://files.test/a\n  header=x-key: own\nhttps://files.test/b\n"
        let requests = try plan(options, files: ["l": list]).items.compactMap(\.request)
        let key = try #require(HTTPField.Name("X-Key"))
        #expect(requests.map { $0.headers[values: key] } == [["own"], ["1"]])
        #expect(requests.map(\.headers.count) == [2, 2])
    }

    @Test("SetPlanner: secrets for downloads of several servers are refused, except with a new URL")
    func set() throws {
        var change = RequestChange()
        change.set(Credentials(user: "me", password: ""))
        try SetPlanner.checkServers(of: Self.one, change)
        #expect(throws: UsageError.self) { try SetPlanner.checkServers(of: Self.two, change) }
        change.set(.urls, \.sources, [try DownloadURL("https://files.test/new")])
        try SetPlanner.checkServers(of: Self.two, change)
        try SetPlanner.checkServers(of: Self.two, RequestChange())
    }
}
