import Ferry
import FerryAPI
import FerryCore
import FerryGateway
import FerryServerTesting
import FerryTesting
import Foundation
import HTTPTypes
import Testing

@testable import FerryServer

@Suite("OpenAPI document", .timeLimit(.minutes(30)))
struct DocumentTests {
    /// Sends requests, and compares every response with the document.
    private struct PublishObserver: Sendable {
        let rig: DaemonRig
        let document: AnswerDocument
        /// The received statuses, by route.
        let seen = Guarded<[Route: Set<Int>]>([:])

        @discardableResult
        func ask(
            _ route: Route, _ id: String = "", session: String? = nil, query: String = "",
            headers: [String: String] = [:], body: (any Encodable & Sendable)? = nil, expecting status: Int,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws -> DaemonRig.Reply {
            var headers = headers
            if let session { headers[FerryAPI.sessionHeader] = session }
            if route.method != .get { headers["Content-Type"] = "application/json" }
            let path = route.path(id: id, session: id) + (query.isEmpty ? "" : "?" + query)
            let reply = try await rig.send(
                route.method.rawValue, path, headers: headers, body: try body.map { try JSONCoding.encode($0) })
            let faults = document.faults(of: reply, to: route)
            #expect(reply.status == status, "\(route) \(reply.text)", sourceLocation: sourceLocation)
            #expect(faults == [], "\(route) \(reply.text)", sourceLocation: sourceLocation)
            seen.value[route, default: []].insert(reply.status)
            return reply
        }

        func add(_ path: String, _ change: (inout RawRequest) -> Void = { _ in }) async throws -> String {
            try await ask(.add, body: rig.new(path, change), expecting: 201).shape(ListedDownload.self).id.rawValue
        }

        /// A download that has received its first bytes and gets no more.
        func held(_ name: String) async throws -> String {
            rig.origin.serve("/" + name, Resource(size: 4 << 20, seed: 3))
            rig.origin.always("/" + name, .stall(after: 1 << 20))
            let id = try await add("/" + name) { $0.maxConnections = 1 }
            let download = try #require(try await rig.daemon.manager.download(id: DownloadID(rawValue: id)))
            for await status in download.updates where status.progress.completedBytes >= 1 << 20 { break }
            return id
        }
    }

    @Test("OpenAPI: every response, refusal and event conforms to the document")
    func answers() async throws {
        let settings = #"{"maxConcurrentDownloads": 9, "gateway": true, "gatewayPort": 0}"#
        try await DaemonRig.run(settings: settings) {
            $0.doors = [.gateway]
        } _: { rig in
            let observer = PublishObserver(rig: rig, document: try AnswerDocument())
            try await daemon(observer)
            try await sessions(observer)
            try await listed(observer)
            try await acted(observer)
            try await kept(observer)
            try await many(observer)
            try await sets(observer)
            try await gateway(observer)
            try await events(observer)
            // This route refuses no request of the current version.
            let always: Set<Route> = [.makeCode]
            for route in Route.allCases {
                try await observer.ask(route, "none", headers: [FerryAPI.versionHeader: "99"], expecting: 426)
                let statuses = observer.seen.value[route] ?? []
                #expect(statuses.isSuperset(of: observer.document.successes(of: route)), "\(route) \(statuses)")
                guard route.method != .get, !always.contains(route) else { continue }
                #expect(statuses.contains { $0 >= 400 && $0 != 426 }, "\(route)")
            }
        }
    }

    private func daemon(_ observer: PublishObserver) async throws {
        for route in [Route.greeting, .openAPI, .network, .settings, .statistics, .storage, .sessions, .list] {
            try await observer.ask(route, expecting: 200)
        }
        for route in [Route.settings, .statistics, .storage, .sessions, .list, .events] {
            try await observer.ask(route, query: "nonsense=1", expecting: 400)
        }
        try await observer.ask(.statistics, query: "session=all", expecting: 200)
        var change = SettingsChange()
        change.rateLimit = .set(1 << 30)
        change.networkAssumption = .set("unmetered")
        change.retriesFailedAfter = .set(86_400.5)
        try await observer.ask(.changeSettings, body: change, expecting: 200)
        try await observer.ask(.settings, expecting: 200)
        change.maxConcurrentDownloads = .set(0)
        try await observer.ask(.changeSettings, body: change, expecting: 400)
        let code = CodeBody(try await observer.ask(.makeCode, expecting: 201).shape(SignInBody.self).code)
        let token = try await observer.ask(.login, body: code, expecting: 200).shape(TokenBody.self)
        try await observer.ask(.login, body: code, expecting: 401)
        try await observer.ask(.tokens, expecting: 200)
        try await observer.ask(.withdraw, token.id, expecting: 204)
        try await observer.ask(.withdraw, token.id, expecting: 404)
        try await observer.ask(.plan, body: observer.rig.new("/file/1k"), expecting: 200)
        try await observer.ask(.plan, body: RawRequest(), expecting: 400)
    }

