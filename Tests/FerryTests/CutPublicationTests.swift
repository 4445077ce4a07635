import FerryCore
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Publication cut after the rename", .timeLimit(.minutes(30)))
struct CutPublicationTests {
    private static let resource = Resource(size: 3_000_000)

    /// Leaves `a` published, with the journal that announced it, and a backup pair.
    private func cut(_ shop: Workshop) async throws {
        shop.server.serve("/a", Self.resource)
        let disk = FaultyFileSystem { what, path in
            what == .remove && path.string.hasSuffix("/a.part.ferry") ? .io : nil
        }
        _ = try await shop.get("/a", engine: shop.engine(fileSystem: disk)).file
        try shop.write("old", to: "a.part.old")
        // The backup journal of an earlier run: only its URL is that of the same download.
        let record = JournalRecord(
            id: "earlier", urls: [shop.server.url("/a")], name: "a", totalBytes: 3, identity: FileIdentity(),
            createdAt: 1)
        try Journal.create(
            at: FilePath(shop.path("a.part.ferry.old")), record: record, fileSystem: LocalFileSystem(), syncs: false
        ).close()
        #expect(shop.names == ["a", "a.part.ferry", "a.part.ferry.old", "a.part.old"])
    }

    @Test("Cut publication: the next run finds the file complete and removes backup files")
    func finished() async throws {
        try await Workshop.run { shop in
            try await cut(shop)
            let file = try await shop.get("/a").file
            #expect(file.wasAlreadyComplete)
            #expect(shop.names == ["a"])
        }
    }

    @Test(
        "Cut publication: a digest that is given now is verified against the published file", arguments: [false, true])
    func compared(byPart: Bool) async throws {
        try await Workshop.run { shop in
            try await cut(shop)
            var request = try shop.request("/a") {
                $0.checksum = try? Checksum(parsing: "sha256:" + shop.sha256(Self.resource))
            }
            if byPart { (request.sources, request.destination) = ([], .part(shop.path("a.part"))) }
            let file = try await shop.outcome(of: shop.manager(), request).file
            #expect(file.wasAlreadyComplete)
            #expect(file.proof == .digest)
            #expect(shop.names == ["a"])
        }
    }

    @Test(
        "Cut publication: a wrong digest is a checksum error, and the published file stays", arguments: [false, true])
    func wrong(byPart: Bool) async throws {
        try await Workshop.run { shop in
            try await cut(shop)
            var request = try shop.request("/a") {
                $0.checksum = try? Checksum(parsing: "sha256:" + String(repeating: "0", count: 64))
            }
            if byPart { (request.sources, request.destination) = ([], .part(shop.path("a.part"))) }
            let outcome = try await shop.outcome(of: shop.manager(), request)
            #expect(outcome.error?.code == .checksum)
            // The published file stays, and is not the result.
            shop.expect(shop.path("a"), is: Self.resource)
        }
    }
}
