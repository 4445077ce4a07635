import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import HTTPTypes
import Testing

@testable import FerryServer

@Suite("API routes", .timeLimit(.minutes(30)))
struct APITests {
    @Test("API: every route is answered, and a refusal is a problem document with its path")
    func routes() async throws {
        try await DaemonRig.run { rig in
            // This daemon has no doors.
            let ofDoors: Set<Route> = [.gateway, .gatewayFiles, .purgeGateway, .verifyGateway]
            for route in Route.allCases where route != .events && !ofDoors.contains(route) {
                let method = route.method.rawValue
                let headers = method == "GET" ? [:] : ["Content-Type": "application/json"]
                let reply = try await rig.send(method, route.path(id: "none", session: "none"), headers: headers)
                // Without a body and for a missing download: the route itself refuses.
                #expect(reply.problem?.code != "noSuchPath" && reply.status != 405, "\(route) \(reply.text)")
                #expect(reply.status < 500, "\(route) \(reply.text)")
                if reply.status >= 400 {
                    #expect(reply.headers["content-type"] == Problem.mediaType)
                    #expect(reply.problem?.status == reply.status)
                    #expect(reply.problem?.instance == route.path(id: "none", session: "none"))
                }
            }
            #expect(try await rig.send("GET", "/api/v1/nothing").problem?.code == "noSuchPath")
            let put = try await rig.send("PUT", "/api/v1/downloads", headers: ["Content-Type": "application/json"])
            #expect(put.status == 405)
            #expect(put.headers["allow"] == "GET, POST")
        }
    }

    @Test("API: an added download completes and shows its path, validator, history and statistics")
    func completes() async throws {
        try await DaemonRig.run { rig in
            let resource = Resource(size: 3 << 20, seed: 1)
            rig.origin.serve("/a.bin", resource)
            let added = try await rig.add(rig.new("/a.bin?token=s") { $0.label = "L" })
            #expect(added.session == "default")
            let done = try await rig.reach("completed", added.id)
            #expect(done.status.state.kind == .completed)
            #expect(done.status.path == rig.downloads + "/a.bin")
            #expect(done.label == "L")
            #expect(done.endedAt != nil)
            #expect(resource.source.compare(file: rig.downloads + "/a.bin", size: resource.size) == .equal)
            let detail = try await rig.ask(.show, id: added.id.rawValue).shape(DownloadDetail.self)
            #expect(detail.segments.map(\.state) == ["done"])
            // Validator and type of the response stay known after the end, in lists too.
            #expect(detail.download.validator == resource.etag)
            #expect(detail.response.type == resource.contentType)
            #expect(detail.response.lastModified != nil)
            let page = try await rig.ask(.list).shape(DownloadPage.self)
            #expect(page.items.map(\.validator) == [resource.etag])
            #expect(detail.response.finalURL?.contains("token") == false)
            let history = try await rig.ask(.history, id: added.id.rawValue).shape(EventItems.self)
            #expect(history.items.contains { if case .completed = $0.event.kind { true } else { false } })
            let figures = try await rig.ask(.statistics).shape(StatisticsBody.self)
            #expect(figures.completed == 1)
            #expect(figures.finishedBytes == resource.size)
            #expect(figures.freeBytes > 0)
        }
    }

    @Test("API: a repeated identifier returns the same download, and in another session a conflict")
    func repeated() async throws {
        try await DaemonRig.run { rig in
            let request = rig.new("/file/1k") {
                $0.id = "mine"
                $0.startsPaused = true
            }
            let first = try await rig.ask(.add, body: request)
            #expect(first.status == 201)
            #expect(first.headers["location"] == "/api/v1/downloads/mine")
            let second = try await rig.ask(.add, body: request)
            #expect(second.status == 200)
            #expect(try second.shape(ListedDownload.self).id.rawValue == "mine")
            #expect(try await rig.ask(.list).shape(DownloadPage.self).total == 1)
            let foreign = try await rig.ask(.add, session: "other", body: request)
            #expect(foreign.status == 409)
            #expect(foreign.problem?.code == "duplicate")
        }
    }

