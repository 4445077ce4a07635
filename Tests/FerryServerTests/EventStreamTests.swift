import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import Logging
import Testing

@testable import Ferry
@testable import FerryServer

@Suite("Event stream", .timeLimit(.minutes(30)))
struct EventStreamTests {
    private func new(_ rig: DaemonRig, _ path: String, _ change: (inout RawRequest) -> Void = { _ in }) -> RawRequest {
        var new = RawRequest(urls: [rig.url(path)])
        change(&new)
        return new
    }

    @Test("Event stream: a new client gets a snapshot and then the changes")
    func snapshot() async throws {
        try await DaemonRig.run { rig in
            let first = try await rig.add(new(rig, "/file/1k") { $0.startsPaused = true })
            try await rig.follow { events in
                let begin = try await events.catchUp()
                #expect(begin.reset?.items.map(\.id) == [first.id])
                #expect(begin.reset?.total == 1)
                let second = try await rig.add(new(rig, "/file/2k") { $0.startsPaused = true })
                let told: ListedDownload = try await events.next { event in
                    if case .state(let download) = event, download.id == second.id { download } else { nil }
                }
                #expect(told.status.state == .paused)
                _ = try await rig.ask(.remove, id: first.id.rawValue)
                let removed: [String] = try await events.next { if case .removed(let ids, _) = $0 { ids } else { nil } }
                #expect(removed == [first.id.rawValue])
                _ = try await rig.ask(.move, id: second.id.rawValue, body: ListPlacement.index(0))
            }
        }
    }

    @Test("Event stream: with a limit the snapshot has that many downloads, and the number of all")
    func shortSnapshot() async throws {
        try await DaemonRig.run { rig in
            let first = try await rig.add(new(rig, "/file/1k") { $0.startsPaused = true })
            _ = try await rig.add(new(rig, "/file/2k") { $0.startsPaused = true })
            for (limit, expected) in [(0, []), (1, [first.id])] {
                try await rig.follow(query: "limit=\(limit)") { events in
                    let begin = try await events.catchUp()
                    #expect(begin.reset?.items.map(\.id) == expected)
                    #expect(begin.reset?.total == 2)
                }
            }
        }
    }

    @Test("EventBroadcaster: an observer of another session does not count as its client")
    func looking() {
        let broadcaster = EventBroadcaster()
        let looker = broadcaster.enter(session: "app", isAttached: false)
        #expect(broadcaster.clients(of: "app") == 0 && broadcaster.clientCount == 1)
        let app = broadcaster.enter(session: "app")
        #expect(broadcaster.clients(of: "app") == 1)
        broadcaster.leave(looker)
        #expect(broadcaster.clients(of: "app") == 1)
        broadcaster.leave(app)
        #expect(broadcaster.clients(of: "app") == 0 && broadcaster.clientCount == 0)
    }

    @Test("Event stream: a client that returns with its last id gets each missed state once, in order")
    func replay() async throws {
        try await DaemonRig.run { rig in
            var last: String?
            try await rig.follow { events in
                _ = try await events.catchUp()
                let added = try await rig.add(new(rig, "/file/1k") { $0.startsPaused = true })
                _ = try await events.next { event in
                    if case .state(let download) = event, download.id == added.id { true } else { nil }
                }
                last = events.lastID
            }
            let missed = try await rig.add(new(rig, "/file/2k"))
            _ = try await rig.reach("completed", missed.id)
            let seen = try #require(last.flatMap { EventID($0) })
            try await rig.follow(after: last) { events in
                var states: [String] = []
                var numbers: [Int64] = []
                while states.last != "completed", let sent = try await events.next() {
                    if let id = sent.id.flatMap({ EventID($0) }) { numbers.append(id.number) }
                    switch try StreamEvent(sent) {
                    case .reset: Issue.record("begun anew")
                    case .state(let download) where download.id == missed.id:
                        states.append(download.status.state.kind.rawValue)
                    default: break
                    }
                }
                #expect(states.last == "completed")
                #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
                #expect(numbers.first.map { $0 > seen.number } == true)
            }
        }
    }