    private func sessions(_ observer: PublishObserver) async throws {
        let registration = SessionRegistration(identifier: "app", directory: observer.rig.directory + "/app")
        try await observer.ask(.attach, body: registration, expecting: 201)
        try await observer.ask(.attach, body: registration, expecting: 200)
        try await observer.ask(.attach, body: SessionRegistration(identifier: "all"), expecting: 400)
        var change = SettingsChange()
        change.maxConcurrentDownloads = .set(2)
        change.allowsMetered = .set(false)
        try await observer.ask(.changeSettings, session: "app", query: "scope=session", body: change, expecting: 200)
        try await observer.ask(.settings, session: "app", query: "scope=session", expecting: 200)
        try await observer.ask(.sessions, expecting: 200)
        try await observer.ask(.acknowledge, "app", body: AcknowledgeBody([7]), expecting: 204)
        try await observer.ask(.acknowledge, "app", body: CodeBody("x"), expecting: 400)
    }

    /// Adds, lists and shows downloads in every lasting state.
    private func listed(_ observer: PublishObserver) async throws {
        let rig = observer.rig
        let request = rig.new("/file/1k") {
            $0.id = "mine"
            $0.startsPaused = true
            $0.name = "named"
            $0.label = "l"
            $0.userInfo = ["k": "v"]
            $0.priority = 1
            $0.rateLimit = 5000
            $0.allowsMetered = false
            $0.checksum = "sha-256:" + String(repeating: "a", count: 64)
            $0.headers = HeaderList([.accept: "text/plain"])
        }
        try await observer.ask(.add, body: request, expecting: 201)
        try await observer.ask(.add, body: request, expecting: 200)
        try await observer.ask(.add, session: "app", body: request, expecting: 409)
        try await observer.ask(.add, body: RawRequest(urls: ["ftp://h/"]), expecting: 400)
        let later = rig.new("/file/2k") { $0.notBefore = Date(timeIntervalSince1970: 4_000_000_000) }
        try await observer.ask(
            .add, body: RawRequests([later, rig.new("/file/3k") { $0.startsPaused = true }]), expecting: 201)
        let done = try await observer.add("/file/4k")
        let failed = try await observer.add("/file/5k") { $0.checksum = "sha-256:" + String(repeating: "0", count: 64) }
        #expect(observer.document.knows(.content, status: 200, type: "*/*"))
        for (field, status) in [([:], 200), (["Range": "bytes=1-2"], 206)] as [([String: String], Int)] {
            let reply = try await rig.send("GET", Route.content.path(id: done), headers: field)
            #expect(reply.status == status)
            observer.seen.value[.content, default: []].insert(reply.status)
        }
        try await observer.ask(.content, "none", expecting: 404)
        try await observer.ask(.contentLink, done, expecting: 201)
        try await observer.ask(.contentLink, "none", expecting: 404)
        let cancelled = try await observer.add("/file/6k") { $0.startsPaused = true }
        try await observer.ask(.cancel, cancelled, expecting: 200)
        _ = try await observer.held("runs")
        #expect(try await rig.reach("completed", DownloadID(rawValue: done)).status.state.kind == .completed)
        #expect(try await rig.reach("failed", DownloadID(rawValue: failed)).status.state.kind == .failed)
        let handles = [FerryAPI.handlesHeader: "1"]
        try await observer.ask(.list, headers: handles, expecting: 200)
        let page = try await observer.ask(.list, expecting: 200).shape(DownloadPage.self)
        let states = Set(page.items.map(\.status.state.kind))
        #expect(states == [.waiting, .downloading, .paused, .failed, .completed, .cancelled])
        for id in page.items.map(\.id.rawValue) {
            try await observer.ask(.show, id, expecting: 200)
            try await observer.ask(.show, id, headers: handles, expecting: 200)
            try await observer.ask(.history, id, expecting: 200)
        }
        try await observer.ask(.show, "none", expecting: 404)
        try await observer.ask(.history, "none", expecting: 404)
    }

