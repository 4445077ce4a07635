import FerryCore
import FerryTesting
import Foundation
import Testing

@testable import Ferry
@testable import FerryEngine

@Suite("Sets of files", .timeLimit(.minutes(30)))
struct SyncTests {
    /// A page as nginx writes it, with what must not be followed.
    static func page(_ names: [String]) -> Resource {
        let links = names.map { "<a href=\"\($0)\">\($0)</a>  01-Jan-2026 00:00   5\r\n" }.joined()
        return Resource(
            text:
                "<html><body><!-- <a href=\"no\">no</a> --><a href=\"?C=N&amp;O=D\">Name</a><a href=\"../\">../</a>\(links)</body></html>",
            contentType: "text/html")
    }

    static func sync(
        _ shop: Workshop, _ path: String = "/pub/", attempts: Int = 1, _ change: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> SyncReport {
        let manager = shop.manager { $0.maxRetries = attempts }
        var options = SyncOptions()
        change(&options)
        do {
            let report = try await manager.sync(
                .url(try DownloadURL(shop.server.url(path))), into: shop.directory, options: options)
            await manager.shutdown()
            return report
        } catch {
            await manager.shutdown()
            throw error
        }
    }

    private static func names(_ shop: Workshop) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: shop.directory).filter { path in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: shop.directory + "/" + path, isDirectory: &isDirectory)
                && !isDirectory.boolValue
        }.sorted()
    }

    static func records(_ shop: Workshop) throws -> [FileRecord] {
        let text = try String(contentsOfFile: shop.directory + "/ferry-manifest.jsonl", encoding: .utf8)
        let lines = text.split(separator: "\n")
        #expect(lines.last?.hasPrefix("{\"files\":") == true)
        return try lines.dropLast().map { try JSONDecoder().decode(FileRecord.self, from: Data($0.utf8)) }
    }

    static func serveTree(_ shop: Workshop) {
        shop.server.serve(
            "/pub/", page(["a.bin", "big.bin", "sub/", "/etc/passwd", "http://other.example/x", "%2e%2e/x"]))
        shop.server.serve("/pub/sub/", page(["c%20d.bin", "deep/"]))
        shop.server.serve("/pub/sub/deep/", page(["e.bin"]))
        for (index, path) in ["a.bin", "sub/c%20d.bin", "sub/deep/e.bin"].enumerated() {
            shop.server.serve("/pub/" + path, Resource(size: 1000, seed: UInt64(index + 1)))
        }
        shop.server.serve("/pub/big.bin", Resource(size: 3_500_000, seed: 9))
    }

    #if os(Linux)
        @Test("Sync: canonically equivalent names are two files, and one that the source renames is gone")
        func equivalentNames() async throws {
            try await Workshop.run { shop in
                let (composed, decomposed) = ("caf%C3%A9.bin", "cafe%CC%81.bin")
                for (seed, name) in [composed, decomposed].enumerated() {
                    shop.server.serve("/pub/" + name, Resource(size: 1000, seed: UInt64(seed + 1)))
                }
                shop.server.serve("/pub/", Self.page([composed, decomposed]))
                let report = try await Self.sync(shop)
                #expect(report.fetchedCount == 2 && report.incomplete.isEmpty && report.problems == [])
                #expect(try Self.records(shop).count == 2)
                shop.server.serve("/pub/", Self.page([composed]))
                let next = try await Self.sync(shop) { $0.deletesGone = true }
                #expect(next.deleted.map { Array($0.utf8) } == [Array("cafe\u{301}.bin".utf8)])
                let left = try Self.names(shop).filter { $0.hasSuffix(".bin") }
                #expect(left.map { Array($0.utf8) } == [Array("caf\u{E9}.bin".utf8)])
            }
        }
    #endif

    @Test("Index page: all files below it, a manifest with digests; a second run fetches nothing, a third what changed")
    func index() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            let first = try await Self.sync(shop)
            #expect(first.isComplete && first.listedCount == 4 && first.fetchedCount == 4, "\(first)")
            #expect(
                try Self.names(shop) == [
                    ".big.bin.ferry-digests", "a.bin", "big.bin", "ferry-manifest.jsonl", "sub/c d.bin",
                    "sub/deep/e.bin",
                ])
            let records = try Self.records(shop)
            #expect(records.map(\.path) == ["a.bin", "big.bin", "sub/c d.bin", "sub/deep/e.bin"])
            let big = Resource(size: 3_500_000, seed: 9)
            #expect(records[1].checksum?.bytes == ByteDigest.of(big.bytes(0..<big.size), .sha256))
            #expect(records.allSatisfy { $0.proof != nil && $0.modified != nil && $0.etag != nil })
            // Nothing beside the tree was requested.
            #expect(shop.server.requests.allSatisfy { $0.path.hasPrefix("/pub/") && $0.path != "/pub/no" })

            let before = shop.server.bodyBytes("/pub/big.bin")
            let second = try await Self.sync(shop)
            #expect(second.isComplete && second.unchangedCount == 4 && second.fetchedCount == 0, "\(second)")
            #expect(shop.server.bodyBytes("/pub/big.bin") == before)

            let new = Resource(size: 2000, seed: 77)
            shop.server.serve("/pub/a.bin", new)
            let third = try await Self.sync(shop)
            #expect(third.isComplete && third.fetchedCount == 1 && third.unchangedCount == 3, "\(third)")
            #expect(FileManager.default.contents(atPath: shop.directory + "/a.bin") == Data(new.bytes(0..<2000)))
        }
    }

    /// A page as nginx writes it, with the date and size of each file.
    private static func dated(_ files: [(name: String, date: String, size: Int64)]) -> Resource {
        let rows = files.map { "<a href=\"\($0.name)\">\($0.name)</a>   \($0.date)   \($0.size)\r\n" }.joined()
        return Resource(text: "<html><pre><a href=\"../\">../</a>\r\n\(rows)</pre></html>", contentType: "text/html")
    }

    @Test("Trusted list: files with the same date and size are not asked for, others are; the manifest says which")
    func trustedListing() async throws {
        try await Workshop.run { shop in
            let old = "28-Nov-2026 10:00"
            func serve(_ files: [(name: String, date: String, size: Int64, seed: UInt64)], at paths: [String]) {
                shop.server.serve("/pub/", Self.dated(files.map { ($0.name, $0.date, $0.size) }))
                for file in files where paths.contains(file.name) {
                    shop.server.serve("/pub/" + file.name, Resource(size: 1000, seed: file.seed))
                }
            }
            // The size of `c` is not that of its bytes, so its row is no evidence.
            let files: [(name: String, date: String, size: Int64, seed: UInt64)] = [
                ("a", old, 1000, 1), ("b", old, 1000, 2), ("c", old, 999, 3),
            ]
            serve(files, at: ["a", "b", "c"])
            #expect(try await Self.sync(shop).fetchedCount == 3)
            #expect(try Self.records(shop).map(\.listed) == ["\(old) 1000", "\(old) 1000", nil])
            #expect(try Self.records(shop).allSatisfy { $0.currentBy == nil })

            var changed = files
            (changed[1].date, changed[1].seed) = ("29-Nov-2026 10:00", 9)
            serve(changed, at: ["b"])
            let before = shop.server.requests.count
            let report = try await Self.sync(shop) { $0.trustsListing = true }
            #expect(report.isComplete && report.fetchedCount == 1 && report.unchangedCount == 2, "\(report)")
            #expect(Set(shop.server.requests.dropFirst(before).map(\.path)) == ["/pub/", "/pub/b", "/pub/c"])
            #expect(try Self.records(shop).map(\.currentBy) == ["listing", nil, nil])
            #expect(
                FileManager.default.contents(atPath: shop.path("b"))
                    == Data(Resource(size: 1000, seed: 9).bytes(0..<1000)))
            // Without trust the server is asked again, and the manifest says so.
            let asked = shop.server.requests.count
            #expect(try await Self.sync(shop).unchangedCount == 3)
            #expect(Set(shop.server.requests.dropFirst(asked).map(\.path)) == ["/pub/", "/pub/a", "/pub/b", "/pub/c"])
            #expect(try Self.records(shop).allSatisfy { $0.currentBy == nil })
        }
    }

    @Test("Sync: a pattern that matches no file of the source is told, and one of a pruned directory counts as used")
    func unusedPatterns() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            let report = try await Self.sync(shop) {
                $0.filter = SetFilter(exclude: ["/sub/", "/deep/", "*.nothing", "big*"])
            }
            #expect(report.isComplete && report.fetchedCount == 1, "\(report)")
            #expect(report.unusedPatterns == ["/deep/", "*.nothing"])
        }
    }

    @Test(
        "Verify: files of the directory that are not of the set are named, without Ferry's own and those of another set"
    )
    func extraFiles() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            _ = try await Self.sync(shop)
            for path in ["extra", "sub/.hidden", "other/x", "other/ferry-manifest.jsonl", "sub/y.part", "e/m/p/t/y"] {
                let url = URL(filePath: shop.path(path))
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data("x".utf8).write(to: url)
            }
            try FileManager.default.createSymbolicLink(atPath: shop.path("link"), withDestinationPath: "/")
            let found = Collected<VerifiedFile>()
            try await DownloadManager.verify(shop.directory) { found.append($0) }
            #expect(found.all.count { $0.isIntact } == 4)
            let extras = found.all.filter { $0.state == .extra }.map {
                String($0.path.dropFirst(shop.directory.count + 1))
            }
            #expect(extras == ["e/m/p/t/y", "extra", "link", "sub/.hidden"])
        }
    }

    @Test(
        "Sync: a symbolic link or a directory with the name of a file is left, also when others are replaced, and told before"
    )
    func inTheWay() async throws {
        try await Workshop.run { shop in
            for name in ["link", "directory", "file"] {
                shop.server.serve("/pub/" + name, Resource(size: 1000, seed: 1))
            }
            shop.server.serve("/pub/", Self.page(["link", "directory", "file"]))
            try Data("mine".utf8).write(to: URL(filePath: shop.path("mine")))
            try FileManager.default.createSymbolicLink(atPath: shop.path("link"), withDestinationPath: "mine")
            try FileManager.default.createDirectory(atPath: shop.path("directory"), withIntermediateDirectories: false)
            let manager = shop.manager()
            let preview = try await manager.previewSync(
                .url(try DownloadURL(shop.server.url("/pub/"))), into: shop.directory)
            await manager.shutdown()
            #expect(preview.files.map(\.action) == [.leave, .leave, .fetch])
            let report = try await Self.sync(shop) { $0.replacesOthers = true }
            #expect(report.incomplete.map(\.path) == ["directory", "link"] && report.fetchedCount == 1, "\(report)")
            #expect(report.incomplete.allSatisfy { $0.error?.phrase?.key == .inTheWay })
            #expect(FileManager.default.contents(atPath: shop.path("mine")) == Data("mine".utf8))
        }
    }

    @Test("Index page: one of 20 MB is read, and its links are bounded by their number")
    func largePage() async throws {
        try await Workshop.run { shop in
            let names = (0..<300).map { "f\($0)" }
            let padding = String(repeating: " ", count: 64 << 10)
            shop.server.serve(
                "/pub/",
                Resource(
                    text: "<html>" + names.map { "<a href=\"\($0)\">\($0)</a>\(padding)" }.joined(),
                    contentType: "text/html"))
            for name in ["f0", "f299"] { shop.server.serve("/pub/" + name, Resource(size: 1000, seed: 1)) }
            let report = try await Self.sync(shop) { $0.filter = SetFilter(include: ["f0", "f299"]) }
            #expect(report.isComplete && report.fetchedCount == 2, "\(report)")
            let manager = shop.manager()
            var reader = SetReader(manager: manager, options: SyncOptions())
            reader.limits.entries = 100
            let listing = try await reader.read(.url(try DownloadURL(shop.server.url("/pub/"))))
            await manager.shutdown()
            #expect(listing.entries.count < 100 && listing.problems.count == 1)
        }
    }

    @Test("Sync: new files are requested before those that the server is asked about")
    func order() async throws {
        try await Workshop.run { shop in
            for (seed, name) in ["a", "b", "c", "d"].enumerated() {
                shop.server.serve("/pub/" + name, Resource(size: 1000, seed: UInt64(seed)))
            }
            shop.server.serve("/pub/", Self.page(["a", "c"]))
            _ = try await Self.sync(shop)
            shop.server.serve("/pub/", Self.page(["a", "b", "c", "d"]))
            let manager = shop.manager()
            let sync = try await SetSync(
                of: .url(try DownloadURL(shop.server.url("/pub/"))), into: .directory(shop.directory),
                options: SyncOptions(),
                manager: manager)
            #expect(sync.requests.map { $0.sources[0].path } == ["/pub/b", "/pub/d", "/pub/a", "/pub/c"])
            _ = try await sync.finish()
            await manager.shutdown()
        }
    }

    @Test(
        "A file that another program changes while its server confirms the record is incomplete, and keeps its record")
    func changedMeanwhile() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/pub/a", Resource(size: 1000))
            shop.server.serve("/pub/", Self.page(["a"]))
            _ = try await Self.sync(shop)
            let earlier = try Self.records(shop)
            let manager = shop.manager()
            let sync = try await SetSync(
                of: .url(try DownloadURL(shop.server.url("/pub/"))), into: .directory(shop.directory),
                options: SyncOptions(), manager: manager)
            let request = try #require(sync.requests.first)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: shop.directory + "/a"))
            let outcome: SmallDownload.Outcome? = await withCheckedContinuation { continuation in
                let download = manager.smallDownload(request) { continuation.resume(returning: $0) }
                guard let download else { return continuation.resume(returning: nil) }
                manager.start(download)
            }
            guard case .finished(let file, _)? = outcome else {
                Issue.record("it was not confirmed")
                return
            }
            #expect(file.wasAlreadyComplete && file.checksum == nil)
            await sync.completed(file)
            let report = try await sync.finish()
            #expect(report.incomplete.map(\.path) == ["a"])
            #expect(try Self.records(shop).first?.checksum == earlier.first?.checksum)
            await manager.shutdown()
            let again = try await Self.sync(shop)
            #expect(again.incomplete.map(\.path) == ["a"])
            #expect(FileManager.default.contents(atPath: shop.directory + "/a") == Data("mine".utf8))
        }
    }

    @Test("Files of others: never replaced unless asked, and one that is the same is adopted")
    func others() async throws {
        try await Workshop.run { shop in
            let (a, b) = (Resource(size: 1000, seed: 1), Resource(size: 1000, seed: 2))
            shop.server.serve("/r/a.bin", a)
            shop.server.serve("/r/b.bin", b)
            func line(_ resource: Resource, _ name: String) -> String {
                HexText.string(ByteDigest.of(resource.bytes(0..<1000), .sha256)) + "  \(name)\n"
            }
            shop.server.serve("/r/SUMS", Resource(text: line(a, "a.bin") + line(b, "b.bin")))
            try Data("mine".utf8).write(to: URL(fileURLWithPath: shop.directory + "/a.bin"))
            try Data(b.bytes(0..<1000)).write(to: URL(fileURLWithPath: shop.directory + "/b.bin"))
            let first = try await Self.sync(shop, "/r/SUMS")
            #expect(first.incomplete.map(\.path) == ["a.bin"] && first.unchangedCount == 1, "\(first)")
            #expect(FileManager.default.contents(atPath: shop.directory + "/a.bin") == Data("mine".utf8))
            #expect(shop.server.bodyBytes("/r/b.bin") == 0)
            #expect(try Self.records(shop).first?.problem != nil)
            let second = try await Self.sync(shop, "/r/SUMS") { $0.replacesOthers = true }
            #expect(second.isComplete && second.fetchedCount == 1 && second.unchangedCount == 1, "\(second)")
            // By the digests of the list alone: no request.
            let count = shop.server.requests.count
            let third = try await Self.sync(shop, "/r/SUMS")
            #expect(third.isComplete && third.unchangedCount == 2 && shop.server.requests.count == count + 1)
        }
    }

    @Test("Gone files: kept and named; deleted on request if unchanged here and the list was read whole")
    func gone() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            _ = try await Self.sync(shop)
            shop.server.serve("/pub/", Self.page(["sub/"]))
            try Data("changed".utf8).write(to: URL(fileURLWithPath: shop.directory + "/a.bin"))
            let kept = try await Self.sync(shop)
            #expect(kept.gone == ["a.bin", "big.bin"] && kept.deleted.isEmpty, "\(kept)")
            // A page that fails: what is below it is not gone.
            shop.server.always("/pub/sub/", .status(503))
            let failed = try? await Self.sync(shop) { $0.deletesGone = true }
            #expect(failed == nil)
            shop.server.always("/pub/sub/", .honest)
            shop.server.always("/pub/sub/deep/", .status(503))
            let part = try await Self.sync(shop) { $0.deletesGone = true }
            #expect(part.deleted.isEmpty && part.problems.count == 1 && !part.isComplete, "\(part)")
            shop.server.always("/pub/sub/deep/", .honest)
            let deleted = try await Self.sync(shop) { $0.deletesGone = true }
            #expect(deleted.deleted == ["big.bin"] && deleted.gone == ["a.bin"], "\(deleted)")
            #expect(
                try Self.names(shop) == ["a.bin", "ferry-manifest.jsonl", "sub/c d.bin", "sub/deep/e.bin"])
        }
    }

    /// The directory's files were deleted, and the empty directory stayed in the way for good.
    @Test(
        "Gone files: a directory that becomes a file makes way for it, and a file for a directory, if both are deleted")
    func exchangedKinds() async throws {
        try await Workshop.run { shop in
            func serve(_ pages: [String: [String]]) {
                for (path, names) in pages { shop.server.serve("/pub/" + path, Self.page(names)) }
                for path in ["x", "y/f", "y/deep/g", "x/in", "y"] {
                    shop.server.serve("/pub/" + path, Resource(size: 1000, seed: UInt64(path.utf8.count)))
                }
            }
            func serveOld() { serve(["": ["x", "y/"], "y/": ["f", "deep/"], "y/deep/": ["g"]]) }
            func serveNew() { serve(["": ["x/", "y"], "x/": ["in"]]) }
            serveOld()
            #expect(try await Self.sync(shop).fetchedCount == 3)
            serveNew()
            let kept = try await Self.sync(shop)
            #expect(kept.incomplete.map(\.path) == ["x/in", "y"] && kept.gone == ["x", "y/deep/g", "y/f"], "\(kept)")
            #expect(kept.incomplete.allSatisfy { $0.error?.phrase?.key == .inTheWay }, "\(kept)")
            let manager = shop.manager()
            let preview = try await manager.previewSync(
                .url(try DownloadURL(shop.server.url("/pub/"))), into: shop.directory)
            await manager.shutdown()
            #expect(preview.files.map(\.action) == [.leave, .leave, .leave, .leave, .leave], "\(preview)")
            let found = Collected<VerifiedFile>()
            try await DownloadManager.verify(shop.directory) { found.append($0) }
            let missing = found.all.filter { $0.state == .missing }.map(\.path)
            #expect(missing.sorted() == [shop.path("x/in"), shop.path("y")], "\(found.all)")

            let exchanged = try await Self.sync(shop) { $0.deletesGone = true }
            #expect(exchanged.isComplete && exchanged.fetchedCount == 2, "\(exchanged)")
            #expect(exchanged.deleted == ["x", "y/deep/g", "y/f"] && exchanged.gone == [], "\(exchanged)")
            #expect(try Self.names(shop) == ["ferry-manifest.jsonl", "x/in", "y"])
            // In reverse, with a file of the user in one of the directories.
            try Data("mine".utf8).write(to: URL(filePath: shop.path("x/mine")))
            serveOld()
            let left = try await Self.sync(shop) { $0.deletesGone = true }
            #expect(left.incomplete.map(\.path) == ["x"] && left.fetchedCount == 2, "\(left)")
            #expect(left.error("x")?.phrase?.key == .inTheWay && left.deleted == ["x/in", "y"], "\(left)")
            #expect(try Self.names(shop) == ["ferry-manifest.jsonl", "x/mine", "y/deep/g", "y/f"])
        }
    }

    /// They stayed in the way for good, because no file of the set is below them any more.
    @Test("Gone files: emptied directories make way for a file with deletion, if no file of the user is in them")
    func emptiedDirectories() async throws {
        try await Workshop.run { shop in
            func serve(_ pages: [String: [String]]) {
                for (path, names) in pages { shop.server.serve("/pub/" + path, Self.page(names)) }
            }
            for path in ["other", "y/f", "y/deep/g"] {
                shop.server.serve("/pub/" + path, Resource(size: 1000, seed: UInt64(path.utf8.count)))
            }
            serve(["": ["other", "y/"], "y/": ["f", "deep/"], "y/deep/": ["g"]])
            #expect(try await Self.sync(shop).fetchedCount == 3)
            serve(["": ["other"]])
            #expect(try await Self.sync(shop) { $0.deletesGone = true }.deleted == ["y/deep/g", "y/f"])
            #expect(FileManager.default.fileExists(atPath: shop.path("y/deep")))
            serve(["": ["other", "y"]])
            shop.server.serve("/pub/y", Resource(size: 1000, seed: 7))
            let kept = try await Self.sync(shop)
            #expect(kept.incomplete.map(\.path) == ["y"] && kept.error("y")?.phrase?.key == .inTheWay, "\(kept)")
            let mine = shop.path("y/deep/mine")
            try Data("mine".utf8).write(to: URL(filePath: mine))
            let left = try await Self.sync(shop) { $0.deletesGone = true }
            #expect(left.incomplete.map(\.path) == ["y"] && left.error("y")?.phrase?.key == .inTheWay, "\(left)")
            #expect(FileManager.default.contents(atPath: mine) == Data("mine".utf8))
            try FileManager.default.removeItem(atPath: mine)
            let replaced = try await Self.sync(shop) { $0.deletesGone = true }
            #expect(replaced.isComplete && replaced.fetchedCount == 1 && replaced.deleted == [], "\(replaced)")
            #expect(try Self.names(shop) == ["ferry-manifest.jsonl", "other", "y"])
        }
    }

    /// A page or list without a length that was cut short counted as whole, and so did the message of a busy server.
    @Test("Gone files: nothing is deleted because of a page that may be cut short or lists nothing, or of such a list")
    func goneUnproven() async throws {
        try await Workshop.run { shop in
            func page(_ text: String, _ framing: Resource.Framing = .close) -> Resource {
                var page = Resource(text: text, contentType: "text/html")
                page.framing = framing
                return page
            }
            let end = "</body></HTML>\r\n"
            let deep = "<html><body><a href=\"../\">../</a><a href=\"deep/\">deep/</a>"
            for (path, resource, deleted) in [
                ("/pub/", page("<html><body><a href=\"a.bin\">a.bin</a>"), []),
                ("/pub/sub/", page(deep), []), ("/pub/sub/", page(deep + "</body></ht"), []),
                ("/pub/sub/", page("", .length), []), ("/pub/sub/", page(""), []),
                ("/pub/sub/", page("<html><body>Temporarily overloaded, try later" + end, .length), []),
                // Pages to sign in, in place of the directory.
                ("/pub/sub/", page(#"<html><form><a href="/">home</a><a href="/help">help</a>"#, .length), []),
                ("/pub/sub/", page(#"<html><ul></ul><a href="../">up</a><a href="/help">help</a>"#, .length), []),
                ("/pub/sub/", page(#"<html><a href="http://sso.test/">sign in</a>"#, .length), []),
                ("/pub/sub/", page(#"<html><input TYPE="Password"><a href="deep/">deep</a>"#, .length), []),
                ("/pub/", page(#"<html><input type=password><a href="a.bin">a</a>"#, .length), []),
                (
                    "/pub/sub/", page(#"<html><a href="../">../</a><a href="http://maker.test/">x</a>"#, .length),
                    ["sub/c d.bin", "sub/deep/e.bin"]
                ),
                ("/pub/sub/", page(deep + end), ["sub/c d.bin"]),
                ("/pub/sub/", page(deep, .chunked(10)), ["sub/c d.bin"]),
                ("/pub/sub/", page("<html><body><ul>\n</ul>", .length), ["sub/c d.bin", "sub/deep/e.bin"]),
            ] as [(String, Resource, [String])] {
                Self.serveTree(shop)
                _ = try await Self.sync(shop)
                shop.server.serve(path, resource)
                let report = try await Self.sync(shop) { $0.deletesGone = true }
                #expect(report.deleted == deleted, "\(report)")
                #expect(report.problems.count == (deleted.isEmpty ? 1 : 0), "\(report)")
                #expect(report.problems.allSatisfy { $0.contains(path) } && report.incomplete.isEmpty, "\(report)")
            }
        }
        try await Workshop.run { shop in
            for name in ["a.bin", "b.bin"] { shop.server.serve("/r/" + name, Resource(size: 1000, seed: 1)) }
            func serve(_ names: [String], _ framing: Resource.Framing, last: String = "") {
                let lines = names.map { "{\"path\":\"\($0)\"}\n" }.joined()
                var list = Resource(text: lines + last)
                list.framing = framing
                shop.server.serve("/r/list.jsonl", list)
            }
            serve(["a.bin", "b.bin"], .length)
            #expect(try await Self.sync(shop, "/r/list.jsonl").fetchedCount == 2)
            serve(["a.bin"], .close)
            let kept = try await Self.sync(shop, "/r/list.jsonl") { $0.deletesGone = true }
            #expect(kept.deleted == [] && kept.gone == ["b.bin"] && kept.problems.count == 1, "\(kept)")
            serve(["a.bin"], .close, last: "{\"files\":1}\n")
            let deleted = try await Self.sync(shop, "/r/list.jsonl") { $0.deletesGone = true }
            #expect(deleted.deleted == ["b.bin"] && deleted.isComplete, "\(deleted)")
        }
    }

    /// It counted as an index page, because its links are below the first page, and all files counted as gone.
    @Test(
        "Gone files: nothing is deleted because of a page without the form of a list, also once the set has the page's links"
    )
    func goneDoubtful() async throws {
        try await Workshop.run { shop in
            func serve(_ page: String) {
                shop.server.serve("/pub/", Resource(text: "<html>\(page)</html>", contentType: "text/html"))
            }
            Self.serveTree(shop)
            _ = try await Self.sync(shop)
            shop.server.serve("/pub/help.bin", Resource(size: 10, seed: 5))
            serve(#"<form><input name="mail"></form><a href="help.bin">Help</a>"#)
            for fetched in [1, 0] {
                let report = try await Self.sync(shop) { $0.deletesGone = true }
                #expect(report.deleted == [] && report.gone.count == 4 && report.fetchedCount == fetched, "\(report)")
                #expect(report.problems.count == 1 && report.problems[0].contains("/pub/ does not have"), "\(report)")
            }
            let plain = try await Self.sync(shop)
            #expect(plain.isComplete && plain.gone.count == 4, "\(plain)")
            // The page of a file's own directory decides.
            let links = ["help.bin", "a.bin", "big.bin", "sub/"].map { #"<a href="\#($0)">See</a>"# }
            serve(links.joined())
            shop.server.serve("/pub/sub/", Self.page(["deep/"]))
            let below = try await Self.sync(shop) { $0.deletesGone = true }
            #expect(below.isComplete && below.deleted == ["sub/c d.bin"], "\(below)")
            serve(links.dropFirst().joined())
            let kept = try await Self.sync(shop) { $0.deletesGone = true }
            #expect(kept.deleted == [] && kept.gone == ["help.bin"] && kept.problems.count == 1, "\(kept)")
        }
    }

    /// Its files counted as gone if the other page was below the first one, even if it was the first one itself.
    @Test(
        "Gone files: nothing is deleted because of a directory that redirects to another page",
        arguments: ["/login", "/pub/", "/pub/other/", "/pub/sub/login/"])
    func goneRedirected(target: String) async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            shop.server.serve("/login", Resource(text: #"<html><a href="/forgot">x</a>"#, contentType: "text/html"))
            for path in ["/pub/other/", "/pub/sub/login/"] {
                shop.server.serve(path, Self.page(["x.bin"]))
                shop.server.serve(path + "x.bin", Resource(size: 10, seed: 5))
            }
            _ = try await Self.sync(shop)
            shop.server.always("/pub/sub/", .redirect(to: target))
            let report = try await Self.sync(shop) { $0.deletesGone = true }
            #expect(report.deleted == [] && report.gone == ["sub/c d.bin", "sub/deep/e.bin"], "\(report)")
            #expect(report.problems.count == 1 && report.problems[0].contains("/pub/sub/ leads to"), "\(report)")
            // What the other page lists is in the set, if it is below the first one.
            #expect(report.incomplete.isEmpty && report.fetchedCount == (target.utf8.count > 6 ? 1 : 0), "\(report)")
        }
    }

    /// The files had other paths below the parent, and counted as gone.
    @Test("Gone files: nothing is deleted because a source redirects to its parent, or a list to an index page")
    func goneParent() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            _ = try await Self.sync(shop, "/pub/sub/")
            shop.server.serve("/pub/", Self.page(["a.bin"]))
            shop.server.always("/pub/sub/", .redirect(to: "/pub/"))
            let report = try await Self.sync(shop, "/pub/sub/") { $0.deletesGone = true }
            #expect(report.deleted == [] && report.gone == ["c d.bin", "deep/e.bin"], "\(report)")
        }
        try await Workshop.run { shop in
            Self.serveTree(shop)
            shop.server.serve("/pub/list.jsonl", Resource(text: #"{"path":"big.bin"}"# + "\n"))
            _ = try await Self.sync(shop, "/pub/list.jsonl")
            shop.server.serve("/pub/", Self.page(["a.bin"]))
            shop.server.always("/pub/list.jsonl", .redirect(to: "/pub/"))
            let error = await #expect(throws: DownloadError.self) {
                try await Self.sync(shop, "/pub/list.jsonl") { $0.deletesGone = true }
            }
            #expect(
                error?.phrase?.key == .setLeadsElsewhere && FileManager.default.fileExists(atPath: shop.path("big.bin"))
            )
        }
    }

    /// The page was stored as the file.
    @Test("Index page: a link to a directory without its slash is incomplete, and left out beside one with it")
    func withoutSlash() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/pub/", Self.page(["link", "both", "both/"]))
            for name in ["link", "both"] {
                shop.server.serve("/pub/\(name)/", Self.page(["f"]))
                shop.server.serve("/pub/\(name)/f", Resource(size: 10, seed: 1))
                shop.server.serve("/pub/" + name, Resource(size: 10, seed: 2))
                shop.server.always("/pub/" + name, .redirect(to: "/pub/\(name)/"))
            }
            let report = try await Self.sync(shop)
            #expect(report.incomplete.map(\.path) == ["link"] && report.fetchedCount == 1, "\(report)")
            #expect(report.problems.count == 1 && report.problems[0].contains("/pub/both is left out"), "\(report)")
            #expect(try Self.names(shop) == ["both/f", "ferry-manifest.jsonl"])
        }
    }

    @Test("Index page: the records of a source that is itself the copy of a set are neither files nor problems")
    func copyOfCopy() async throws {
        try await Workshop.run { shop in
            for name in ["a.bin", "ferry-manifest.jsonl", ".a.bin.ferry-digests"] {
                shop.server.serve("/pub/" + name, Resource(size: 1000, seed: 1))
            }
            shop.server.serve("/pub/", Self.page(["a.bin", "ferry-manifest.jsonl", ".a.bin.ferry-digests"]))
            let report = try await Self.sync(shop)
            #expect(report.isComplete && report.listedCount == 1 && report.renamed == [], "\(report)")
            #expect(Set(shop.server.requests.map(\.path)) == ["/pub/", "/pub/a.bin"])
        }
    }

    /// Its last line was a problem, and one without its last lines counted as whole.
    @Test("Manifest as list: the set is copied, and nothing is deleted because of one that was cut short")
    func manifestAsList() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            _ = try await Self.sync(shop)
            let text = try String(contentsOfFile: shop.path("ferry-manifest.jsonl"), encoding: .utf8)
            let copy = shop.path("copy")
            func sync(_ text: String) async throws -> SyncReport {
                try Data(text.utf8).write(to: URL(filePath: shop.path("list.jsonl")))
                let manager = shop.manager()
                var options = SyncOptions()
                options.deletesGone = true
                let result: Result<SyncReport, any Error>
                do {
                    result = .success(
                        try await manager.sync(.file(shop.path("list.jsonl")), into: copy, options: options))
                } catch { result = .failure(error) }
                await manager.shutdown()
                return try result.get()
            }
            let whole = try await sync(text)
            #expect(whole.isComplete && whole.fetchedCount == 4, "\(whole)")
            let lines = text.split(separator: "\n")
            let cut = try await sync(lines.prefix(2).joined(separator: "\n") + "\n")
            #expect(cut.deleted == [] && cut.gone.count == 2 && cut.problems.count == 1, "\(cut)")
            #expect(FileManager.default.fileExists(atPath: copy + "/sub/c d.bin"))
        }
    }

    @Test("Deletion limit: with more than half of many files gone none is deleted, unless the limit allows it")
    func deletionLimit() async throws {
        try await Workshop.run { shop in
            let names = (0..<12).map { "f\($0)" }
            for name in names { shop.server.serve("/pub/" + name, Resource(size: 10, seed: UInt64(name.utf8.count))) }
            shop.server.serve("/pub/", Self.page(names))
            _ = try await Self.sync(shop)
            shop.server.serve("/pub/", Self.page(Array(names.prefix(5))))
            for limit in [nil, DeletionLimit.count(6), .percent(58), .count(0)] {
                let kept = try await Self.sync(shop) { ($0.deletesGone, $0.maxDeletions) = (true, limit) }
                #expect(kept.deleted == [] && kept.gone.count == 7 && kept.problems.count == 1, "\(kept)")
            }
            let deleted = try await Self.sync(shop) { ($0.deletesGone, $0.maxDeletions) = (true, .percent(59)) }
            #expect(deleted.deleted.count == 7 && deleted.isComplete, "\(deleted)")
            // A small set may lose more than half.
            shop.server.serve("/pub/", Self.page(["f0"]))
            let few = try await Self.sync(shop) { $0.deletesGone = true }
            #expect(few.deleted.count == 4 && few.isComplete, "\(few)")
        }
        #expect(["", "x", "-1", "101%", "%", "1.5", "99999999999999999999"].allSatisfy { DeletionLimit($0) == nil })
        #expect(DeletionLimit("7") == .count(7) && DeletionLimit("100%") == .percent(100))
    }

    @Test("Index pages: what may pass is asked for again, and its files are in the set")
    func listingRetries() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            shop.server.script("/pub/", [.status(503), .status(429, retryAfter: "0"), .cut(after: 10)])
            shop.server.script("/pub/sub/", [.status(500), .cut(after: 5, .reset)])
            let report = try await Self.sync(shop, attempts: 4)
            #expect(report.isComplete && report.fetchedCount == 4, "\(report)")
            // What a retry would not change is not asked for again.
            shop.server.always("/pub/sub/", .status(404))
            let count = shop.server.requests.count { $0.head.target == "/pub/sub/" }
            #expect(try await Self.sync(shop, attempts: 4).problems.count == 1)
            #expect(shop.server.requests.count { $0.head.target == "/pub/sub/" } == count + 1)
            shop.server.always("/pub/", .status(503))
            let error = await #expect(throws: DownloadError.self) { try await Self.sync(shop, attempts: 2) }
            #expect(error?.phrase?.key == .setAnswered && error?.code == .network)
            let before = shop.server.requests.count
            await #expect(throws: DownloadError.self) {
                try await Self.sync(shop, attempts: 9) { $0.request.maxRetries = 0 }
            }
            #expect(shop.server.requests.count == before + 1)
            // No server holds a set that has a time for its list.
            shop.server.always("/pub/", .status(503, retryAfter: "3600"))
            let asked = shop.server.requests.count
            await #expect(throws: DownloadError.self) {
                try await Self.sync(shop, attempts: 9) { $0.listingTime = .seconds(600) }
            }
            #expect(shop.server.requests.count == asked + 1)
        }
    }

    @Test("Depth, filters, and directories of other people: a symbolic link below the directory is not followed")
    func bounds() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            let flat = try await Self.sync(shop) { $0.maxDepth = 0 }
            #expect(flat.listedCount == 2)
            let some = try await Self.sync(shop) { $0.filter = SetFilter(include: ["sub/**"], exclude: ["e.*"]) }
            #expect(some.listedCount == 1 && some.gone == [], "\(some)")
            // What the filter leaves out is still known: its files are not requested again.
            #expect(try Self.records(shop).map(\.path) == ["sub/c d.bin", "a.bin", "big.bin"])
            let outside = shop.directory + "-outside"
            try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: outside) }
            try FileManager.default.removeItem(atPath: shop.directory + "/sub")
            try FileManager.default.createSymbolicLink(
                atPath: shop.directory + "/sub", withDestinationPath: outside)
            let linked = try await Self.sync(shop)
            #expect(linked.incomplete.map(\.path) == ["sub/c d.bin", "sub/deep/e.bin"], "\(linked)")
            #expect(linked.unchangedCount == 2)
            #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == [])
        }
    }

    @Test("Manifest: a line that was cut is dropped, lines that are no records too, and the last one for a path counts")
    func torn() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            _ = try await Self.sync(shop)
            let path = shop.directory + "/ferry-manifest.jsonl"
            let handle = try #require(FileHandle(forWritingAtPath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("nonsense\n{\"path\":\"../x\"}\n{\"path\":\"a.bi".utf8))
            try handle.close()
            let again = try await Self.sync(shop)
            #expect(again.isComplete && again.unchangedCount == 4)
            #expect(try Self.records(shop).count == 4)
        }
    }

    @Test("Two syncs of a directory: the second one is refused while the first one runs")
    func locked() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            let manager = shop.manager()
            let first = try await SetSync(
                of: .url(try DownloadURL(shop.server.url("/pub/"))), into: .directory(shop.directory),
                options: SyncOptions(),
                manager: manager)
            let error = await #expect(throws: DownloadError.self) { try await Self.sync(shop) }
            #expect(error?.code == .conflict)
            let stopped = try await first.finish()
            #expect(stopped.incomplete.count == 4)
            await manager.shutdown()
            #expect(try await Self.sync(shop).isComplete)
        }
    }

    @Test("Sync in a cancelled task: what it has not read is not gone, and nothing is deleted")
    func cancelled() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            let whole = try await Self.sync(shop)
            #expect(whole.isComplete)
            let manager = shop.manager()
            let error = await #expect(throws: DownloadError.self) {
                try await Self.cancelledSync(try DownloadURL(shop.server.url("/pub/a.bin")), shop.directory, manager)
            }
            #expect(error?.code == .cancelled)
            let records = try Self.records(shop)
            #expect(records.count == 4)
            #expect(FileManager.default.fileExists(atPath: shop.directory + "/a.bin"))
            await manager.shutdown()
        }
    }

    /// Syncs with a list of one new file, and deletes what is gone, in a task that is cancelled.
    private static func cancelledSync(
        _ url: DownloadURL, _ directory: String, _ manager: DownloadManager
    ) async throws -> SyncReport {
        try await Task {
            let entry = try SetEntry(path: "new.bin", sources: [url])
            var options = SyncOptions()
            options.deletesGone = true
            withUnsafeCurrentTask { $0?.cancel() }
            return try await manager.sync(.entries([entry]), into: directory, options: options)
        }.value
    }

    @Test("Secrets: sent to the server of the source alone")
    func secrets() async throws {
        try await Workshop.run { shop in
            try await OriginServer.with { other in
                shop.server.serve("/a.bin", Resource(size: 100, seed: 1))
                other.serve("/b.bin", Resource(size: 100, seed: 2))
                shop.server.serve(
                    "/list.txt", Resource(text: shop.server.url("/a.bin") + "\n" + other.url("/b.bin") + "\n"))
                let report = try await Self.sync(shop, "/list.txt") {
                    $0.request.credentials = Credentials(user: "u", password: "p")
                    $0.request.headers.append(try! HeaderLine.parse("X-Key: secret"))
                }
                #expect(report.isComplete, "\(report)")
                #expect(shop.server.requests.allSatisfy { $0.head["X-Key"] == "secret" })
                #expect(other.requests.allSatisfy { $0.head["X-Key"] == nil && $0.head["Authorization"] == nil })
            }
        }
    }

    @Test("Touched and copied files are known by their bytes, without traffic; edited ones stay, without a request")
    func touched() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            _ = try await Self.sync(shop)
            let (a, big) = (shop.directory + "/a.bin", shop.directory + "/big.bin")
            try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: big)
            try Data(repeating: 7, count: 1000).write(to: URL(fileURLWithPath: a))
            let before = (shop.server.bodyBytes("/pub/a.bin"), shop.server.bodyBytes("/pub/big.bin"))
            let report = try await Self.sync(shop)
            #expect(report.incomplete.map(\.path) == ["a.bin"] && report.unchangedCount == 3, "\(report)")
            #expect((shop.server.bodyBytes("/pub/a.bin"), shop.server.bodyBytes("/pub/big.bin")) == before)
            #expect(FileManager.default.contents(atPath: a) == Data(repeating: 7, count: 1000))
        }
    }

    /// Without the server's dates, all copied files were fetched again.
    @Test("Copied files without attributes: the server is asked with the recorded validators, also without its dates")
    func copiedWithoutAttributes() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            func sync() async throws -> SyncReport { try await Self.sync(shop) { $0.request.usesServerTime = false } }
            _ = try await sync()
            for name in try Self.names(shop) where name != "ferry-manifest.jsonl" {
                let file = URL(filePath: shop.path(name))
                let bytes = try Data(contentsOf: file)
                try FileManager.default.removeItem(at: file)
                try bytes.write(to: file)
            }
            let before = shop.server.bodyBytes("/pub/big.bin")
            let new = Resource(size: 1000, seed: 77)
            shop.server.serve("/pub/a.bin", new)
            let report = try await sync()
            #expect(report.isComplete && report.fetchedCount == 1 && report.unchangedCount == 3, "\(report)")
            #expect(shop.server.bodyBytes("/pub/big.bin") == before)
            shop.expect(shop.path("a.bin"), is: new)
            try await DownloadManager.verify(shop.directory) { #expect($0.isIntact) }
        }
    }

    @Test("A file in the place of a directory: its files are incomplete, all others are synced")
    func fileInTheWay() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: shop.directory + "/sub"))
            let report = try await Self.sync(shop)
            #expect(report.incomplete.map(\.path) == ["sub/c d.bin", "sub/deep/e.bin"], "\(report)")
            #expect(report.fetchedCount == 2)
            #expect(FileManager.default.contents(atPath: shop.directory + "/sub") == Data("mine".utf8))
        }
    }

    @Test("Verify: a manifest that lost lines, has damaged ones, or is of a sync that has not ended is not whole")
    func shortManifest() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            _ = try await Self.sync(shop)
            let path = shop.directory + "/ferry-manifest.jsonl"
            let whole = try String(contentsOfFile: path, encoding: .utf8)
            let lines = whole.split(separator: "\n").map(String.init)
            try await DownloadManager.verify(shop.directory) { #expect($0.isIntact) }
            for text in [
                "", lines.dropLast().joined(separator: "\n") + "\n", lines.dropFirst().joined(separator: "\n") + "\n",
                "x" + whole,
            ] {
                try Data(text.utf8).write(to: URL(fileURLWithPath: path))
                await #expect(throws: DownloadError.self, "\(text)") {
                    try await DownloadManager.verify(shop.directory) { #expect($0.isIntact) }
                }
            }
            // A sync restores it.
            #expect(try await Self.sync(shop).isComplete)
            try await DownloadManager.verify(shop.directory) { #expect($0.isIntact) }
        }
    }

    @Test("Repair of a directory: no link below it is followed, and a file without a proof is not replaced as missing")
    func confinedRepair() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            _ = try await Self.sync(shop)
            let outside = shop.directory + "-outside"
            try FileManager.default.moveItem(atPath: shop.directory + "/sub", toPath: outside)
            defer { try? FileManager.default.removeItem(atPath: outside) }
            try FileManager.default.createSymbolicLink(atPath: shop.directory + "/sub", withDestinationPath: outside)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: outside + "/c d.bin"))
            let found = Collected<VerifiedFile>()
            try await DownloadManager.verify(shop.directory) { found.append($0) }
            let file = try #require(found.all.first { $0.path.hasSuffix("c d.bin") })
            guard case .unreadable = file.state else { throw DownloadError(.internal, "\(file)") }
            var forged = try #require(file.record)
            forged.proof = nil
            let planted = VerifiedFile(path: file.path, state: .missing, record: forged, directory: shop.directory)
            let template = DownloadRequest(sources: [], destination: .directory(shop.directory))
            // Its directory is not made behind the link.
            await #expect(throws: DownloadError.self) {
                try await DownloadManager.repair(planted, with: template)
            }
            #expect(FileManager.default.contents(atPath: outside + "/c d.bin") == Data("mine".utf8))
        }
    }

    @Test("User info in the address of the source is for all files of its server")
    func userInfo() async throws {
        try await Workshop.run { shop in
            Self.serveTree(shop)
            let manager = shop.manager()
            let url = shop.server.url("/pub/").replacing("http://", with: "http://u:p@")
            shop.server.always("/pub/a.bin", .basicAuth("u", "p"))
            let report = try await manager.sync(.url(try DownloadURL(url)), into: shop.directory)
            await manager.shutdown()
            #expect(report.isComplete, "\(report)")
        }
    }
}

extension SyncReport {
    /// Why a file is missing or not current; `nil` if it is complete.
    func error(_ path: String) -> DownloadError? { incomplete.first { $0.path.hasSameBytes(as: path) }?.error }
}