    @Test("Event stream: of rows in pages and events the one with the later position is newer")
    func positions() async throws {
        try await DaemonRig.run { rig in
            try await rig.follow { events in
                _ = try await events.catchUp()
                let added = try await rig.add(new(rig, "/file/1k") { $0.startsPaused = true })
                // What was told, in the order in which it came here.
                var rows: [(asOf: UInt64, kind: DownloadState.Kind)] = []
                func note(_ download: ListedDownload) throws {
                    rows.append((try #require(download.asOf), download.status.state.kind))
                }
                func read() async throws {
                    let page = try await rig.ask(.list).shape(DownloadPage.self)
                    let item = try #require(page.items.first)
                    #expect(item.asOf == page.asOf)
                    try note(item)
                }
                try await read()
                _ = try await rig.ask(.resume, id: added.id.rawValue)
                while rows.last?.kind != .completed, let sent = try await events.next() {
                    guard case .state(let download) = try StreamEvent(sent) else { continue }
                    try note(download)
                    try await read()
                }
                // Sorted by position, a row that is completed is followed by none that is not.
                let kinds = rows.sorted { $0.asOf < $1.asOf }.map(\.kind)
                #expect(kinds.drop { $0 != .completed }.allSatisfy { $0 == .completed }, "\(rows)")
            }
        }
    }

    @Test("Event stream: what happened to a download follows the state that it led to")
    func orderOfEvents() async throws {
        try await DaemonRig.run { rig in
            try await rig.follow { events in
                _ = try await events.catchUp()
                var open: Set<DownloadID> = []
                for index in 0..<40 {
                    let path = index % 4 == 0 ? "/nothing" : "/file/1k"
                    open.insert(try await rig.add(new(rig, path) { $0.onDuplicate = .addAnother }).id)
                }
                var kinds: [DownloadID: DownloadState.Kind] = [:]
                while !open.isEmpty, let sent = try await events.next() {
                    switch try StreamEvent(sent) {
                    case .state(let download): kinds[download.id] = download.status.state.kind
                    case .happened(let body):
                        switch body.event.kind {
                        case .completed: #expect(kinds[body.event.id] == .completed)
                        case .failed: #expect(kinds[body.event.id] == .failed)
                        default: continue
                        }
                        open.remove(body.event.id)
                    default: break
                    }
                }
                #expect(open.isEmpty)
            }
        }
    }

    @Test(
        "Event stream: an id of another boot, or one that is unknown, gets a snapshot",
        arguments: ["other-1", "x", "999"])
    func tooOld(id: String) async throws {
        try await DaemonRig.run { rig in
            try await rig.follow(after: id) { events in
                let begin = try await events.catchUp()
                #expect(begin.reset != nil)
            }
            let future = EventID(boot: rig.daemon.broadcaster.boot, number: 1000).description
            try await rig.follow(after: future) { events in
                let begin = try await events.catchUp()
                #expect(begin.reset != nil)
            }
            try await rig.follow(query: "after=\(rig.daemon.broadcaster.lastID)") { events in
                let added = try await rig.add(new(rig, "/file/1k") { $0.startsPaused = true })
                let told: DownloadID = try await events.next { event in
                    switch event {
                    case .state(let download): download.id
                    case .reset: DownloadID(rawValue: "reset")
                    default: nil
                    }
                }
                #expect(told == added.id)
            }
        }
    }

    @Test("Event stream: a session gets its own downloads only, and session=all gets every one")
    func sessions() async throws {
        try await DaemonRig.run { rig in
            try await rig.follow(session: "a") { mine in
                _ = try await mine.catchUp()
                try await rig.follow(query: "session=all") { all in
                    _ = try await all.catchUp()
                    let other = try await rig.add(new(rig, "/file/1k") { $0.startsPaused = true }, session: "b")
                    let own = try await rig.add(new(rig, "/file/1k") { $0.startsPaused = true }, session: "a")
                    let first: DownloadID = try await mine.next { if case .state(let d) = $0 { d.id } else { nil } }
                    #expect(first == own.id)
                    var heard: Set<DownloadID> = []
                    while heard != [other.id, own.id] {
                        heard.insert(try await all.next { if case .state(let d) = $0 { d.id } else { nil } })
                    }
                }
            }
        }
    }

    @Test("Event stream: a session hears of its own removals and of changes of its own order alone")
    func own() async throws {
        try await DaemonRig.run { rig in
            var others: [DownloadID] = []
            var mine: [DownloadID] = []
            for number in 1...3 {
                let request = new(rig, "/file/\(number)k") { $0.startsPaused = true }
                others.append(try await rig.add(request, session: "b").id)
                mine.append(try await rig.add(request, session: "a").id)
            }
            try await rig.follow(session: "a") { events in
                _ = try await events.catchUp()
                _ = try await rig.ask(.move, id: others[2].rawValue, session: "b", body: ListPlacement.index(0))
                _ = try await rig.ask(.remove, id: others[0].rawValue, session: "b")
                _ = try await rig.ask(.removeMany, session: "b", body: SelectionBody(ids: [others[1].rawValue]))
                _ = try await rig.ask(.remove, id: mine[0].rawValue, session: "a")
                _ = try await rig.ask(.move, id: mine[2].rawValue, session: "a", body: ListPlacement.index(0))
                var heard: [String] = []
                while heard.last != "order", let sent = try await events.next() {
                    switch try StreamEvent(sent) {
                    case .removed(let ids, _): heard += ids
                    case .order: heard.append("order")
                    default: break
                    }
                }
                #expect(heard == [mine[0].rawValue, "order"])
            }
        }
    }

    @Test("EventRelay: an event without a session of a download that is not listed is passed on to nobody")
    func unowned() async throws {
        try await DaemonRig.run { rig in
            let log = UpdateLog()
            let updates = log.updates()
            let (heard, hears) = AsyncStream.makeStream(of: (DownloadID, String).self)
            let listed = try await rig.add(new(rig, "/file/1k") { $0.startsPaused = true }, session: "b")
            let relay = EventRelay(
                manager: rig.daemon.manager, broadcaster: EventBroadcaster(), speeds: SpeedHistory(),
                updates: AsyncEvent(), logger: Logger(label: "ferry") { _ in SwiftLogNoOpLogHandler() }
            ) { event, session, _ in hears.yield((event.id, session)) }
            for id in [DownloadID(rawValue: "gone"), listed.id] {
                log.append(DownloadEvent(id: id, date: Date(), kind: .paused))
            }
            // owner: cancelled and awaited below.
            let task = Task {
                await relay.run(
                    EventRelay.Feeds(updates: updates, earlier: [], network: AsyncStream { $0.finish() }))
            }
            let first = await heard.first { _ in true }
            #expect(first?.0 == listed.id && first?.1 == "b")
            task.cancel()
            await task.value
        }
    }

    @Test(
        "EventRelay: what happens to a download in memory is told without a read of its row", arguments: [true, false])
    func inMemory(ends: Bool) async throws {
        try await DaemonRig.run { rig in
            let gate = Gate()
            rig.origin.serve("/a.bin", Resource(size: 3_000_000))
            rig.origin.script("/a.bin", [.hold(after: 1_000_000, gate)])
            let added = try await rig.add(new(rig, "/a.bin") { $0.maxConnections = 1 })
            await gate.arrived()
            let store = try #require(try await rig.daemon.manager.scheduler?.opened() as? Catalogue)
            try await rig.follow { events in
                _ = try await events.catchUp()
                // What a read of the row would show.
                try store.database.sync { db in try db.execute("UPDATE download SET label = 'of the row'") }
                if ends { gate.open() } else { _ = try await rig.ask(.pause, id: added.id.rawValue) }
                let told: ListedDownload = try await events.next { event in
                    guard case .state(let download) = event, download.status.state.kind == (ends ? .completed : .paused)
                    else { return nil }
                    return download
                }
                #expect(told.id == added.id && told.label == nil)
                let date: Date = try await events.next { event in
                    guard case .happened(let body) = event, ends ? body.event.kind.isEnd : body.event.kind == .paused
                    else { return nil }
                    return body.event.date
                }
                #expect(told.endedAt == (ends ? date : nil))
            }
            gate.open()
        }
    }

    @Test("Event stream: progress arrives for all running downloads, without an id")
    func progress() async throws {
        try await DaemonRig.run { rig in
            for name in ["/a.bin", "/b.bin"] {
                rig.origin.serve(name, Resource(size: 4 << 20, seed: 4))
                rig.origin.script(name, [.stall(after: 1 << 20)])
            }
            try await rig.follow { events in
                _ = try await events.catchUp()
                for name in ["/a.bin", "/b.bin"] {
                    _ = try await rig.add(new(rig, name) { $0.maxConnections = 1 })
                }
                var moved: Set<String> = []
                while moved.count < 2, let sent = try await events.next() {
                    guard case .progress(let batch, _) = try StreamEvent(sent) else { continue }
                    #expect(sent.id == nil)
                    moved.formUnion(batch.filter { $0.progress.completedBytes >= 1 << 20 }.map(\.id))
                }
                #expect(moved.count == 2)
            }
        }
    }

    @Test("EventBroadcaster: a new client gets later progress but none from before")
    func progressFromBefore() {
        let broadcaster = EventBroadcaster()
        let batch = Array("event: progress\n\n".utf8)
        func told(_ client: EventBroadcaster.Client) -> [UInt8]? {
            var cursor = broadcaster.lastID.number
            var progress = client.firstProgress
            let parcel = broadcaster.take(for: client, cursor: &cursor, progress: &progress)
            if case .lines(_, let newest) = parcel { return newest }
            return nil
        }
        let first = broadcaster.enter(session: "app")
        broadcaster.publish(progress: batch, session: "app")
        let second = broadcaster.enter(session: "app")
        #expect(told(first) == batch)
        #expect(told(second) == nil)
        broadcaster.publish(progress: batch, session: "app")
        #expect(told(second) == batch)
        // Without a client no progress is kept.
        broadcaster.leave(first)
        #expect(told(second) == batch)
        broadcaster.leave(second)
        #expect(told(second) == nil)
    }

    @Test("Event stream: a new or returning client gets no progress older than its states", arguments: [true, false])
    func staleProgress(comesBack: Bool) async throws {
        try await DaemonRig.run { rig in
            let paused = try await rig.add(new(rig, "/file/1k") { $0.startsPaused = true })
            var last: String?
            try await rig.follow { events in
                _ = try await events.catchUp()
                let progress = StreamEvent.progress(
                    [.init(id: paused.id.rawValue, progress: paused.status.progress)], bytesPerSecond: 0)
                rig.daemon.broadcaster.publish(
                    progress: Array(try progress.sent(id: nil).text.utf8), session: "default")
                let told: [String] = try await events.next { event in
                    if case .progress(let batch, _) = event { batch.map(\.id) } else { nil }
                }
                #expect(told == [paused.id.rawValue])
                last = events.lastID
            }
            #expect(last != nil)
            try await rig.follow(after: comesBack ? last : nil) { events in
                var hasProgress = false
                // Progress that is sent with the first state arrives before the second state at the latest.
                for path in ["/file/2k", "/file/3k"] {
                    let added = try await rig.add(new(rig, path) { $0.startsPaused = true })
                    _ = try await events.next { event -> Bool? in
                        if case .progress = event { hasProgress = true }
                        if case .state(let download) = event, download.id == added.id { return true }
                        return nil
                    }
                }
                #expect(!hasProgress)
            }
        }
    }

    @Test("ProgressNews: an unchanged download is reported once, and again after a client has entered")
    func progressNews() {
        func running(_ bytes: [String: ByteCount]) -> [(status: DownloadStatus, session: String)] {
            bytes.map { id, bytes in
                let progress = DownloadProgress(completedBytes: bytes, bytesPerSecond: 0)
                let status = DownloadStatus(
                    id: DownloadID(rawValue: id), state: .downloading, progress: progress, name: id, path: nil)
                return (status: status, session: "default")
            }
        }
        var news = ProgressNews()
        func told(_ bytes: [String: ByteCount], _ entrances: Int) -> [String] {
            news.take(running(bytes), entrances: entrances).map(\.status.id.rawValue).sorted()
        }
        #expect(told(["a": 1, "b": 1], 1) == ["a", "b"])
        #expect(told(["a": 1, "b": 1], 1) == [])
        #expect(told(["a": 2, "b": 1], 1) == ["a"])
        #expect(told(["a": 2, "b": 1], 2) == ["a", "b"])
        #expect(told(["a": 2, "b": 1], 2) == [])
        #expect(told(["a": 2, "b": 1, "c": 0], 2) == ["c"])
        news.clear()
        #expect(told(["a": 2], 2) == ["a"])
    }

    @Test("Event stream: an end is sent to each new client until its own session acknowledges it")
    func ended() async throws {
        try await DaemonRig.run { rig in
            let added = try await rig.add(new(rig, "/file/1k"), session: "app")
            _ = try await rig.reach("completed", added.id)
            func pending() async throws -> [EventBody] {
                let found = Guarded<[EventBody]>([])
                try await rig.follow(session: "app") { found.value = try await $0.catchUp().ended }
                return found.value
            }
            let first = try await pending()
            #expect(first.map(\.event.id) == [added.id])
            let number = try #require(first.first?.event.number)
            #expect(try await pending() == first)
            #expect(try await rig.ask(.acknowledge, id: "other", body: AcknowledgeBody([number])).status == 204)
            #expect(try await pending() == first)
            #expect(try await rig.ask(.acknowledge, id: "app", body: AcknowledgeBody([number])).status == 204)
            #expect(try await pending() == [])
            // Ends of the command line's and the page's downloads need no acknowledgement.
            let own = try await rig.add(new(rig, "/file/2k"))
            _ = try await rig.reach("completed", own.id)
            try await rig.follow { events in
                let begin = try await events.catchUp()
                #expect(begin.ended == [])
            }
        }
    }

    @Test("Event stream: an end during a connection is sent with its number")
    func endedLive() async throws {
        try await DaemonRig.run { rig in
            try await rig.follow(session: "app") { events in
                _ = try await events.catchUp()
                let added = try await rig.add(new(rig, "/file/1k"), session: "app")
                let number: Int64? = try await events.next { event in
                    if case .happened(let body) = event, body.event.id == added.id, body.event.kind.isEnd {
                        .some(body.event.number)
                    } else {
                        nil
                    }
                }
                #expect(number != nil)
            }
        }
    }

    @Test("Event stream: a client that lost its position gets a snapshot in the same stream")
    func lostPlace() async throws {
        try await DaemonRig.run { rig in
            try await rig.follow { events in
                _ = try await events.catchUp()
                rig.daemon.broadcaster.forget()
                #expect(try await events.catchUp().reset != nil)
                let added = try await rig.add(new(rig, "/file/1k") { $0.startsPaused = true })
                let told: DownloadID = try await events.next { if case .state(let d) = $0 { d.id } else { nil } }
                #expect(told == added.id)
            }
        }
    }

    @Test("Event stream: a client that does not read holds no events in memory")
    func slowClient() async throws {
        try await DaemonRig.run { rig in
            try await rig.follow { _ in
                let body = NetworkStatus.offline
                // Far more than the sockets hold; no writer waits for a client that does not read.
                for _ in 0..<200_000 { rig.daemon.broadcaster.publish(.network(body), session: nil) }
                #expect(rig.daemon.broadcaster.heldEvents <= EventRing.Limits().count)
                try await rig.follow { events in
                    let begin = try await events.catchUp()
                    #expect(begin.reset != nil)
                }
            }
            #expect(try await rig.ask(.greeting).status == 200)
        }
    }

    @Test("Event stream: changed settings are sent to the clients")
    func settings() async throws {
        try await DaemonRig.run { rig in
            try await rig.follow { events in
                _ = try await events.catchUp()
                var change = SettingsChange()
                change.rateLimit = .set(12345)
                _ = try await rig.ask(.changeSettings, body: change)
                let told: SettingsBody = try await events.next { if case .settings(let s) = $0 { s } else { nil } }
                #expect(told.rateLimit == 12345)
            }
        }
    }

    @Test("Event stream: what a server does is told of the downloads behind it, and a resume tries the server")
    func servers() async throws {
        try await DaemonRig.run { rig in
            for path in ["/a.bin", "/b.bin"] { rig.origin.serve(path, Resource(size: 3_000_000)) }
            rig.origin.always("/a.bin", .status(503, retryAfter: "3000"))
            let first = try await rig.add(new(rig, "/a.bin"))
            let held = try #require(try await rig.daemon.manager.download(id: first.id))
            for await status in held.updates { if case .waiting(.retry) = status.state { break } }
            try await rig.follow { events in
                _ = try await events.catchUp()
                let second = try await rig.add(new(rig, "/b.bin"))
                let told: ListedDownload = try await events.next { event in
                    guard case .state(let download) = event, download.id == second.id,
                        case .waiting(.server) = download.status.state
                    else { return nil }
                    return download
                }
                #expect(told.status.waitError?.phrase?.key == .hostAsksToWait)
                let listed = try await rig.ask(.list).shape(DownloadPage.self).items
                #expect(listed.last?.status.state == told.status.state)
                #expect(listed.first?.status.waitError?.message.hasSuffix("503") == true)
                #expect(try await rig.ask(.resume, id: second.id.rawValue).status == 200)
            }
            let ended = try await rig.reach("completed", rig.daemon.manager.downloads().last?.id ?? first.id)
            #expect(ended.status.state.kind == .completed)
        }
    }
}