    private func acted(_ observer: PublishObserver) async throws {
        let rig = observer.rig
        let id = try await observer.held("acted")
        for route in [Route.pause, .resume] { try await observer.ask(route, id, expecting: 200) }
        try await observer.ask(.move, id, body: ListPlacement.first, expecting: 200)
        try await observer.ask(.move, id, body: ListPlacement.before(DownloadID(rawValue: "none")), expecting: 404)
        var change = RequestChange()
        change.set(.label, \.label, "new")
        try await observer.ask(.change, id, body: change, expecting: 200)
        change.set(.maxConnections, \.maxConnections, 0)
        try await observer.ask(.change, id, body: change, expecting: 400)
        try await observer.ask(
            .relocate, id, body: RelocateBody(directory: rig.directory + "/elsewhere"), expecting: 200)
        try await observer.ask(.relocate, id, body: RelocateBody(directory: "relative"), expecting: 400)
        try await observer.ask(.cancel, id, expecting: 200)
        try await observer.ask(.restart, id, expecting: 200)
        for route in [Route.pause, .resume, .cancel, .restart, .remove] {
            try await observer.ask(route, "none", expecting: 404)
        }
        try await observer.ask(.remove, id, query: "nonsense=1", expecting: 400)
        try await observer.ask(.remove, id, query: "deleteFile=true", expecting: 204)
    }

    private func kept(_ observer: PublishObserver) async throws {
        let kept = try await observer.held("kept")
        let data = try await observer.ask(.keepResumeData, kept, expecting: 200).shape(ResumeDataBody.self)
        try await observer.ask(.keepResumeData, kept, expecting: 404)
        try await observer.ask(.addResumeData, body: data, expecting: 201)
        try await observer.ask(.addResumeData, body: ResumeDataBody(Data("x".utf8)), expecting: 409)
        let left = try await observer.held("left")
        try await observer.ask(.keepResumeData, left, expecting: 200)
        try await observer.ask(.adopt, body: AdoptBody(path: observer.rig.downloads + "/left.part"), expecting: 201)
        try await observer.ask(.adopt, body: AdoptBody(path: "relative"), expecting: 400)
    }

    private func many(_ observer: PublishObserver) async throws {
        try await observer.ask(.pauseMany, expecting: 200)
        try await observer.ask(.pauseMany, body: SelectionBody(ids: ["none"]), expecting: 200)
        for route in [Route.pauseMany, .resumeMany] {
            try await observer.ask(route, body: ["ids": "some"], expecting: 400)
        }
        let paused = try await observer.ask(.list, query: "state=paused", expecting: 200).shape(DownloadPage.self).items
        try await observer.ask(
            .resumeMany, body: SelectionBody(ids: paused.prefix(1).map(\.id.rawValue)), expecting: 200)
        try await observer.ask(.resumeMany, body: SelectionBody(ids: ["none"]), expecting: 200)
        let ids = paused.suffix(1).map(\.id.rawValue) + ["none"]
        let removed = try await observer.ask(.removeMany, body: RemovalBody(ids), expecting: 200).shape(
            ActionCount.self)
        #expect(removed.changed == 1)
        try await observer.ask(.removeMany, body: SelectionBody(), expecting: 400)
        let words = SelectionBody(words: ["acted"])
        try await observer.ask(.find, body: words, expecting: 404)
        let held = try await observer.held("words")
        try await observer.ask(.find, body: SelectionBody(words: ["words"]), expecting: 200)
        for route in [Route.pauseMany, .cancelMany, .cancelMany, .restartMany] {
            try await observer.ask(route, body: SelectionBody(words: ["words"]), expecting: 200)
        }
        try await observer.ask(.moveMany, body: MoveBody([held], to: .last), expecting: 200)
        try await observer.ask(.changeMany, body: ChangeBody(words: ["all"], change: RequestChange()), expecting: 200)
        for route in [Route.find, .cancelMany, .restartMany, .moveMany, .changeMany] {
            try await observer.ask(route, body: ["ids": "some"], expecting: 400)
        }
        try await observer.ask(.clear, body: ClearBody(.completed), expecting: 200)
        try await observer.ask(.clear, body: ["which": "some"], expecting: 400)
    }

