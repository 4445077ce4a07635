import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Adopted journals", .timeLimit(.minutes(30)))
struct ForeignJournalTests {
    private func change(_ shop: Workshop, _ change: (inout JournalRecord) -> Void) throws {
        let path = FilePath(shop.path("old.part.ferry"))
        let (journal, record) = try Journal.open(at: path, fileSystem: LocalFileSystem(), syncs: false)
        defer { journal.close() }
        var changed = record
        change(&changed)
        try journal.write(changed)
    }

    @Test("Adopting: restrictions of the journal are taken over, and permissions are not")
    func trust() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/old"])
            try await shop.interrupt("/old", after: 1_000_000)
            try change(shop) { record in
                var trust = TrustRules()
                (trust.strict, trust.failsOnChange) = (true, true)
                (trust.allowsDowngrade, trust.resumesUnproven, trust.allowsUnprovenParts) = (true, true, true)
                record.trust = trust
                record.network = NetworkRule(allowsMetered: true, allowsConstrained: false)
            }
            let manager = shop.kept()
            let download = try await manager.adopt(shop.path("old.part"))
            var expected = TrustRules()
            (expected.strict, expected.failsOnChange) = (true, true)
            #expect(download.request.trust == expected)
            #expect(download.request.network == NetworkRule(allowsMetered: nil, allowsConstrained: false))
            try await shop.expectAll([download], are: resource)
            await manager.shutdown()
        }
    }

    @Test("Adopting: a journal without the fingerprint of an existing file does not replace it, and lowers no reserve")
    func overwrites() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/old"])
            try await shop.interrupt("/old", after: 1_000_000)
            try shop.write("mine", to: "old")
            let victim = try LocalFileSystem().status(FilePath(shop.path("old")), followingLinks: false)
            try change(shop) { record in
                var request = DownloadRequest.plain
                (request.onConflict, request.minFreeBytes, request.maxBytes) = (.overwrite, 1, 3_000_000)
                record.rules = JournalRules(of: request)
                record.replaces = .init(
                    device: victim.device, inode: victim.inode, length: victim.length,
                    modified: [victim.modified.seconds, 0])
            }
            let manager = shop.kept { $0.minFreeBytes = 2 }
            let download = try await manager.adopt(shop.path("old.part"))
            #expect(download.request.onConflict == .rename)
            #expect(download.request.minFreeBytes == nil && download.request.maxBytes == 3_000_000)
            try await shop.expectAll([download], are: resource)
            #expect(shop.text("old") == "mine")
            #expect(shop.files == ["old", "old (1)"])
            await manager.shutdown()
        }
    }

    @Test("Adopting: a move announced in the journal leaves the file at the announced path alone")
    func announced() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/old"])
            try await shop.interrupt("/old", after: 1_000_000)
            try FileManager.default.createDirectory(atPath: shop.path("elsewhere"), withIntermediateDirectories: false)
            try shop.write("mine", to: "elsewhere/victim.part")
            let victim = try LocalFileSystem().status(
                FilePath(shop.path("elsewhere/victim.part")), followingLinks: false)
            try change(shop) { record in
                record.moving = .init(
                    part: shop.path("elsewhere/victim.part"), device: victim.device, inode: victim.inode)
                record.movedFrom = shop.path("elsewhere/victim.part")
            }
            let manager = shop.kept()
            let download = try await manager.adopt(shop.path("old.part"))
            try await shop.expectAll([download], are: resource)
            #expect(shop.text("elsewhere/victim.part") == "mine")
            await manager.shutdown()
        }
    }

    @Test("Identifiers: one of several lines is refused in a request, in a journal and in resume data")
    func identifiers() async throws {
        let id = "a\nERROR forged"
        #expect(!DownloadID(rawValue: id).canBeStored)
        #expect(throws: DownloadError.self) {
            try ResumeData(
                id: DownloadID(rawValue: id), sources: [DownloadURL("http://h/a")], partPath: "/a.part", totalBytes: 1,
                completedBytes: 0, created: Date())
        }
        try await Workshop.run { shop in
            let manager = shop.kept()
            let code = await shop.code {
                _ = try await manager.download(try shop.single("/a") { $0.id = DownloadID(rawValue: id) })
            }
            #expect(code == .invalidRequest)
            var record = JournalRecord(
                id: id, urls: [shop.server.url("/a")], name: "old", totalBytes: 9, identity: FileIdentity(),
                createdAt: 1)
            record.claimed = [[0, 3]]
            // Written directly: `Journal` refuses such an identifier.
            let slot = JournalSlot(
                version: 1, sequence: 2, slotBytes: 8192, payload: Array(try JSONEncoder().encode(record)))
            let encoded = slot.encode()
            try Data(encoded + [UInt8](repeating: 10, count: 16_384 - encoded.count)).write(
                to: URL(filePath: shop.path("old.part.ferry")))
            try shop.write("abc", to: "old.part")
            #expect(await shop.code { _ = try await manager.adopt(shop.path("old.part")) } == .disk)
            #expect(try await manager.downloadCount == 0)
            await manager.shutdown()
        }
    }

    @Test("Resume data: without the part file they start again only in a directory used by the session")
    func places() async throws {
        try await Workshop.run { shop in
            let resource = shop.serve(["/a", "/b"])
            for name in ["used", "unused"] {
                try FileManager.default.createDirectory(atPath: shop.path(name), withIntermediateDirectories: false)
            }
            let manager = shop.kept()
            let listed = try await manager.download(
                try shop.single("/b") { $0.destination = .directory(shop.path("used")) })
            try await shop.expectAll([listed], are: resource)
            func data(_ directory: String) throws -> ResumeData {
                try ResumeData(
                    id: DownloadID(rawValue: "id-\(directory)"), sources: [DownloadURL(shop.server.url("/a"))],
                    partPath: shop.path(directory + "/a.part"), totalBytes: 3_000_000, completedBytes: 9,
                    created: Date())
            }
            let refused = await shop.code { _ = try await manager.download(resumingWith: try data("unused")) }
            #expect(refused == .notResumable)
            #expect(try FileManager.default.contentsOfDirectory(atPath: shop.path("unused")) == [])
            #expect(try await manager.downloadCount == 1)
            let again = try await manager.download(resumingWith: try data("used"))
            try await shop.expectAll([again], are: resource)
            #expect(try await again.finished().path == shop.path("used/a"))
            await manager.shutdown()
        }
    }

    @Test(
        "Resume data: a path that is not that of a part file is refused",
        arguments: ["/a", "/a.part/", "/.part", "a.part", "/x/../a.part", "/a.part.ferry", "/a\0.part"])
    func paths(path: String) {
        #expect(throws: DownloadError.self) {
            try ResumeData(
                id: DownloadID(rawValue: "a"), sources: [DownloadURL("http://h/a")], partPath: path, totalBytes: 1,
                completedBytes: 0, created: Date())
        }
    }
}
