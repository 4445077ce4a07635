import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryServer

@Suite("API: removal of many downloads", .timeLimit(.minutes(30)))
struct APIRemovalTests {
    @Test("API removal: one request removes many, and reports the error of each that stays")
    func removed() async throws {
        try await DaemonRig.run { rig in
            rig.origin.serve("/runs", Resource(size: 4 << 20, seed: 2))
            rig.origin.always("/runs", .stall(after: 1 << 20))
            let runs = try await rig.add(rig.new("/runs") { $0.maxConnections = 1 }).id
            #expect(try await rig.reach("downloading", runs).status.state == .downloading)
            let paused = try await rig.add(rig.new("/file/1k") { $0.startsPaused = true }).id
            let done = try await rig.add(rig.new("/file/2k")).id
            let replaced = try await rig.add(rig.new("/file/3k")).id
            for id in [done, replaced] { #expect(try await rig.reach("completed", id).status.state.kind == .completed) }
            try Data("mine".utf8).write(to: URL(filePath: rig.downloads + "/3k"))
            let ids = [replaced.rawValue, runs.rawValue, "none", done.rawValue, paused.rawValue, done.rawValue]
            let reply = try await rig.ask(.removeMany, body: RemovalBody(ids, deleteFiles: true))
            #expect(reply.status == 200, "\(reply.text)")
            let count = try reply.shape(ActionCount.self)
            #expect(count.changed == 3)
            #expect(count.failures?.map(\.id) == [replaced.rawValue, "none"])
            #expect(count.failures?.map(\.error.code) == [.conflict, .notFound])
            #expect(try await rig.ask(.list).shape(DownloadPage.self).items.map(\.id) == [replaced])
            #expect(try FileManager.default.contentsOfDirectory(atPath: rig.downloads) == ["3k"])
            let again = try await rig.ask(.removeMany, body: RemovalBody([replaced.rawValue]))
            #expect(try again.shape(ActionCount.self) == ActionCount(1))
            #expect(try String(contentsOfFile: rig.downloads + "/3k", encoding: .utf8) == "mine")
        }
    }

    @Test("API removal: with `which`, only ended downloads of this kind are removed; the others stay and are reported")
    func ended() async throws {
        try await DaemonRig.run { rig in
            rig.origin.serve("/runs", Resource(size: 4 << 20, seed: 2))
            rig.origin.always("/runs", .stall(after: 1 << 20))
            let runs = try await rig.add(rig.new("/runs") { $0.maxConnections = 1 }).id
            #expect(try await rig.reach("downloading", runs).status.state == .downloading)
            let paused = try await rig.add(rig.new("/file/1k") { $0.startsPaused = true }).id
            let done = try await rig.add(rig.new("/file/2k")).id
            #expect(try await rig.reach("completed", done).status.state.kind == .completed)
            let ids = [runs.rawValue, paused.rawValue, done.rawValue]
            func remove(_ which: ClearFilter) async throws -> ActionCount {
                try await rig.ask(.removeMany, body: RemovalBody(ids, which: which)).shape(ActionCount.self)
            }
            let failed = try await remove(.failed)
            #expect(failed.changed == 0)
            #expect(failed.failures?.map(\.id) == ids)
            let count = try await remove(.all)
            #expect(count.changed == 1)
            #expect(count.failures?.map(\.id) == [runs.rawValue, paused.rawValue])
            #expect(count.failures?.map(\.error.code) == [.wrongState, .wrongState])
            #expect(
                count.failures?.map(\.error.message)
                    == ["runs was not removed: it is downloading", "1k was not removed: it is paused"])
            #expect(Set(try await rig.ask(.list).shape(DownloadPage.self).items.map(\.id)) == [runs, paused])
            #expect(try await rig.reach("downloading", runs).status.state == .downloading)
        }
    }

    @Test("API removal: waiting downloads do not start when the ones before them are removed")
    func waiting() async throws {
        try await DaemonRig.run(settings: #"{"maxConcurrentDownloads": 1}"#) { rig in
            for name in ["/a", "/b", "/c"] {
                rig.origin.serve(name, Resource(size: 4 << 20, seed: 2))
                rig.origin.always(name, .stall(after: 1 << 20))
            }
            var ids: [String] = []
            for name in ["/a", "/b", "/c"] {
                ids.append(try await rig.add(rig.new(name) { $0.maxConnections = 1 }).id.rawValue)
            }
            _ = try await rig.reach("downloading", DownloadID(rawValue: ids[0]))
            let reply = try await rig.ask(.removeMany, body: RemovalBody(ids))
            #expect(try reply.shape(ActionCount.self) == ActionCount(3))
            #expect(Set(rig.origin.requests.map(\.path)) == ["/a"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: rig.downloads).isEmpty)
        }
    }

    @Test("API removal: a request without downloads is refused with 400 and removes nothing; any number can be named")
    func refused() async throws {
        try await DaemonRig.run { rig in
            let id = try await rig.add(rig.new("/file/1k") { $0.startsPaused = true }).id.rawValue
            let many = [id] + (0..<12_000).map { "none-\($0)" }
            #expect(try await rig.ask(.removeMany, body: SelectionBody()).status == 400)
            #expect(try await rig.ask(.removeMany, body: RemovalBody([id], words: [id])).status == 400)
            #expect(try await rig.ask(.cancelMany, body: SelectionBody()).status == 400)
            let none = try await rig.ask(.removeMany, body: RemovalBody([]))
            #expect(try none.shape(ActionCount.self) == ActionCount(0))
            #expect(try await rig.ask(.list).shape(DownloadPage.self).total == 1)
            let most = try await rig.ask(.removeMany, body: RemovalBody(many))
            let count = try most.shape(ActionCount.self)
            #expect(count.changed == 1)
            #expect(count.failures?.map(\.id) == Array(many.dropFirst()))
        }
    }
}
