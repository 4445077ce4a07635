import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import HTTPTypes
import Testing

@testable import Ferry
@testable import FerryServer

@Suite("Sets in the daemon", .timeLimit(.minutes(30)))
struct SetTests {
    /// A report of a server that says as much as it can.
    private static func loudReport() -> SyncReport {
        var report = SyncReport()
        let long = String(repeating: "\u{1}", count: 64 << 10)
        report.problems = Array(repeating: long, count: 100)
        report.incomplete = (0..<100).map {
            IncompleteFile(path: "\($0)/" + String(repeating: "n", count: 2000), error: DownloadError(.refused, long))
        }
        return report
    }

    @Test("SetStore: what hostile servers tell of as many sets as there may be is read back after the next start")
    func loudSets() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "ferry-sets-\(UUID().uuidString)").path
        defer { unlink(path) }
        let store = SetStore(path)
        try await store.change { sets throws(DownloadError) in
            for number in 0..<SetStore.most {
                var set = FileSet(
                    id: "\(number)", state: .incomplete, NewSet(url: "http://h/\(number)/", directory: "/d/\(number)"),
                    root: nil, addedAt: Date())
                set.tell(Self.loudReport())
                set.tell(DownloadError(.refused, String(repeating: "e", count: 1 << 20)))
                sets.append(set)
            }
        }
        let again = SetStore(path).all
        #expect(again.count == SetStore.most)
        let told = try #require(again.last)
        #expect(told.problems?.first?.utf8.count ?? 0 <= 1 << 10 && told.incomplete?.isEmpty == false)
        #expect(told.error?.code == .refused && told.error?.message.hasPrefix("eee") == true)
    }

    @Test("SetStore: a set that would make the file larger than what is read is refused, and the others stay")
    func largeSet() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "ferry-sets-\(UUID().uuidString)").path
        defer { unlink(path) }
        let store = SetStore(path)
        func add(_ id: String, bytes: Int) async throws {
            try await store.change { sets throws(DownloadError) in
                let new = NewSet(url: "http://h/" + String(repeating: "x", count: bytes), directory: "/d/" + id)
                sets.append(FileSet(id: id, state: .waiting, new, root: nil, addedAt: Date()))
            }
        }
        try await add("a", bytes: 10)
        await #expect(throws: DownloadError.self) { try await add("b", bytes: 20 << 20) }
        #expect(store.all.map(\.id) == ["a"] && SetStore(path).all.map(\.id) == ["a"])
    }

    @Test("PrivateFile: a text that would not be read back is refused, and the file stays as it was")
    func boundedFile() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "ferry-private-\(UUID().uuidString)").path
        defer { unlink(path) }
        let file = PrivateFile(path, most: 10)
        try file.write("0123456789")
        let error = #expect(throws: DownloadError.self) { try file.write("01234567890") }
        #expect(error?.message.contains("at most 10") == true && file.read() == "0123456789")
    }

    @Test("Sets of the daemon: hidden names stay for a client of the socket, and are made visible for one over TCP")
    func names() throws {
        for (root, given, isSafe) in [
            (nil, nil, false), (nil, true, true), ("/d", nil, true), ("/d", false, true),
        ] as [(String?, Bool?, Bool)] {
            var new = NewSet(url: "http://h/", directory: "/d/a")
            new.safeNames = given
            let set = FileSet(id: "i", state: .waiting, new, root: root, addedAt: Date())
            #expect(try set.sync().1.safeNames == isSafe)
        }
    }

    private static func serve(_ origin: OriginServer, _ names: [String] = ["a", "b", "sub/"]) {
        func page(_ names: [String]) -> Resource {
            Resource(
                text: "<html>" + names.map { "<a href=\"\($0)\">\($0)</a>" }.joined() + "</html>",
                contentType: "text/html")
        }
        origin.serve("/pub/", page(names))
        origin.serve("/pub/sub/", page(["c"]))
        for (number, path) in ["a", "b", "sub/c"].enumerated() {
            origin.serve("/pub/" + path, Resource(size: 300_000, seed: UInt64(number + 1)))
        }
    }

    /// Waits until a set has one of these states.
    private static func reach(_ states: Set<FileSet.State>, _ id: String, _ rig: DaemonRig) async throws -> FileSet {
        try await wait(rig) { $0.id == id && states.contains($0.state) }
    }

    /// Waits until a set fits.
    @discardableResult
    private static func wait(_ rig: DaemonRig, _ fits: (FileSet) -> Bool) async throws -> FileSet {
        var found: FileSet?
        try await rig.follow { events in
            let set: FileSet = try await events.next { event in
                switch event {
                case .set(let set): fits(set) ? set : nil
                case .reset(let snapshot): snapshot.sets?.first(where: fits)
                default: nil
                }
            }
            found = set
        }
        return try #require(found)
    }

    private static func add(
        _ new: NewSet, _ rig: DaemonRig, port: Int? = nil
    ) async throws -> DaemonRig.Reply {
        let headers = ["Content-Type": "application/json", "Authorization": "Bearer \(rig.token)"]
        return try await rig.send(
            "POST", "/api/v1/sets", headers: headers, body: try JSONCoding.encode(new), port: port)
    }

    private static func hasFiles(_ directory: String) -> Bool {
        ["a", "b", "sub/c"].enumerated().allSatisfy { number, path in
            let resource = Resource(size: 300_000, seed: UInt64(number + 1))
            return FileManager.default.contents(atPath: directory + "/" + path) == Data(resource.bytes(0..<300_000))
        }
    }

    @Test("Set over TCP: its files are below the downloads, it is one entry, and syncing it again fetches what changed")
    func complete() async throws {
        try await DaemonRig.run { rig in
            Self.serve(rig.origin)
            let port = try #require(rig.addresses.port)
            let new = NewSet(url: rig.origin.url("/pub/"), directory: "release")
            let added = try await Self.add(new, rig, port: port)
            #expect(added.status == 201, "\(added.text)")
            let set = try added.shape(FileSet.self)
            #expect(set.set.directory == rig.downloads + "/release" && set.root == rig.downloads)
            let done = try await Self.reach([.complete, .incomplete, .failed], set.id, rig)
            #expect(done.state == .complete && done.files == 3 && done.done == 3 && done.failed == 0, "\(done)")
            #expect(Self.hasFiles(rig.downloads + "/release"))
            #expect(try await rig.ask(.list).shape(DownloadPage.self).total == 0)
            #expect(try await rig.ask(.list, query: "session=all").shape(DownloadPage.self).total == 0)
            let before = rig.origin.bodyBytes("/pub/b")
            rig.origin.serve("/pub/a", Resource(size: 10, seed: 9))
            #expect(try await Self.add(new, rig, port: port).status == 200)
            let again = try await Self.reach([.complete, .incomplete, .failed], set.id, rig)
            #expect(again.state == .complete && again.receivedBytes < 300_000, "\(again)")
            #expect(rig.origin.bodyBytes("/pub/b") == before)
            #expect(FileManager.default.contents(atPath: rig.downloads + "/release/a")?.count == 10)
            #expect(try await rig.ask(.sets).shape(FileSetItems.self).items.map(\.id) == [set.id])
        }
    }

    @Test("Set: added again with other options, it has these, whether it is being synced or has ended")
    func otherOptions() async throws {
        try await DaemonRig.run { rig in
            Self.serve(rig.origin)
            rig.origin.always("/pub/b", .stall(after: 1000))
            let plain = NewSet(url: rig.origin.url("/pub/"), directory: rig.downloads + "/d")
            let id = try await Self.add(plain, rig).shape(FileSet.self).id
            try await Self.wait(rig) { $0.id == id && $0.state == .syncing && $0.done == 2 }
            var other = plain
            (other.exclude, other.deletesGone) = (["b"], true)
            let again = try await Self.add(other, rig)
            #expect(again.status == 200, "\(again.text)")
            let changed = try again.shape(FileSet.self)
            #expect(changed.id == id && changed.set == other && changed.state.isActive, "\(changed)")
            let done = try await Self.reach([.complete, .incomplete, .failed], id, rig)
            #expect(done.state == .complete && done.files == 2, "\(done)")
            #expect(!FileManager.default.fileExists(atPath: rig.downloads + "/d/b"))
            rig.origin.always("/pub/b", .honest)
            // Over TCP, so that the set also has other bounds.
            let last = try await Self.add(plain, rig, port: try #require(rig.addresses.port))
            #expect(last.status == 200, "\(last.text)")
            let whole = try await Self.reach([.complete, .incomplete, .failed], id, rig)
            var safe = plain
            safe.safeNames = true
            #expect(whole.state == .complete && whole.files == 3 && whole.set == safe, "\(whole)")
            #expect(whole.root == rig.downloads && Self.hasFiles(rig.downloads + "/d"))
            #expect(try await rig.ask(.sets).shape(FileSetItems.self).items.map(\.id) == [id])
        }
    }

    @Test("Set: a directory that is named with dots is that of one set, whose files are complete")
    func dottedDirectory() async throws {
        try await DaemonRig.run { rig in
            Self.serve(rig.origin)
            var new = NewSet(url: rig.origin.url("/pub/"), directory: rig.directory + "/x/.././set/.")
            let set = try await Self.add(new, rig).shape(FileSet.self)
            #expect(set.set.directory == rig.directory + "/set")
            let done = try await Self.reach([.complete, .incomplete, .failed], set.id, rig)
            #expect(done.state == .complete && Self.hasFiles(rig.directory + "/set"), "\(done)")
            new.directory = rig.directory + "/set"
            let again = try await Self.add(new, rig)
            #expect(again.status == 200, "\(again.text)")
            #expect(try again.shape(FileSet.self).id == set.id)
        }
    }

    @Test("Set: two sets cannot share a directory, by whatever path it is named")
    func sharedDirectory() async throws {
        try await DaemonRig.run { rig in
            let place = rig.directory + "/set"
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(atPath: rig.directory + "/link", withDestinationPath: "set")
            let first = try await Self.add(NewSet(url: rig.origin.url("/pub/"), directory: place), rig)
            #expect(first.status == 201, "\(first.text)")
            for name in ["/link", "/set/.", "/x/../set", "/link/below", "/link/new/below", ""] {
                let new = NewSet(url: rig.origin.url("/other/"), directory: rig.directory + name)
                let reply = try await Self.add(new, rig)
                #expect(reply.status == 409, "\(name): \(reply.text)")
            }
            let beside = NewSet(url: rig.origin.url("/other/"), directory: rig.directory + "/settle")
            #expect(try await Self.add(beside, rig).status == 201)
        }
    }

    @Test("Set over TCP: it is answered and listed with the safe names that its files get, whatever was asked for")
    func answeredNames() async throws {
        try await DaemonRig.run { rig in
            Self.serve(rig.origin)
            let port = try #require(rig.addresses.port)
            var ids: Set<String> = []
            for (number, given) in [nil, false, true].enumerated() {
                var new = NewSet(url: rig.origin.url("/pub/"), directory: "release")
                new.safeNames = given
                let reply = try await Self.add(new, rig, port: port)
                #expect(reply.status == (number == 0 ? 201 : 200), "\(reply.text)")
                let set = try reply.shape(FileSet.self)
                #expect(set.set.safeNames == true)
                ids.insert(set.id)
            }
            #expect(ids.count == 1)
            #expect(try await rig.ask(.sets).shape(FileSetItems.self).items.map(\.set.safeNames) == [true])
            var own = NewSet(url: rig.origin.url("/pub/"), directory: rig.downloads + "/own")
            own.safeNames = false
            #expect(try await Self.add(own, rig).shape(FileSet.self).set.safeNames == false)
        }
    }

    @Test("Set: directories whose names are canonically equivalent are those of two sets")
    func equivalentNames() async throws {
        try await DaemonRig.run { rig in
            var ids: [String] = []
            for name in ["caf\u{E9}", "cafe\u{301}"] {
                let new = NewSet(url: rig.origin.url("/pub/"), directory: rig.downloads + "/" + name)
                let reply = try await Self.add(new, rig)
                #expect(reply.status == 201, "\(reply.text)")
                ids.append(try reply.shape(FileSet.self).id)
                #expect(try await Self.add(new, rig).status == 200)
            }
            #expect(Set(ids).count == 2)
        }
    }

    @Test("Set over TCP: no list of the machine, no place outside, no credentials, no second set of a directory")
    func refused() async throws {
        try await DaemonRig.run { rig in
            let port = try #require(rig.addresses.port)
            let url = rig.origin.url("/pub/")
            try FileManager.default.createSymbolicLink(atPath: rig.downloads + "/link", withDestinationPath: "/tmp")
            var many = NewSet(url: url, directory: "d")
            many.exclude = Array(repeating: "x", count: 101)
            var deep = NewSet(url: url, directory: "d")
            deep.depth = 65
            for new in [
                NewSet(list: "/etc/passwd", directory: "d"), NewSet(url: url, directory: "../d"),
                NewSet(url: url, directory: "/etc/d"), NewSet(url: url, directory: ".d"),
                NewSet(url: url, directory: ""),
                NewSet(url: url, directory: "link/d"), NewSet(directory: "d"),
                NewSet(url: url, list: "/l", directory: "d"), NewSet(url: "file:///etc/passwd", directory: "d"),
                NewSet(url: "http://u:secret@h/", directory: "d"), many, deep,
            ] {
                let reply = try await Self.add(new, rig, port: port)
                #expect(reply.status == 400, "\(new) \(reply.text)")
                #expect(!reply.text.contains("secret"))
            }
            // Over the socket: absolute.
            #expect(try await Self.add(NewSet(url: url, directory: "d"), rig).status == 400)
            #expect(
                try await Self.add(NewSet(url: url, directory: rig.downloads + "/d"), rig, port: port).status == 201)
            let other = NewSet(url: url + "x/", directory: rig.downloads + "/d")
            #expect(try await Self.add(other, rig, port: port).status == 409)
            for directory in ["/d/sub", ""] {
                let nested = NewSet(url: url + "x/", directory: rig.downloads + directory)
                #expect(try await Self.add(nested, rig).status == 409)
            }
            let beside = NewSet(url: url + "x/", directory: rig.downloads + "/d2")
            #expect(try await Self.add(beside, rig, port: port).status == 201)
            #expect(!FileManager.default.fileExists(atPath: "/etc/d"))
        }
    }

    @Test(
        "Set over TCP: a link that replaces its directory later is not followed, and a hostile list leaves nothing outside"
    )
    func hostile() async throws {
        try await DaemonRig.run { rig in
            let port = try #require(rig.addresses.port)
            let outside = rig.directory + "/outside"
            try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
            rig.origin.serve("/x", Resource(size: 10, seed: 1))
            let url = rig.origin.url("/x")
            rig.origin.serve(
                "/list",
                Resource(
                    text: ["../x", "/etc/x", "a/../../x", ".ssh/x", "ok"].map {
                        #"{"url":"\#(url)","path":"\#($0)"}"# + "\n"
                    }.joined()))
            let added = try await Self.add(NewSet(url: rig.origin.url("/list"), directory: "d"), rig, port: port)
            let id = try added.shape(FileSet.self).id
            let done = try await Self.reach([.complete, .incomplete, .failed], id, rig)
            #expect(done.state == .incomplete && done.problems?.count == 3, "\(done)")
            #expect(
                try FileManager.default.subpathsOfDirectory(atPath: rig.downloads).sorted() == [
                    "d", "d/_ssh", "d/_ssh/x", "d/ferry-manifest.jsonl", "d/ok",
                ])
            try FileManager.default.removeItem(atPath: rig.downloads + "/d")
            try FileManager.default.createSymbolicLink(atPath: rig.downloads + "/d", withDestinationPath: outside)
            _ = try await rig.ask(.resumeSet, id: id)
            let linked = try await Self.reach([.complete, .incomplete, .failed], id, rig)
            #expect(linked.state == .failed, "\(linked)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == [])
        }
    }

    @Test("Set: pause keeps part files, resume goes on, cancel deletes them, remove leaves complete files")
    func actions() async throws {
        try await DaemonRig.run { rig in
            Self.serve(rig.origin)
            rig.origin.serve("/pub/b", Resource(size: 8 << 20, seed: 2))
            rig.origin.always("/pub/b", .stall(after: 4 << 20))
            let place = rig.directory + "/set"
            let set = try await Self.add(NewSet(url: rig.origin.url("/pub/"), directory: place), rig).shape(
                FileSet.self)
            try await rig.follow(query: "session=all") { events in
                _ = try await events.next { event -> Bool? in
                    guard case .progress(let batch, _) = event else { return nil }
                    return batch.contains { $0.progress.completedBytes >= 2 << 20 } ? true : nil
                }
            }
            let syncing = try await Self.wait(rig) { $0.receivedBytes >= 2 << 20 }
            #expect(syncing.state == .syncing && syncing.bytesPerSecond != nil, "\(syncing)")
            let paused = try await rig.ask(.pauseSet, id: set.id).shape(FileSet.self)
            #expect(paused.state == .paused && paused.bytesPerSecond == nil)
            #expect(FileManager.default.fileExists(atPath: place + "/b.part"))
            let before = rig.origin.bodyBytes("/pub/b")
            rig.origin.always("/pub/b", .honest)
            _ = try await rig.ask(.resumeSet, id: set.id)
            let done = try await Self.reach([.complete, .incomplete, .failed], set.id, rig)
            #expect(done.state == .complete, "\(done)")
            #expect(rig.origin.bodyBytes("/pub/b") - before < 8 << 20)
            #expect(try await rig.ask(.pauseSet, id: set.id).status == 409)
            #expect(try await rig.ask(.showSet, id: set.id).shape(FileSet.self).state == .complete)
            rig.origin.serve("/pub/b", Resource(size: 9 << 20, seed: 3))
            rig.origin.always("/pub/b", .stall(after: 4 << 20))
            _ = try await rig.ask(.resumeSet, id: set.id)
            try await Self.wait(rig) { $0.id == set.id && $0.state == .syncing && $0.done == 2 }
            #expect(try await rig.ask(.removeSet, id: set.id).status == 204)
            #expect(try await rig.ask(.showSet, id: set.id).status == 404)
            #expect(!FileManager.default.fileExists(atPath: place + "/b.part"))
            #expect(FileManager.default.contents(atPath: place + "/b")?.count == 8 << 20)
            #expect(try await rig.ask(.list, query: "session=all").shape(DownloadPage.self).total == 0)
        }
    }

    /// The set was being synced for ever, in one of the four places.
    @Test(
        "Set: a file whose server wants credentials or sends a page makes the set incomplete, and is asked for again",
        arguments: [(Behaviour.status(401), DownloadError.Code.credentials), (.htmlPage(), .freshLink)])
    func wantsUser(behaviour: Behaviour, code: DownloadError.Code) async throws {
        try await DaemonRig.run { rig in
            Self.serve(rig.origin, ["a", "b", "b.bin", "sub/"])
            rig.origin.serve("/pub/b.bin", Resource(size: 300_000, seed: 4))
            rig.origin.always("/pub/b.bin", behaviour)
            let place = rig.directory + "/set"
            let new = NewSet(url: rig.origin.url("/pub/"), directory: place)
            let id = try await Self.add(new, rig).shape(FileSet.self).id
            for _ in 0..<2 {
                let ended = try await Self.reach([.complete, .incomplete, .failed], id, rig)
                #expect(ended.state == .incomplete && ended.done == 3, "\(ended)")
                #expect(ended.incomplete?.map(\.path) == ["b.bin"] && ended.incomplete?.first?.error?.code == code)
                _ = try await rig.ask(.resumeSet, id: id)
            }
            _ = try await Self.reach([.incomplete], id, rig)
            rig.origin.always("/pub/b.bin", .honest)
            _ = try await rig.ask(.resumeSet, id: id)
            #expect(try await Self.reach([.complete], id, rig).done == 4)
            #expect(Self.hasFiles(place))
            #expect(try await rig.ask(.list, query: "session=all").shape(DownloadPage.self).total == 0)
        }
    }

    @Test("Set: while its list cannot be read, it has the reason and the time of the next attempt, and no longer")
    func listRetried() async throws {
        try await DaemonRig.run { rig in
            Self.serve(rig.origin)
            let gate = Gate()
            rig.origin.script("/pub/", [.status(503, retryAfter: "1"), .hold(gate)])
            let began = Date()
            let new = NewSet(url: rig.origin.url("/pub/"), directory: rig.directory + "/set")
            let id = try await Self.add(new, rig).shape(FileSet.self).id
            let waiting = try await Self.wait(rig) { $0.id == id && $0.until != nil }
            #expect(waiting.state == .syncing && waiting.error?.phrase?.key == .setAnswered, "\(waiting)")
            #expect(waiting.error?.message.contains("503") == true)
            let next = try #require(waiting.until)
            #expect(next > began)
            // The next request has been sent.
            await gate.arrived()
            let reading = try await rig.ask(.showSet, id: id).shape(FileSet.self)
            #expect(reading.state == .syncing && reading.until == nil && reading.error == nil, "\(reading)")
            gate.open()
            let done = try await Self.reach([.complete, .incomplete, .failed], id, rig)
            #expect(done.state == .complete && done.until == nil && done.error == nil, "\(done)")
        }
    }

    @Test("Set: one that waits to read its list again is paused without a reason, and has the reason of its end")
    func listRefused() async throws {
        try await DaemonRig.run { rig in
            Self.serve(rig.origin)
            rig.origin.always("/pub/", .status(503, retryAfter: "600"))
            let new = NewSet(url: rig.origin.url("/pub/"), directory: rig.directory + "/set")
            let id = try await Self.add(new, rig).shape(FileSet.self).id
            try await Self.wait(rig) { $0.id == id && $0.until != nil }
            let paused = try await rig.ask(.pauseSet, id: id).shape(FileSet.self)
            #expect(paused.state == .paused && paused.until == nil && paused.error == nil, "\(paused)")
            rig.origin.script("/pub/", [.status(503, retryAfter: "1")], then: .status(404))
            _ = try await rig.ask(.resumeSet, id: id)
            let failed = try await Self.reach([.complete, .incomplete, .failed], id, rig)
            #expect(failed.state == .failed && failed.until == nil, "\(failed)")
            #expect(failed.error?.message.contains("404") == true, "\(failed)")
        }
    }

    @Test("Set: a file that was paused and is listed at another URL since is fetched from there")
    func moved() async throws {
        try await DaemonRig.run { rig in
            func list(_ path: String) {
                rig.origin.serve("/list", Resource(text: #"{"url":"\#(rig.origin.url(path))","path":"f"}"# + "\n"))
            }
            rig.origin.serve("/old", Resource(size: 8 << 20, seed: 1))
            rig.origin.serve("/new", Resource(size: 300_000, seed: 2))
            rig.origin.always("/old", .stall(after: 1 << 20))
            list("/old")
            let place = rig.directory + "/set"
            let new = NewSet(url: rig.origin.url("/list"), directory: place)
            let id = try await Self.add(new, rig).shape(FileSet.self).id
            try await rig.follow(query: "session=all") { events in
                _ = try await events.next { event -> Bool? in
                    guard case .progress(let batch, _) = event else { return nil }
                    return batch.contains { $0.progress.completedBytes > 0 } ? true : nil
                }
            }
            _ = try await rig.ask(.pauseSet, id: id)
            list("/new")
            _ = try await rig.ask(.resumeSet, id: id)
            let done = try await Self.reach([.complete, .incomplete, .failed], id, rig)
            #expect(done.state == .complete, "\(done)")
            #expect(
                FileManager.default.contents(atPath: place + "/f")
                    == Data(Resource(size: 300_000, seed: 2).bytes(0..<300_000)))
            #expect(!FileManager.default.fileExists(atPath: place + "/f.part"))
        }
    }

    /// A set with the list of `lines` in `/list`, and the files `/f` and `/g` with ETags but without dates. `/f` stalls after
    /// 1 MiB; the set is paused after these bytes.
    private static func pausedSet(
        of lines: [String], _ rig: DaemonRig, _ body: (_ id: String, _ place: String) async throws -> Void
    ) async throws {
        rig.origin.serve("/f", Resource(size: 8 << 20, seed: 1, lastModified: nil))
        rig.origin.serve("/g", Resource(size: 1000, seed: 2, lastModified: nil))
        rig.origin.always("/f", .stall(after: 1 << 20))
        list(lines, rig)
        let place = rig.directory + "/set"
        let new = NewSet(url: rig.origin.url("/list"), directory: place)
        let id = try await add(new, rig).shape(FileSet.self).id
        try await rig.follow(query: "session=all") { events in
            _ = try await events.next { event -> Bool? in
                guard case .progress(let batch, _) = event else { return nil }
                return batch.contains { $0.progress.completedBytes > 0 } ? true : nil
            }
        }
        let paused = try await rig.ask(.pauseSet, id: id).shape(FileSet.self)
        #expect(paused.state == .paused)
        rig.origin.always("/f", .honest)
        try await body(id, place)
    }

    private static func list(_ lines: [String], _ rig: DaemonRig) {
        rig.origin.serve("/list", Resource(text: lines.map { $0 + "\n" }.joined()))
    }

    private static func line(_ name: String, _ rig: DaemonRig, _ rest: String = "") -> String {
        #"{"url":"\#(rig.origin.url("/" + name))","path":"\#(name)"\#(rest)}"#
    }

    private static func resume(_ id: String, _ rig: DaemonRig) async throws -> FileSet {
        _ = try await rig.ask(.resumeSet, id: id)
        return try await reach([.complete, .incomplete, .failed], id, rig)
    }

    /// The download of the earlier run was joined, so a wrong file was complete, and a corrected list changed nothing.
    @Test(
        "Set: a digest or size that the list states since a pause counts, and so does its correction",
        arguments: [
            (
                #","sha256":"\#(String(repeating: "0", count: 64))""#,
                #","sha256":"\#(Resource(size: 8 << 20, seed: 1).sha256)""#
            ),
            (#","size":5"#, #","size":8388608"#), (#","size":9000000"#, ""),
        ])
    func correctedList(wrong: String, right: String) async throws {
        try await DaemonRig.run { rig in
            try await Self.pausedSet(of: [Self.line("f", rig)], rig) { id, place in
                Self.list([Self.line("f", rig, wrong)], rig)
                for _ in 0..<2 {
                    let ended = try await Self.resume(id, rig)
                    #expect(ended.state == .incomplete && ended.incomplete?.first?.error?.code == .checksum, "\(ended)")
                    #expect(!FileManager.default.fileExists(atPath: place + "/f"))
                }
                Self.list([Self.line("f", rig, right)], rig)
                let done = try await Self.resume(id, rig)
                #expect(done.state == .complete, "\(done)")
                #expect(
                    FileManager.default.contents(atPath: place + "/f")
                        == Data(Resource(size: 8 << 20, seed: 1).bytes(0..<8 << 20)))
                #expect(try await rig.ask(.list, query: "session=all").shape(DownloadPage.self).total == 0)
            }
        }
    }

    @Test("Set: what its downloads fetch cannot be changed, but their limits can")
    func fixedContent() async throws {
        try await DaemonRig.run { rig in
            try await Self.pausedSet(of: [Self.line("f", rig)], rig) { id, place in
                let page = try await rig.ask(.list, query: "session=sets").shape(DownloadPage.self)
                let download = try #require(page.items.first).id.rawValue
                let fixed: [JSONValue] = [["checksum": .null], ["urls": .list([.text(rig.origin.url("/g"))])]]
                for change in fixed {
                    let reply = try await rig.ask(.change, id: download, session: "sets", body: change)
                    #expect(reply.status == 400 && reply.text.contains("checksums"), "\(reply.text)")
                }
                let limit: JSONValue = ["rateLimit": .whole(1 << 30)]
                let reply = try await rig.ask(.change, id: download, session: "sets", body: limit)
                #expect(reply.status == 200, "\(reply.text)")
                let before = rig.origin.bodyBytes("/f")
                let done = try await Self.resume(id, rig)
                #expect(done.state == .complete && rig.origin.bodyBytes("/f") - before < 8 << 20, "\(done)")
            }
        }
    }

    @Test("Set: a digest that the list states since a pause proves a file that was begun without it")
    func addedDigest() async throws {
        try await DaemonRig.run { rig in
            try await Self.pausedSet(of: [Self.line("f", rig)], rig) { id, place in
                let before = rig.origin.bodyBytes("/f")
                let digest = Resource(size: 8 << 20, seed: 1).sha256
                Self.list([Self.line("f", rig, #","sha256":"\#(digest)""#)], rig)
                let done = try await Self.resume(id, rig)
                #expect(done.state == .complete, "\(done)")
                #expect(rig.origin.bodyBytes("/f") - before < 8 << 20)
                let manifest = try String(contentsOfFile: place + "/ferry-manifest.jsonl", encoding: .utf8)
                #expect(manifest.contains(digest))
            }
        }
    }

    /// The download of the earlier run might not replace the file.
    @Test("Set: a file that the foreground has completed since a pause is replaced once its server changes it")
    func completedElsewhere() async throws {
        try await DaemonRig.run { rig in
            try await Self.pausedSet(of: [Self.line("f", rig)], rig) { id, place in
                let manager = DownloadManager(.ephemeral)
                let report = try await manager.sync(.url(try DownloadURL(rig.origin.url("/list"))), into: place)
                await manager.shutdown()
                #expect(report.isComplete, "\(report)")
                rig.origin.serve("/f", Resource(size: 300_000, seed: 9, lastModified: nil))
                let done = try await Self.resume(id, rig)
                #expect(done.state == .complete, "\(done)")
                #expect(
                    FileManager.default.contents(atPath: place + "/f")
                        == Data(Resource(size: 300_000, seed: 9).bytes(0..<300_000)))
                #expect(try await rig.ask(.list, query: "session=all").shape(DownloadPage.self).total == 0)
            }
        }
    }

    @Test("Set: without deletion, a file that was paused and is no longer listed leaves its part file, but no download")
    func unlistedPart() async throws {
        try await DaemonRig.run { rig in
            try await Self.pausedSet(of: [Self.line("f", rig), Self.line("g", rig)], rig) { id, place in
                Self.list([Self.line("g", rig)], rig)
                let without = try await Self.resume(id, rig)
                #expect(without.state == .complete, "\(without)")
                #expect(FileManager.default.fileExists(atPath: place + "/f.part"))
                #expect(try await rig.ask(.list, query: "session=all").shape(DownloadPage.self).total == 0)
                let before = rig.origin.bodyBytes("/f")
                Self.list([Self.line("f", rig), Self.line("g", rig)], rig)
                let with = try await Self.resume(id, rig)
                #expect(with.state == .complete, "\(with)")
                #expect(rig.origin.bodyBytes("/f") - before < 8 << 20)
            }
        }
    }

    @Test("Set: with deletion, a file that was paused and is no longer listed leaves no part file and no download")
    func unlisted() async throws {
        try await DaemonRig.run { rig in
            func list(_ names: [String]) {
                let lines = names.map { #"{"url":"\#(rig.origin.url("/" + $0))","path":"\#($0)"}"# + "\n" }
                rig.origin.serve("/list", Resource(text: lines.joined()))
            }
            rig.origin.serve("/f", Resource(size: 8 << 20, seed: 1))
            rig.origin.serve("/g", Resource(size: 1000, seed: 2))
            rig.origin.always("/f", .stall(after: 1 << 20))
            list(["f", "g"])
            let place = rig.directory + "/set"
            var new = NewSet(url: rig.origin.url("/list"), directory: place)
            new.deletesGone = true
            let id = try await Self.add(new, rig).shape(FileSet.self).id
            try await rig.follow(query: "session=all") { events in
                _ = try await events.next { event -> Bool? in
                    guard case .progress(let batch, _) = event else { return nil }
                    return batch.contains { $0.progress.completedBytes > 0 } ? true : nil
                }
            }
            _ = try await rig.ask(.pauseSet, id: id)
            #expect(FileManager.default.fileExists(atPath: place + "/f.part"))
            list(["g"])
            _ = try await rig.ask(.resumeSet, id: id)
            let done = try await Self.reach([.complete, .incomplete, .failed], id, rig)
            #expect(done.state == .complete && done.files == 1, "\(done)")
            for name in ["/f", "/f.part", "/f.part.ferry"] {
                #expect(!FileManager.default.fileExists(atPath: place + name), "\(name)")
            }
            #expect(try await rig.ask(.list, query: "session=all").shape(DownloadPage.self).total == 0)
        }
    }

    @Test("Set: a daemon that ends while it syncs goes on at its next start; a paused set stays paused")
    func restart() async throws {
        let directory = "/tmp/fy-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        try FileManager.default.createDirectory(atPath: directory + "/downloads", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await OriginServer.with { origin in
            Self.serve(origin)
            origin.always("/pub/b", .stall(after: 1000))
            let ids = Guarded<[String]>([])
            try await DaemonRig.serve(directory, origin) { rig in
                for name in ["one", "two"] {
                    let new = NewSet(url: origin.url("/pub/"), directory: directory + "/" + name)
                    ids.value.append(try await Self.add(new, rig).shape(FileSet.self).id)
                }
                _ = try await rig.ask(.pauseSet, id: ids.value[1])
                try await Self.wait(rig) { $0.id == ids.value[0] && $0.done == 2 }
            }
            origin.always("/pub/b", .honest)
            try await DaemonRig.serve(directory, origin) { rig in
                let done = try await Self.reach([.complete, .incomplete, .failed], ids.value[0], rig)
                #expect(done.state == .complete && Self.hasFiles(directory + "/one"), "\(done)")
                #expect(try await rig.ask(.showSet, id: ids.value[1]).shape(FileSet.self).state == .paused)
            }
        }
    }
}