    private func sets(_ observer: PublishObserver) async throws {
        let rig = observer.rig
        rig.origin.serve("/set/", Resource(text: "<html><a href=\"a\">a</a></html>", contentType: "text/html"))
        rig.origin.serve("/set/a", Resource(size: 10, seed: 1))
        rig.origin.always("/set/a", .stall(after: 1))
        let new = NewSet(url: rig.origin.url("/set/"), directory: rig.directory + "/set")
        let set = try await observer.ask(.addSet, body: new, expecting: 201).shape(FileSet.self)
        try await observer.ask(.addSet, body: new, expecting: 200)
        try await observer.ask(.addSet, body: NewSet(directory: "/x"), expecting: 400)
        try await observer.ask(.addSet, body: ["url": "http://h/", "directory": "/x", "more": "1"], expecting: 400)
        try await observer.ask(.sets, expecting: 200)
        try await observer.ask(.showSet, set.id, expecting: 200)
        for route in [Route.pauseSet, .resumeSet, .cancelSet] { try await observer.ask(route, set.id, expecting: 200) }
        try await observer.ask(.pauseSet, set.id, expecting: 409)
        try await observer.ask(.removeSet, set.id, expecting: 204)
        for route in [Route.showSet, .pauseSet, .resumeSet, .cancelSet, .removeSet] {
            try await observer.ask(route, set.id, expecting: 404)
        }
    }

    private func gateway(_ observer: PublishObserver) async throws {
        for route in [Route.gateway, .gatewayFiles, .verifyGateway] { try await observer.ask(route, expecting: 200) }
        try await observer.ask(.verifyGateway, body: ["more": 1], expecting: 400)
        try await observer.ask(.purgeGateway, body: PurgeBody(all: true), expecting: 200)
        try await observer.ask(.purgeGateway, body: PurgeBody(), expecting: 400)
    }

    private func events(_ observer: PublishObserver) async throws {
        let rig = observer.rig
        #expect(observer.document.knows(.events, status: 200, type: ServerSentEvent.mediaType))
        observer.seen.value[.events, default: []].insert(200)
        try await rig.follow { events in
            try await read(&events, to: [.reset, .upToDate], observer)
            var change = SettingsChange()
            change.maxConcurrentDownloads = .set(8)
            try await observer.ask(.changeSettings, body: change, expecting: 200)
            try await read(&events, to: [.settings], observer)
            let id = try await observer.add("/file/7k")
            try await read(&events, to: [.state, .happened], observer)
            try await observer.ask(.remove, id, expecting: 204)
            try await read(&events, to: [.removed], observer)
        }
    }

    /// Compares all events with the document, until each of these names has arrived.
    private func read(_ events: inout EventStreamReader, to names: Set<StreamEvent.Name>, _ observer: PublishObserver)
        async throws
    {
        var missing = Set(names.map(\.rawValue))
        while !missing.isEmpty {
            guard let sent = try await events.next() else {
                Issue.record("the stream ended before \(missing)")
                return
            }
            #expect(observer.document.faults(of: sent) == [], "\(sent.data)")
            missing.remove(sent.name)
        }
    }

    @Test("OpenAPI: problems with nested, single and plain reasons conform to the document")
    func reasons() throws {
        let document = try AnswerDocument()
        let reset = ErrorPhrase(.at, ErrorPhrase(.connectionReset, "h"), ErrorPhrase(.beforeBodyEnd))
        let errors = [
            DownloadError(.network, ErrorPhrase(.gaveUp, "3", reset), suggestion: ErrorPhrase(.runAgain)),
            DownloadError(.disk, ErrorPhrase(.noFile), underlying: "u", recovery: .transient(retryAfter: .seconds(3))),
            DownloadError(.disk, "in words"),
        ]
        for error in errors {
            let problem = try JSONValue(JSONCoding.encode(Problem(error)))
            #expect(document.faults(of: problem, as: "Problem") == [])
        }
        for name in StreamEvent.Name.allCases {
            let event = ServerSentEvent(name: name.rawValue, data: "[]")
            #expect(!document.faults(of: event).isEmpty, "\(name)")
        }
    }

