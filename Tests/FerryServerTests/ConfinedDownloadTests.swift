import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryServer

/// A directory below the allowed one was checked when a download was added over TCP, and opened by its name alone when
/// it ran: the replacement determined the destination of the files.
@Suite("Confined downloads of TCP clients", .timeLimit(.minutes(30)))
struct ConfinedDownloadTests {
    private func add(_ new: RawRequest, to rig: DaemonRig) async throws -> DaemonRig.Reply {
        let port = try #require(rig.addresses.port)
        return try await rig.send(
            "POST", Route.add.path(),
            headers: ["Content-Type": "application/json", "Authorization": "Bearer \(rig.token)"],
            body: try JSONCoding.encode(new), port: port)
    }

    private func exchange(_ rig: DaemonRig) throws {
        let inner = rig.downloads + "/inner"
        try FileManager.default.createDirectory(atPath: rig.directory + "/outside", withIntermediateDirectories: true)
        if FileManager.default.fileExists(atPath: inner) {
            try FileManager.default.moveItem(atPath: inner, toPath: rig.downloads + "/moved")
        }
        try FileManager.default.createSymbolicLink(atPath: inner, withDestinationPath: rig.directory + "/outside")
    }

    private func outside(_ rig: DaemonRig) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: rig.directory + "/outside")) ?? ["missing"]
    }

    @Test(
        "Daemon: a download whose directory became a symbolic link before the run fails and writes nothing outside",
        arguments: [1000, 3_000_000] as [Int64], ["inner", "inner/new"])
    func before(size: Int64, place: String) async throws {
        try await DaemonRig.run { rig in
            rig.origin.serve("/a.bin", Resource(size: size))
            let new = rig.new("/a.bin") {
                $0.directory = place
                $0.startsPaused = true
            }
            let reply = try await add(new, to: rig)
            #expect(reply.status == 201, "\(reply.text)")
            let id = try reply.shape(ListedDownload.self).id
            try exchange(rig)
            _ = try await rig.ask(.resume, id: id.rawValue)
            let ended = try await rig.reach("failed", id)
            guard case .failed(let error) = ended.status.state else {
                Issue.record("\(ended.status.state)")
                return
            }
            #expect(error.code == .disk && error.message.contains("symbolic link"), "\(error.message)")
            #expect(outside(rig).isEmpty)
        }
    }

    @Test("Daemon: a directory replaced by a symbolic link during the run leads nowhere, also after a restart")
    func meanwhile() async throws {
        let directory = "/tmp/fy-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        try FileManager.default.createDirectory(atPath: directory + "/downloads", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await OriginServer.with { origin in
            let resource = Resource(size: 6_000_000)
            origin.serve("/a.bin", resource)
            origin.script("/a.bin", [.stall(after: 3_000_000)])
            let id = try await run(directory, origin) { rig in
                let reply = try await add(rig.new("/a.bin") { $0.directory = "inner" }, to: rig)
                let id = try reply.shape(ListedDownload.self).id
                let download = try #require(try await rig.daemon.manager.download(id: id))
                for await status in download.updates where status.progress.completedBytes >= 3_000_000 { break }
                try exchange(rig)
                _ = try await rig.ask(.pause, id: id.rawValue)
                _ = try await rig.ask(.resume, id: id.rawValue)
                _ = try await rig.reach("failed", id)
                #expect(outside(rig).isEmpty)
                return id
            }
            _ = try await run(directory, origin) { rig in
                _ = try await rig.ask(.resume, id: id.rawValue)
                _ = try await rig.reach("failed", id)
                #expect(outside(rig).isEmpty)
                // With its directory restored the download resumes.
                try FileManager.default.removeItem(atPath: rig.downloads + "/inner")
                try FileManager.default.moveItem(
                    atPath: rig.downloads + "/moved", toPath: rig.downloads + "/inner")
                _ = try await rig.ask(.resume, id: id.rawValue)
                let ended = try await rig.reach("completed", id)
                #expect(ended.status.state.kind == .completed)
                #expect(
                    resource.source.compare(file: rig.downloads + "/inner/a.bin", size: resource.size) == .equal)
                return id
            }
        }
    }

    private func run(
        _ directory: String, _ origin: OriginServer,
        _ body: @escaping @Sendable (DaemonRig) async throws -> DownloadID
    ) async throws -> DownloadID {
        let found = Found()
        try await DaemonRig.serve(directory, origin) { rig in await found.set(try await body(rig)) }
        return try #require(await found.id)
    }

    private actor Found {
        var id: DownloadID?
        func set(_ id: DownloadID) { self.id = id }
    }

    @Test("Daemon: a directory given through the Unix socket may be a symbolic link")
    func local() async throws {
        try await DaemonRig.run { rig in
            rig.origin.serve("/a.bin", Resource(size: 3_000_000))
            try exchange(rig)
            let added = try await rig.add(rig.new("/a.bin") { $0.directory = rig.downloads + "/inner" })
            #expect(try await rig.reach("completed", added.id).status.state.kind == .completed)
            #expect(outside(rig) == ["a.bin"])
        }
    }
}