    @Test("API: one identifier sent eight times at once adds one download")
    func repeatedAtOnce() async throws {
        try await DaemonRig.run { rig in
            let request = rig.new("/file/1k") {
                $0.id = "mine"
                $0.startsPaused = true
            }
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try await rig.ask(.add, body: request).status } }
                return try await group.reduce(into: []) { $0.append($1) }.sorted()
            }
            #expect(statuses == [200, 200, 200, 200, 200, 200, 200, 201])
        }
    }

    @Test("API: a list of new downloads is added whole or not at all")
    func manyOrNone() async throws {
        try await DaemonRig.run { rig in
            let good = rig.new("/file/1k") { $0.startsPaused = true }
            var other = good
            other.name = "b"
            let bad = RawRequest(urls: ["ftp://h/"])
            let refused = try await rig.ask(.add, body: RawRequests([good, bad]))
            #expect(refused.status == 400)
            #expect(refused.problem?.code == "invalidRequest")
            #expect(try await rig.ask(.list).shape(DownloadPage.self).total == 0)
            let added = try await rig.ask(.add, body: RawRequests([good, other]))
            #expect(added.status == 201)
            #expect(try added.shape(DownloadItems.self).items.count == 2)
        }
    }

    @Test("API: a session lists its own downloads, others on request, and a repeated request adds its own")
    func sessions() async throws {
        try await DaemonRig.run { rig in
            let request = rig.new("/file/1k") { $0.startsPaused = true }
            let one = try await rig.add(request, session: "a")
            let other = try await rig.add(request, session: "b")
            #expect(one.id != other.id)
            func ids(_ session: String?, _ query: String = "") async throws -> Set<DownloadID> {
                Set(try await rig.ask(.list, session: session, query: query).shape(DownloadPage.self).items.map(\.id))
            }
            #expect(try await ids("a") == [one.id])
            #expect(try await ids("b") == [other.id])
            #expect(try await ids(nil) == [])
            #expect(try await ids(nil, "session=all") == [one.id, other.id])
            #expect(try await ids("a", "session=b") == [other.id])
            #expect(try await rig.ask(.list, session: "../x").status == 400)
            let resumed = try await rig.ask(.resumeMany, session: "a").shape(ActionCount.self)
            #expect(resumed.changed == 1)
            let stays = try await rig.ask(.show, id: other.id.rawValue).shape(DownloadDetail.self)
            #expect(stays.download.status.state == .paused)
        }
    }

    @Test("API: a session keeps the directory of its registration, and an invalid identifier is refused")
    func directories() async throws {
        try await DaemonRig.run { rig in
            let own = rig.directory + "/own"
            let reply = try await rig.ask(.attach, body: SessionRegistration(identifier: "a", directory: own))
            #expect(reply.status == 201)
            #expect(try reply.shape(SessionBody.self).directory == own)
            let again = try await rig.ask(.attach, body: SessionRegistration(identifier: "a"))
            #expect(again.status == 200)
            #expect(try again.shape(SessionBody.self).directory == own)
            let listed = try await rig.add(rig.new("/file/1k") { $0.startsPaused = true }, session: "a")
            #expect(listed.directory == own)
            let others = try await rig.add(rig.new("/file/1k") { $0.startsPaused = true })
            #expect(others.directory == rig.downloads)
            let sessions = try await rig.ask(.sessions).shape(SessionItems.self).items
            #expect(sessions.map(\.identifier) == ["default", "a"])
            for bad in ["", "all", ".x", "a/b", String(repeating: "a", count: 129)] {
                let status = try await rig.ask(.attach, body: SessionRegistration(identifier: bad)).status
                #expect(status == 400, "\(bad)")
            }
        }
    }

    @Test("API: an action returns the download afterwards, or 409 if its state forbids the action")
    func actions() async throws {
        try await DaemonRig.run { rig in
            rig.origin.serve("/a.bin", Resource(size: 4 << 20, seed: 2))
            rig.origin.script("/a.bin", [.stall(after: 1 << 20)])
            let id = try await rig.add(rig.new("/a.bin")).id.rawValue
            _ = try await rig.reach("downloading", DownloadID(rawValue: id))
            func act(_ route: Route) async throws -> DownloadState {
                try await rig.ask(route, id: id).shape(ListedDownload.self).status.state
            }
            func refusal(_ route: Route) async throws -> String? {
                let reply = try await rig.ask(route, id: id)
                #expect(reply.status == 409, "\(reply.text)")
                return reply.problem?.error?.message(in: .simplifiedChinese)
            }
            #expect(try await act(.pause) == .paused)
            #expect(try await act(.pause) == .paused)
            #expect(try await refusal(.restart) == "无法重新下载 a.bin：下载已暂停")
            rig.origin.always("/a.bin", .honest)
            #expect(try await act(.resume) != .paused)
            _ = try await rig.reach("completed", DownloadID(rawValue: id))
            #expect(try await refusal(.cancel) == "无法取消 a.bin：下载已完成")
            let many = try await rig.ask(.pauseMany, body: SelectionBody(ids: [id, "none"])).shape(ActionCount.self)
            #expect(many.changed == 0)
            #expect(many.failures?.map(\.id) == [id, "none"])
            #expect(many.failures?.map(\.error.code) == [.wrongState, .notFound])
            #expect(try await act(.restart) != .paused)
            // The new file replaces that of the first run, which is unchanged.
            let again = try await rig.reach("completed", DownloadID(rawValue: id))
            #expect(again.status.path == rig.downloads + "/a.bin")
            #expect(try await rig.ask(.remove, id: id, query: "deleteFile=true").status == 204)
            #expect(try await rig.ask(.show, id: id).status == 404)
            #expect(try FileManager.default.contentsOfDirectory(atPath: rig.downloads) == [])
            #expect(try await rig.ask(.pause, id: id).problem?.code == "notFound")
        }
    }

    @Test("API: limits, priority, rules and texts are changed, and an invalid change changes nothing")
    func changing() async throws {
        try await DaemonRig.run { rig in
            let id = try await rig.add(rig.new("/file/1k") { $0.startsPaused = true }).id.rawValue
            var change = RequestChange()
            change.set(.rateLimit, \.rateLimit, 5000)
            change.set(.maxConnections, \.maxConnections, 2)
            change.set(.priority, \.priority, .high)
            change.set(.allowsMetered, \.network.allowsMetered, false)
            change.set(.label, \.label, "new")
            change.set(.userInfo, \.userInfo, ["a": "b"])
            let reply = try await rig.ask(.change, id: id, body: change)
            #expect(reply.status == 200, "\(reply.text)")
            let changed = try reply.shape(ListedDownload.self)
            #expect(changed.rateLimit == 5000)
            #expect(changed.maxConnections == 2)
            #expect(changed.priority == .high)
            #expect(changed.network.allowsMetered == false)
            #expect(changed.label == "new")
            #expect(changed.userInfo == ["a": "b"])
            let back: JSONValue = ["rateLimit": .null, "allowsMetered": .null, "label": .null]
            let plain = try await rig.ask(.change, id: id, body: back).shape(ListedDownload.self)
            #expect(plain.rateLimit == nil)
            #expect(plain.network.allowsMetered == nil)
            #expect(plain.label == nil)
            #expect(plain.maxConnections == 2)
            let none: JSONValue = []
            let many: [JSONValue] = [
                ["urls": ["ftp://x/"]], ["urls": none], ["urls": .null], ["password": "p"], ["rateLimit": .whole(0)],
                ["rateLimit": .whole(1 << 62)], ["maxConnections": .whole(0)], ["checksum": "md5:1"],
                ["directory": "/d"], ["root": "/d"], ["hasSecrets": true],
            ]
            for case .object(var bad) in many {
                bad["label"] = "no"
                let status = try await rig.ask(.change, id: id, body: JSONValue.object(bad)).status
                #expect(status == 400, "\(bad)")
            }
            #expect(try await rig.ask(.show, id: id).shape(DownloadDetail.self).download.label == nil)
        }
    }

    @Test("API: the earliest start of a paused download is listed, and applies when the download is resumed")
    func earliestStart() async throws {
        try await DaemonRig.run { rig in
            let id = try await rig.add(rig.new("/file/1k") { $0.startsPaused = true }).id.rawValue
            #expect(try await rig.ask(.show, id: id).shape(DownloadDetail.self).download.notBefore == nil)
            let date = Date(timeIntervalSince1970: 4_000_000_000)
            var change = RequestChange()
            change.set(.notBefore, \.notBefore, date)
            let changed = try await rig.ask(.change, id: id, body: change).shape(ListedDownload.self)
            #expect(changed.status.state == .paused && changed.notBefore == date)
            let page = try await rig.ask(.list).shape(DownloadPage.self)
            #expect(page.items.map(\.notBefore) == [date])
            let resumed = try await rig.ask(.resume, id: id).shape(ListedDownload.self)
            #expect(resumed.status.state == .waiting(.notBefore(date)) && resumed.notBefore == date)
        }
    }

    @Test("API: resume data takes a download off the list, and another session adds it again")
    func resumeData() async throws {
        try await DaemonRig.run { rig in
            rig.origin.serve("/a.bin", Resource(size: 4 << 20, seed: 3))
            rig.origin.script("/a.bin", [.stall(after: 2 << 20)])
            let added = try await rig.add(rig.new("/a.bin") { $0.maxConnections = 1 })
            let download = try #require(try await rig.daemon.manager.download(id: added.id))
            for await status in download.updates where status.progress.completedBytes >= 2 << 20 { break }
            let data = try await rig.ask(.keepResumeData, id: added.id.rawValue).shape(ResumeDataBody.self)
            #expect(try await rig.ask(.show, id: added.id.rawValue).status == 404)
            rig.origin.always("/a.bin", .honest)
            let again = try await rig.ask(.addResumeData, session: "app", body: data)
            #expect(again.status == 201, "\(again.text)")
            let listed = try again.shape(ListedDownload.self)
            #expect(listed.session == "app")
            #expect(try await rig.reach("completed", listed.id).status.state.kind == .completed)
            let broken = ResumeDataBody(Data("x".utf8))
            #expect(try await rig.ask(.addResumeData, body: broken).status == 409)
        }
    }

    @Test("API: resume data is answered again for the path of the file, to the session of the download alone")
    func resumeDataAgain() async throws {
        try await DaemonRig.run { rig in
            rig.origin.serve("/a.bin", Resource(size: 4 << 20, seed: 3))
            rig.origin.script("/a.bin", [.stall(after: 2 << 20)])
            let added = try await rig.add(rig.new("/a.bin") { $0.maxConnections = 1 })
            let id = added.id.rawValue
            let download = try #require(try await rig.daemon.manager.download(id: added.id))
            for await status in download.updates where status.progress.completedBytes >= 2 << 20 { break }
            let taken = TakenBody(path: try #require(download.status.path))
            let data = try ResumeData(
                try await rig.ask(.keepResumeData, id: id, body: taken).shape(ResumeDataBody.self).resumeData)
            #expect(try await rig.ask(.keepResumeData, id: id).status == 404)
            let again = try await rig.ask(.keepResumeData, id: id, body: taken)
            #expect(again.status == 200, "\(again.text)")
            let repeated = try ResumeData(try again.shape(ResumeDataBody.self).resumeData)
            #expect(repeated.id == data.id && repeated.partPath == data.partPath && repeated.sources == data.sources)
            #expect(try await rig.ask(.keepResumeData, id: id, session: "other", body: taken).status == 409)
            #expect(try await rig.ask(.keepResumeData, id: "other", body: taken).status == 409)
            #expect(try await rig.ask(.keepResumeData, id: id, body: TakenBody(path: "a.bin")).status == 400)
            rig.origin.always("/a.bin", .honest)
            #expect(try await rig.ask(.addResumeData, body: ResumeDataBody(repeated.data)).status == 201)
            #expect(try await rig.reach("completed", added.id).status.state.kind == .completed)
        }
    }

    @Test("API: clearing removes the completed downloads of its own session only")
    func clearing() async throws {
        try await DaemonRig.run { rig in
            let mine = try await rig.add(rig.new("/file/1k"))
            let other = try await rig.add(rig.new("/file/2k"), session: "b")
            _ = try await rig.reach("completed", mine.id)
            _ = try await rig.reach("completed", other.id)
            let cleared = try await rig.ask(.clear, body: ClearBody(.completed)).shape(ActionCount.self)
            #expect(cleared.changed == 1)
            #expect(try await rig.ask(.show, id: mine.id.rawValue).status == 404)
            #expect(try await rig.ask(.show, id: other.id.rawValue).status == 200)
        }
    }

    @Test("API: a plan is returned, and nothing is written")
    func plans() async throws {
        try await DaemonRig.run { rig in
            rig.origin.serve("/a.bin", Resource(size: 5000, seed: 3))
            let plan = try await rig.ask(.plan, body: rig.new("/a.bin")).shape(DownloadPlan.self)
            #expect(plan.totalBytes == 5000)
            #expect(plan.resumability == .proven)
            #expect(try FileManager.default.contentsOfDirectory(atPath: rig.downloads).isEmpty)
        }
    }

    @Test("API: a request for another version of the API is refused with 426")
    func versions() async throws {
        try await DaemonRig.run { rig in
            for version in ["1", "3", "0", "x"] {
                let reply = try await rig.send("GET", "/api/v1", headers: ["Ferry-Version": version])
                #expect(reply.status == 426)
                #expect(reply.problem?.code == "versionMismatch")
            }
            #expect(try await rig.send("GET", "/api/v1", headers: ["Ferry-Version": "2"]).status == 200)
        }
    }

    @Test("API: an unreadable body is refused with the reason, and a too large one with 413")
    func badBodies() async throws {
        try await DaemonRig.run { rig in
            func post(_ body: String) async throws -> DaemonRig.Reply {
                try await rig.send(
                    "POST", "/api/v1/downloads", headers: ["Content-Type": "application/json"], body: Data(body.utf8))
            }
            for body in [
                "", "nonsense", "[]", "{", #"{"urls":["http://h/"],"nonsense":1}"#, #"{"urls":5}"#, "\"\\ud800\"",
            ] {
                let reply = try await post(body)
                #expect(reply.status == 400, "\(body) \(reply.text)")
                #expect(reply.problem?.detail != nil)
            }
            let deep = String(repeating: "[", count: 1000) + String(repeating: "]", count: 1000)
            #expect(try await post(deep).problem?.detail?.contains("deeper") == true)
            let large = #"{"urls":[""# + String(repeating: "a", count: 17 << 20) + #""]}"#
            #expect(try await post(large).status == 413)
            #expect(try await rig.ask(.greeting).status == 200)
        }
    }

    @Test("API: a session's own limits hold under the daemon's and survive a restart of the daemon")
    func sessionLimits() async throws {
        let directory = "/tmp/fy-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        try FileManager.default.createDirectory(atPath: directory + "/downloads", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await OriginServer.with { origin in
            for name in ["/a.bin", "/b.bin", "/c.bin"] {
                origin.serve(name, Resource(size: 2 << 20, seed: 8))
                origin.always(name, .stall(after: 1 << 20))
            }
            try await DaemonRig.serve(directory, origin) { rig in
                _ = try await rig.ask(.attach, body: SessionRegistration(identifier: "app"))
                var change = SettingsChange()
                change.maxConcurrentDownloads = .set(1)
                change.allowsMetered = .set(false)
                let reply = try await rig.ask(.changeSettings, session: "app", query: "scope=session", body: change)
                #expect(try reply.shape(SettingsBody.self).maxConcurrentDownloads == 1)
                #expect(try await rig.ask(.settings).shape(SettingsBody.self).maxConcurrentDownloads == 3)
            }
            try await DaemonRig.serve(directory, origin) { rig in
                let own = try await rig.ask(.settings, session: "app", query: "scope=session").shape(SettingsBody.self)
                #expect(own.maxConcurrentDownloads == 1)
                #expect(own.allowsMetered == false)
                #expect(own.rateLimit == nil)
                let first = try await rig.add(rig.new("/a.bin"), session: "app")
                let second = try await rig.add(rig.new("/b.bin"), session: "app")
                let other = try await rig.add(rig.new("/c.bin"))
                #expect(try await rig.reach("downloading", other.id).status.state == .downloading)
                #expect(try await rig.reach("downloading", first.id).status.state == .downloading)
                let waits = try await rig.ask(.show, id: second.id.rawValue).shape(DownloadDetail.self).download
                #expect(waits.status.state == .waiting(.slot))
                _ = try await rig.ask(.pause, id: first.id.rawValue)
                #expect(try await rig.reach("downloading", second.id).status.state == .downloading)
            }
        }
    }
}
