import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryServer

@Suite("Web pages in place of files at the daemon", .timeLimit(.minutes(30)))
struct PageDownloadTests {
    private func wait(for reason: WaitReason, _ id: DownloadID, _ rig: DaemonRig) async throws {
        let download = try #require(try await rig.daemon.manager.download(id: id))
        for await status in download.updates where status.state == .waiting(reason) || status.state.isFinal { break }
        #expect(download.status.state == .waiting(reason))
    }

    @Test(
        "Daemon: a page instead of a file waits for a fresh link, and completes with one or once it is accepted",
        arguments: [false, true])
    func waits(isFresh: Bool) async throws {
        try await DaemonRig.run { rig in
            let resource = Resource(size: 3_000_000)
            rig.origin.serve("/a.iso", resource)
            rig.origin.serve("/b.iso", resource)
            rig.origin.always("/a.iso", .htmlPage())
            let id = try await rig.add(rig.new("/a.iso")).id
            try await wait(for: .freshLink, id, rig)
            let shown = try #require(try await rig.daemon.manager.download(id: id)).status
            #expect(shown.waitError?.phrase?.key == .pageInstead)
            #expect(try FileManager.default.contentsOfDirectory(atPath: rig.downloads).isEmpty)
            let change: JSONValue =
                isFresh ? ["urls": [.text(rig.url("/b.iso"))]] : ["acceptsHTML": true]
            #expect(try await rig.ask(.change, id: id.rawValue, body: change).status == 200)
            let ended = try await rig.reach("completed", id)
            #expect(ended.status.state.kind == .completed)
            let path = try #require(ended.status.path)
            if isFresh {
                #expect(resource.source.compare(file: path, size: resource.size) == .equal)
            } else {
                #expect(FileManager.default.contents(atPath: path)?.starts(with: Data("<!doctype html>".utf8)) == true)
            }
        }
    }

    @Test("Daemon: once the sign-in page has gone, a resume of all resumes a download that it stopped")
    func signedIn() async throws {
        try await DaemonRig.run { rig in
            rig.origin.serve("/a.iso", Resource(size: 3_000_000))
            rig.origin.always("/a.iso", .htmlPage())
            let id = try await rig.add(rig.new("/a.iso")).id
            try await wait(for: .freshLink, id, rig)
            rig.origin.always("/a.iso", .honest)
            #expect(try await rig.ask(.resumeMany, body: ["words": ["all"]]).status == 200)
            #expect(try await rig.reach("completed", id).status.state.kind == .completed)
        }
    }

    @Test("Daemon: a download that accepts HTML completes with the page")
    func accepted() async throws {
        try await DaemonRig.run { rig in
            rig.origin.serve("/a.iso", Resource(size: 3_000_000))
            rig.origin.always("/a.iso", .htmlPage())
            let id = try await rig.add(rig.new("/a.iso") { $0.acceptsHTML = true }).id
            #expect(try await rig.reach("completed", id).status.state.kind == .completed)
        }
    }
}
