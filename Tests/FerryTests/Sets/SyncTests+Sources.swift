import FerryCore
import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

extension SyncTests {
    @Test("Preview: tells what a sync would do and why, requests no file, and makes nothing")
    func preview() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            let manager = shop.manager()
            let url = try DownloadURL(shop.server.url("/pub/"))
            let place = shop.directory + "/new/set"
            func preview(_ change: (inout SyncOptions) -> Void = { _ in }) async throws -> SyncPreview {
                var options = SyncOptions()
                change(&options)
                return try await manager.previewSync(.url(url), into: place, options: options)
            }
            let first = try await preview()
            #expect(first.files.map(\.path) == ["a.bin", "big.bin", "sub/c d.bin", "sub/deep/e.bin"])
            #expect(first.files.allSatisfy { $0.action == .fetch && $0.cause == .missing && $0.totalBytes == nil })
            #expect(first.unknownSizes == 4 && first.fetchedBytes == 0)
            #expect(!FileManager.default.fileExists(atPath: shop.directory + "/new"))
            #expect(shop.server.requests.allSatisfy { $0.path.hasSuffix("/") })

            _ = try await manager.sync(.url(url), into: place)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: place + "/a.bin"))
            shop.server.serve("/pub/sub/", Self.page(["new.bin"]))
            let before = try FileManager.default.subpathsOfDirectory(atPath: place).sorted()
            let manifest = FileManager.default.contents(atPath: place + "/ferry-manifest.jsonl")
            let second = try await preview { $0.deletesGone = true }
            let told = second.files.map { "\($0.path) \($0.action) \($0.cause) \($0.totalBytes ?? -1)" }
            #expect(
                told == [
                    "a.bin leave changedHere 4", "big.bin check unproven 3500000", "sub/new.bin fetch missing -1",
                    "sub/c d.bin delete gone 1000", "sub/deep/e.bin delete gone 1000",
                ])
            #expect(try await preview { $0.replacesOthers = true }.files[0].cause == .replaced)
            #expect(try FileManager.default.subpathsOfDirectory(atPath: place).sorted() == before)
            #expect(FileManager.default.contents(atPath: place + "/ferry-manifest.jsonl") == manifest)
            await manager.shutdown()
        }
    }

    @Test(
        "Directory: one that is named with dots or several slashes is the same set, which is fetched, updated and verified",
        arguments: ["/set/.", "/./set", "/other/../set", "//set/", "/set"])
    func dottedDirectory(name: String) async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            let manager = shop.manager()
            let source = SetSource.url(try DownloadURL(shop.server.url("/pub/")))
            let named = shop.directory + name
            var options = SyncOptions()
            (options.deletesGone, options.backupDirectory) = (true, shop.directory + "/x/../old")
            let first = try await manager.sync(source, into: named, options: options)
            #expect(first.isComplete && first.fetchedCount == 4, "\(first)")
            shop.server.serve("/pub/a.bin", Resource(size: 2000, seed: 77))
            let second = try await manager.sync(source, into: named, options: options)
            #expect(second.isComplete && second.fetchedCount == 1 && second.unchangedCount == 3, "\(second)")
            #expect(FileManager.default.fileExists(atPath: shop.directory + "/old/a.bin"))
            for place in [named, shop.directory + "/set"] {
                let found = Collected<VerifiedFile>()
                try await DownloadManager.verify(place) { found.append($0) }
                #expect(found.all.count == 4 && found.all.allSatisfy(\.isIntact), "\(found.all)")
                let again = try await manager.sync(source, into: place, options: options)
                #expect(again.isComplete && again.unchangedCount == 4, "\(again)")
            }
            await manager.shutdown()
        }
    }

    @Test(
        "List: an ETag or a trusted date of another URL does not show that a file is unchanged, and a digest does",
        arguments: [#""etag":"\"v1\"""#, #""lastModified":"Sat, 28 Nov 2026 10:00:00 GMT""#])
    func evidenceOfAnotherURL(member: String) async throws {
        try await Workshop.run { shop in
            let other = Resource(size: 1000, seed: 2, etag: "\"v1\"")
            shop.server.serve("/a/f", Resource(size: 1000, seed: 1, etag: "\"v1\""))
            shop.server.serve("/b/f", other)
            func sync(_ path: String, _ member: String) async throws -> SyncReport {
                shop.server.serve(
                    "/list",
                    Resource(text: #"{"url":"\#(shop.server.url(path))","path":"f","size":1000,\#(member)}"# + "\n"))
                return try await Self.sync(shop, "/list") { $0.trustsListing = true }
            }
            #expect(try await sync("/a/f", member).fetchedCount == 1)
            let before = shop.server.requests.count
            #expect(try await sync("/a/f", member).unchangedCount == 1)
            #expect(shop.server.requests.dropFirst(before).map(\.path) == ["/list"])
            let moved = try await sync("/b/f", member)
            #expect(moved.isComplete && moved.fetchedCount == 1, "\(moved)")
            shop.expect(shop.path("f"), is: other)
            // The digest of the file is that of any URL; the file is repaired from the URL that is listed now.
            let digest = HexText.string(ByteDigest.of(other.bytes(0..<1000), .sha256))
            let asked = shop.server.requests.count
            #expect(try await sync("/a/f", #""sha256":"\#(digest)""#).unchangedCount == 1)
            #expect(shop.server.requests.dropFirst(asked).map(\.path) == ["/list"])
            #expect(try Self.records(shop).first?.urls == [shop.server.url("/a/f")])
        }
    }

    @Test("Excluded directories: their pages are not requested; a directory of the index without files is made")
    func directories() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            shop.server.serve("/pub/", Self.page(["a.bin", "sub/", "empty/"]))
            shop.server.serve("/pub/empty/", Self.page([]))
            let report = try await Self.sync(shop) { $0.filter = SetFilter(exclude: ["deep/"]) }
            #expect(report.isComplete && report.listedCount == 2, "\(report)")
            #expect(!shop.server.requests.contains { $0.path == "/pub/sub/deep/" })
            var isDirectory: ObjCBool = false
            #expect(FileManager.default.fileExists(atPath: shop.directory + "/empty", isDirectory: &isDirectory))
            #expect(isDirectory.boolValue && !FileManager.default.fileExists(atPath: shop.directory + "/sub/deep"))
        }
    }

    @Test(
        "A first page that leads elsewhere: on its server it is the set, without deletions; on another one nothing is")
    func redirected() async throws {
        try await Workshop.run { shop in
            try await OriginServer.with { other in
                Self.serveTree(shop)
                _ = try await Self.sync(shop)
                // As after the end of a session: the page to sign in has links too.
                shop.server.serve("/login/", Self.page(["logo.bin"]))
                shop.server.serve("/login/logo.bin", Resource(size: 10, seed: 5))
                shop.server.always("/pub/", .redirect(to: "/login/"))
                let moved = try await Self.sync(shop) { $0.deletesGone = true }
                #expect(moved.deleted.isEmpty && moved.gone.count == 4 && moved.fetchedCount == 1, "\(moved)")
                other.serve("/pub/", Self.page(["x.bin"]))
                other.serve("/pub/x.bin", Resource(size: 10, seed: 6))
                shop.server.always("/pub/", .redirect(to: other.url("/pub/")))
                let error = await #expect(throws: DownloadError.self) { try await Self.sync(shop) }
                #expect(error?.message.contains("leads to another server") == true, "\(String(describing: error))")
                #expect(!other.requests.contains { $0.path == "/pub/x.bin" })
                // A list there is of the files below the address that was given.
                let digest = HexText.string(ByteDigest.of(Resource(size: 1000, seed: 1).bytes(0..<1000), .sha256))
                other.serve("/cdn/1234", Resource(text: "\(digest)  a.bin\n"))
                shop.server.serve("/pub/SUMS", Resource(text: ""))
                shop.server.always("/pub/SUMS", .redirect(to: other.url("/cdn/1234")))
                let list = try await Self.sync(shop, "/pub/SUMS")
                #expect(list.isComplete && list.listedCount == 1, "\(list)")
            }
        }
    }

    @Test("Repair: the directory of a missing file is made again")
    func missingDirectory() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            _ = try await Self.sync(shop)
            try FileManager.default.removeItem(atPath: shop.directory + "/sub")
            let found = Collected<VerifiedFile>()
            try await DownloadManager.verify(shop.directory) { found.append($0) }
            let missing = found.all.filter { !$0.isIntact }
            #expect(missing.count == 2 && missing.allSatisfy { $0.state == .missing })
            let template = DownloadRequest(sources: [], destination: .directory(shop.directory))
            for file in missing {
                let request = try await DownloadManager.repair(file, with: template)
                _ = try await shop.outcome(of: shop.manager(), request).result.get()
            }
            try await DownloadManager.verify(shop.directory) { #expect($0.isIntact) }
        }
    }

    @Test("Digests of a file that was complete: computed and recorded by the next run, and not twice")
    func recordedLater() async throws {
        try await Workshop.run { shop in
            let big = Resource(size: 2_500_000, seed: 3)
            let small = Resource(size: 1000, seed: 4)
            shop.server.serve("/big.bin", big)
            shop.server.serve("/small.bin", small)
            for (name, resource) in [("big.bin", big), ("small.bin", small)] {
                var request = DownloadRequest(
                    sources: [try DownloadURL(shop.server.url("/" + name))],
                    destination: .file(shop.directory + "/" + name))
                let first = try await shop.outcome(of: shop.manager(), request).result.get()
                #expect(first.checksum == nil)
                request.recordsDigests = true
                let second = try await shop.outcome(of: shop.manager(), request).result.get()
                #expect(second.wasAlreadyComplete)
                #expect(second.checksum?.bytes == ByteDigest.of(resource.bytes(0..<resource.size), .sha256))
                let found = Collected<VerifiedFile>()
                try await DownloadManager.verify(shop.directory + "/" + name) { found.append($0) }
                #expect(found.all.map(\.state) == [.intact])
                let beside = shop.directory + "/.\(name).ferry-digests"
                let time = try? FileManager.default.attributesOfItem(atPath: beside)[.modificationDate] as? Date
                let third = try await shop.outcome(of: shop.manager(), request).result.get()
                #expect(third.checksum == second.checksum)
                #expect(
                    (try? FileManager.default.attributesOfItem(atPath: beside)[.modificationDate] as? Date) == time)
            }
            // Damage is found and costs one piece.
            let handle = try #require(FileHandle(forUpdatingAtPath: shop.directory + "/big.bin"))
            try handle.write(contentsOf: Data("damage".utf8))
            try handle.close()
            let found = Collected<VerifiedFile>()
            try await DownloadManager.verify(shop.directory + "/big.bin") { found.append($0) }
            #expect(found.all.first?.damagedBytes == 1 << 20)
        }
    }

    @Test("A finished file stays although the server answers with something shorter that has no validator")
    func answerInPlaceOfFile() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/pub/", Self.page(["a.bin", "b.bin"]))
            let good = Resource(size: 5000, seed: 1)
            for name in ["a.bin", "b.bin"] { shop.server.serve("/pub/" + name, good) }
            #expect(try await Self.sync(shop).isComplete)
            shop.server.serve("/pub/a.bin", Resource(text: #"{"error":"quota"}"#, contentType: "application/json"))
            shop.server.serve("/pub/b.bin", Resource(text: ""))
            let second = try await Self.sync(shop)
            #expect(second.fetchedCount == 0 && Set(second.incomplete.map(\.path)) == ["a.bin", "b.bin"])
            for name in ["a.bin", "b.bin"] {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: shop.directory + "/" + name))
                #expect(bytes == Data(good.bytes(0..<5000)))
            }
            // Another version has a validator of its own.
            shop.server.serve("/pub/a.bin", Resource(size: 20, seed: 2))
            shop.server.serve("/pub/b.bin", good)
            let third = try await Self.sync(shop)
            #expect(third.isComplete && third.fetchedCount == 1, "\(third)")
        }
    }
}