    @Test("OpenAPI: the daemon takes a setting at its bounds, and none beyond them")
    func settingBounds() throws {
        let schemas = try JSONValue(OpenAPIDocument.data)["components"]?["schemas"]
        let settings = DaemonSettings(directory: "/d")
        var checked: Set<Setting> = []
        for (name, schema) in try #require(schemas?["SettingsChange"]?["properties"]?.members) {
            let setting = try #require(Setting(rawValue: name))
            for (keyword, beyond) in [("minimum", -1), ("maximum", 1)] {
                guard case .whole(let bound)? = schema[keyword] else { continue }
                _ = try settings.merging([setting: .whole(bound)])
                #expect(throws: Problem.self, "\(name)") { try settings.merging([setting: .whole(bound + beyond)]) }
                checked.insert(setting)
            }
        }
        #expect(
            checked == [
                .maxConcurrentDownloads, .connectionsPerHost, .rateLimit, .retriesFailedAfter, .minFreeBytes,
            ])
    }

    @Test(
        "SchemaChecker: valid values pass, and values that violate a schema are found",
        arguments: [
            (#"{"type":"integer"}"#, ["1", "-5", "1e3"], ["1.5", "true", "\"1\"", "null", "[]", "{}"]),
            (#"{"type":"boolean"}"#, ["true", "false"], ["0", "1", "\"true\"", "null"]),
            (#"{"type":["number","null"],"minimum":0}"#, ["0", "0.5", "null"], ["-1", "-0.5", "true", "\"\""]),
            (#"{"type":"string","enum":["a","b"]}"#, ["\"a\""], ["\"c\"", "1", "null"]),
            (
                #"{"type":["string","null"],"format":"date-time"}"#, ["\"2025-01-31T09:05:00.123Z\"", "null"],
                ["\"soon\""]
            ),
            (#"{"type":"string","contentEncoding":"base64"}"#, ["\"eA==\""], ["\"?\""]),
            (
                #"{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":2}"#, [#"["a"]"#, #"["a","b"]"#],
                ["[]", "[1]", #"["a",null]"#, #"["a","b","c"]"#, "{}"]
            ),
            (
                #"{"type":"object","properties":{"a":{"type":"integer"},"b":{}},"required":["a"]}"#,
                [#"{"a":1}"#, #"{"a":1,"b":[]}"#], ["{}", #"{"a":"1"}"#, #"{"a":1,"c":1}"#, #"{"b":1}"#]
            ),
            (
                #"{"properties":{"a":{}},"additionalProperties":false}"#, ["{}", #"{"a":1}"#], [#"{"b":1}"#]
            ),
            (
                #"{"properties":{"a":{}},"additionalProperties":{"type":"string"}}"#, [#"{"a":1,"b":"1"}"#],
                [#"{"b":1}"#]
            ),
            (#"{"oneOf":[{"type":"integer"},{"type":"number"},{"type":"null"}]}"#, ["1.5", "null"], ["1", "true"]),
            (##"{"$ref":"#/a/b"}"##, ["true"], ["1"]), (##"{"$ref":"#/a/c"}"##, [], ["1"]),
            (#"{"type":"integer","multipleOf":2}"#, [], ["2"]), ("[]", [], ["1"]),
        ] as [(String, [String], [String])])
    func checked(schema: String, good: [String], bad: [String]) throws {
        let checker = SchemaChecker(document: try JSONValue(Data(#"{"a":{"b":{"type":"boolean"}}}"#.utf8)))
        let schema = try JSONValue(Data(schema.utf8))
        for text in good { #expect(checker.faults(try JSONValue(Data(text.utf8)), schema) == [], "\(text)") }
        for text in bad { #expect(checker.faults(try JSONValue(Data(text.utf8)), schema) != [], "\(text)") }
    }

    @Test("AnswerDocument: a response with another status, type, member or body is found")
    func found() throws {
        let document = try AnswerDocument()
        func reply(_ status: Int, _ text: String, _ type: String = "application/json") -> DaemonRig.Reply {
            DaemonRig.Reply(status: status, headers: ["content-type": type], data: Data(text.utf8))
        }
        #expect(document.faults(of: reply(200, #"{"changed":1}"#), to: .clear) == [])
        #expect(document.faults(of: reply(204, ""), to: .remove) == [])
        let refusal = String(decoding: try JSONCoding.encode(Problem(.noSuchPath)), as: UTF8.self)
        #expect(document.faults(of: reply(404, refusal, Problem.mediaType), to: .clear) == [])
        let others = [
            reply(201, #"{"changed":1}"#), reply(200, #"{"changed":true}"#), reply(200, #"{"changed":1,"more":1}"#),
            reply(200, "{}"), reply(200, ""), reply(200, #"{"changed":1}"#, "text/plain"), reply(404, refusal),
            reply(404, "{}", Problem.mediaType),
        ]
        for other in others { #expect(document.faults(of: other, to: .clear) != [], "\(other.status) \(other.text)") }
        #expect(document.faults(of: reply(204, "{}"), to: .remove) != [])
        #expect(document.faults(of: reply(200, ""), to: .remove) != [])
    }
}
