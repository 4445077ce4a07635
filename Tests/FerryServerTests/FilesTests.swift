import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryServer

@Suite("Files of the daemon's downloads", .timeLimit(.minutes(30)))
struct FilesTests {
    private static func fresh() throws -> String {
        let directory = "/tmp/fy-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        try FileManager.default.createDirectory(atPath: directory + "/downloads", withIntermediateDirectories: true)
        return directory
    }

    private func begin(_ name: String, _ rig: DaemonRig, session: String?, in place: String? = nil) async throws
        -> DownloadID
    {
        rig.origin.script("/" + name, [.stall(after: 2 << 20)])
        var new = RawRequest(urls: [rig.url("/" + name)])
        new.maxConnections = 1
        new.directory = place
        new.label = "of " + (session ?? "nobody")
        let id = try await rig.add(new, session: session).id
        let download = try #require(try await rig.daemon.manager.download(id: id))
        for await status in download.updates where status.progress.completedBytes >= 2 << 20 { break }
        _ = try await rig.ask(.pause, id: id.rawValue)
        return id
    }

    @Test("Daemon: after the loss of its list it finds the downloads of all sessions in all their directories")
    func lost() async throws {
        let directory = try Self.fresh()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await OriginServer.with { origin in
            for name in ["a", "b", "c"] { origin.serve("/" + name, Resource(size: 4 << 20, seed: 1)) }
            let ids = Guarded<[String: DownloadID]>([:])
            try await DaemonRig.serve(directory, origin) { rig in
                let registration = SessionRegistration(identifier: "app", directory: directory + "/app")
                _ = try await rig.ask(.attach, body: registration)
                ids.value["a"] = try await begin("a", rig, session: nil)
                ids.value["b"] = try await begin("b", rig, session: "app")
                ids.value["c"] = try await begin("c", rig, session: "app", in: directory + "/far/away")
            }
            let state = DaemonRig.place(in: directory).catalogue
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: state + "/catalogue.sqlite" + suffix)
            }
            try await DaemonRig.serve(directory, origin) { rig in
                let all = try await rig.ask(.list, query: "session=all").shape(DownloadPage.self)
                #expect(Set(all.items.map(\.id)) == Set(ids.value.values))
                for item in all.items {
                    let isApp = item.id != ids.value["a"]
                    #expect(item.session == (isApp ? "app" : "default"))
                    #expect(item.label == (isApp ? "of app" : "of nobody"))
                    #expect(item.status.state == .paused)
                    #expect(item.status.progress.completedBytes == 2 << 20)
                }
                let own = try await rig.ask(.list, session: "app").shape(DownloadPage.self)
                #expect(own.total == 2)
            }
        }
    }

    @Test("API relocate: files are moved through the socket, and over TCP the request is refused")
    func relocated() async throws {
        try await DaemonRig.run { rig in
            rig.origin.serve("/a", Resource(size: 4 << 20, seed: 1))
            let id = try await begin("a", rig, session: nil).rawValue
            let place = rig.directory + "/elsewhere"
            let body = RelocateBody(directory: place)
            let headers = ["Authorization": "Bearer \(rig.token)", "Content-Type": "application/json"]
            let refused = try await rig.send(
                "POST", Route.relocate.path(id: id), headers: headers, body: try JSONCoding.encode(body),
                port: rig.addresses.port)
            #expect(refused.status == 403)
            #expect(!FileManager.default.fileExists(atPath: place))
            #expect(try await rig.ask(.relocate, id: id, body: RelocateBody(directory: "elsewhere")).status == 400)
            let reply = try await rig.ask(.relocate, id: id, body: body)
            #expect(reply.status == 200, "\(reply.text)")
            let moved = try reply.shape(ListedDownload.self)
            #expect(moved.status.path == place + "/a")
            #expect(moved.directory == place)
            rig.origin.always("/a", .honest)
            _ = try await rig.ask(.resume, id: id)
            let done = try await rig.reach("completed", DownloadID(rawValue: id))
            #expect(done.status.path == place + "/a")
            let back = try await rig.ask(.relocate, id: id, body: RelocateBody(directory: rig.downloads))
            #expect(try back.shape(ListedDownload.self).status.path == rig.downloads + "/a")
            #expect(try FileManager.default.contentsOfDirectory(atPath: place) == [])
        }
    }

    @Test("API relocate: a file that was replaced meanwhile is a conflict and stays")
    func conflict() async throws {
        try await DaemonRig.run { rig in
            let id = try await rig.add(RawRequest(urls: [rig.url("/file/1k")])).id
            let done = try await rig.reach("completed", id)
            let path = try #require(done.status.path)
            try Data("mine".utf8).write(to: URL(filePath: path))
            let reply = try await rig.ask(
                .relocate, id: id.rawValue, body: RelocateBody(directory: rig.directory + "/elsewhere"))
            #expect(reply.status == 409)
            #expect(reply.problem?.code == "conflict")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
        }
    }
}
