import FerryEngine
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import Ferry

private func put(_ bytes: [UInt8], at name: String, in shop: Workshop) throws {
    try Data(bytes).write(to: URL(filePath: shop.path(name)))
}

@Suite("Files that are there already", .timeLimit(.minutes(30)))
struct ExistingFileTests {
    static let sizes: [Int64] = [10_000, 3_000_000]

    /// Gives a file the present time, as another program would.
    private func touch(_ name: String, in shop: Workshop) throws {
        try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: shop.path(name))
    }

    @Test("Existing file: two URLs with one name find their own files in every run", arguments: sizes)
    func sharedName(size: Int64) async throws {
        try await Workshop.run { shop in
            let resources = ["/x/README": Resource(size: size, seed: 1), "/y/README": Resource(size: size, seed: 2)]
            for (path, resource) in resources { shop.server.serve(path, resource) }
            for path in ["/x/README", "/y/README"] { _ = try await shop.get(path).file }
            let sent = shop.server.bodyBytes()
            // The order of a list's downloads differs from run to run.
            for path in ["/y/README", "/x/README", "/y/README"] {
                let file = try await shop.get(path).file
                #expect(file.wasAlreadyComplete)
                shop.expect(file.path, is: try #require(resources[path]))
            }
            #expect(shop.names == ["README", "README (1)"])
            #expect(shop.server.bodyBytes() == sent)
        }
    }

    @Test("Existing file: a numbered one is found by its checksum too", arguments: sizes)
    func sharedNameWithDigest(size: Int64) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size)
            shop.server.serve("/a.bin", resource)
            try shop.write("mine", to: "a.bin")
            _ = try await shop.get("/a.bin").file
            let count = shop.server.requests.count
            let right = try Checksum(parsing: "sha256:" + shop.sha256(resource))
            let file = try await shop.get("/a.bin", { _ in }, { ($0.checksum, $0.trust.strict) = (right, true) }).file
            #expect(file.path == shop.path("a (1).bin") && file.proof == .digest)
            #expect(shop.server.requests.count == count)
        }
    }

    @Test("Existing file: one that was touched is complete after its samples have matched", arguments: sizes)
    func touched(size: Int64) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Resource(size: size))
            _ = try await shop.get("/a.bin").file
            try touch("a.bin", in: shop)
            let file = try await shop.get("/a.bin").file
            #expect(file.wasAlreadyComplete && file.proof == .sampled)
            #expect(file.path == shop.path("a.bin"))
            #expect(shop.names == ["a.bin"])
        }
    }

    @Test(
        "Existing file: one of another program with the same bytes is used, and one with others is left",
        arguments: sizes,
        [true, false])
    func foreign(size: Int64, isSame: Bool) async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: size)
            shop.server.serve("/a.bin", resource)
            let other = Resource(size: size, seed: 9)
            try put((isSame ? resource : other).bytes(0..<size), at: "a.bin", in: shop)
            let outcome = try await shop.get("/a.bin")
            let file = try outcome.file
            shop.expect(file.path, is: resource)
            #expect(file.wasAlreadyComplete == isSame)
            #expect(file.proof == (isSame ? .sampled : .single))
            if isSame {
                #expect(shop.names == ["a.bin"])
                return
            }
            #expect(outcome.notes("a.bin is not proven to be the server's file"))
            if size > 1 << 20 { #expect(outcome.notes("the name is taken: it becomes a (1).bin")) }
            shop.expect(shop.path("a.bin"), is: other)
            // The numbered file is found again.
            #expect(try await shop.get("/a.bin").file.path == file.path)
            #expect(shop.names == ["a (1).bin", "a.bin"])
        }
    }

    @Test("Existing file: without a validator samples tell that it is complete", arguments: sizes)
    func noValidator(size: Int64) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Resource(size: size, etag: nil, lastModified: nil))
            _ = try await shop.get("/a.bin").file
            #expect(try await shop.get("/a.bin").file.wasAlreadyComplete)
            #expect(shop.names == ["a.bin"])
        }
    }

    @Test("Existing file: samples are no proof for a strict request, which fetches the file again")
    func strict() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a.bin", resource)
            _ = try await shop.get("/a.bin").file
            try touch("a.bin", in: shop)
            let before = shop.server.bodyBytes("/a.bin")
            let file = try await shop.get("/a.bin", { _ in }, { $0.trust.strict = true }).file
            #expect(shop.server.bodyBytes("/a.bin") >= before + resource.size)
            // The received bytes are those of the file.
            #expect(file.wasAlreadyComplete && file.proof == .single && shop.names == ["a.bin"])
            shop.expect(file.path, is: resource)
        }
    }

    @Test("Existing file: a date proves nothing to a strict request, which fetches a file with the same date")
    func strictDate() async throws {
        try await Workshop.run { shop in
            let (first, second) = (Resource(size: 300_000, etag: nil), Resource(size: 300_000, seed: 2, etag: nil))
            shop.server.serve("/a.bin", first)
            _ = try await shop.get("/a.bin").file
            shop.server.serve("/a.bin", second)
            let file = try await shop.get("/a.bin", { _ in }, { $0.trust.strict = true }).file
            #expect(!file.wasAlreadyComplete && file.proof == .single)
            shop.expect(file.path, is: second)
        }
    }

    @Test("Existing file: a strong ETag proves a strict request's copy, which has a numbered name")
    func strictCopy() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Resource(size: 300_000))
            try put([1, 2, 3], at: "a.bin", in: shop)
            _ = try await shop.get("/a.bin").file
            let file = try await shop.get("/a.bin", { _ in }, { $0.trust.strict = true }).file
            #expect(file.wasAlreadyComplete && file.proof == .strong)
            #expect(shop.names == ["a (1).bin", "a.bin"])
        }
    }

    @Test("Existing file: one with aria2's control file beside it is incomplete, whatever its samples say")
    func unfinishedOfAria2() async throws {
        try await Workshop.run { shop in
            let resource = Resource(size: 3_000_000)
            shop.server.serve("/a.bin", resource)
            try put(resource.bytes(0..<resource.size), at: "a.bin", in: shop)
            try put([0], at: "a.bin.aria2", in: shop)
            let file = try await shop.get("/a.bin").file
            #expect(!file.wasAlreadyComplete)
            #expect(file.path == shop.path("a (1).bin"))
        }
    }

    @Test("Existing file: without ranges all bytes are fetched and compared; other ones take the next name")
    func noRanges() async throws {
        try await Workshop.run { shop in
            var resource = Resource(size: 3_000_000)
            resource.ranges = .off
            shop.server.serve("/a.bin", resource)
            try put(resource.bytes(0..<resource.size), at: "a.bin", in: shop)
            let same = try await shop.get("/a.bin").file
            #expect(same.wasAlreadyComplete && same.path == shop.path("a.bin"))
            try put([0], at: "a.bin", in: shop)
            let file = try await shop.get("/a.bin").file
            #expect(file.path == shop.path("a (1).bin"))
            shop.expect(file.path, is: resource)
        }
    }
}

@Suite("Half files of other programs", .timeLimit(.minutes(30)))
struct HalfFileTests {
    private static let resource = Resource(size: 20_000_000)
    private static let half: Int64 = 8_000_000

    @Test(
        "Half file: named with its URL, it is gone on with after its samples have matched",
        arguments: ["a.bin", "a.bin.part", "a.bin.crdownload"])
    func adopts(name: String) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Self.resource)
            try put(Self.resource.bytes(0..<Self.half), at: name, in: shop)
            let outcome = try await shop.get(
                "/a.bin", { _ in },
                {
                    ($0.destination, $0.maxConnections) = (.part(shop.path(name)), 1)
                })
            let file = try outcome.file
            shop.expect(file.path, is: Self.resource)
            #expect(outcome.resumedAt == Self.half)
            #expect(file.proof == .sampled)
            #expect(shop.names == ["a.bin"])
            #expect(shop.server.bodyBytes() <= Self.resource.size - Self.half + 1 << 20)
        }
    }

    @Test(
        "Half file: one that is not the server's is left as it is, also if only its end differs",
        arguments: [0, 7_000_000, 8_000_000] as [Int64], [false, true])
    func leaves(same: Int64, hasDigest: Bool) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Self.resource)
            // The last case is a file that was reserved whole, and has zeros at its end.
            var bytes = Self.resource.bytes(0..<same)
            if same == Self.half {
                bytes += [UInt8](repeating: 0, count: Int(Self.resource.size - same))
            } else {
                bytes += Resource(size: Self.half, seed: 9).bytes(same..<Self.half)
            }
            try put(bytes, at: "a.bin.part", in: shop)
            let checksum = try Checksum(parsing: "sha256:" + shop.sha256(Self.resource))
            let outcome = try await shop.get("/a.bin", { _ in }) {
                $0.destination = .part(shop.path("a.bin.part"))
                if hasDigest { $0.checksum = checksum }
            }
            #expect(outcome.error?.code == .conflict)
            #expect(shop.names == ["a.bin.part"])
            #expect(FileManager.default.contents(atPath: shop.path("a.bin.part")) == Data(bytes))
        }
    }

    @Test("Half file: without its URL the error names the command")
    func withoutURL() async throws {
        try await Workshop.run { shop in
            try put([1, 2, 3], at: "a.bin.part", in: shop)
            let outcome = try await shop.get("/a.bin", { _ in }) {
                ($0.sources, $0.destination) = ([], .part(shop.path("a.bin.part")))
            }
            #expect(outcome.error?.message.contains("ferry get \(shop.path("a.bin.part")) URL") == true)
            #expect(shop.names == ["a.bin.part"])
        }
    }

    @Test(
        "Half file: beside one, a download says how to go on with it",
        arguments: ["a.bin", "a.bin.part", "a.bin.crdownload"])
    func hint(name: String) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Self.resource)
            let bytes = Self.resource.bytes(0..<Self.half)
            try put(bytes, at: name, in: shop)
            let outcome = try await shop.get("/a.bin")
            try shop.expect(outcome.file.path, is: Self.resource)
            #expect(outcome.notes("ferry get \(shop.path(name)) URL"))
            #expect(FileManager.default.contents(atPath: shop.path(name)) == Data(bytes))
        }
    }

    @Test(
        "Part file: beside one that did not match its checksum, the complete file is found, planned for and kept",
        arguments: [false, true])
    func refutedBeside(ignoresChecksum: Bool) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Self.resource)
            _ = try await shop.get("/a.bin").file
            let wrong = try Checksum(parsing: "sha256:" + String(repeating: "0", count: 64))
            let refuted = try await shop.get("/a.bin", { _ in }, { $0.checksum = wrong })
            #expect(refuted.error?.code == .checksum)
            #expect(refuted.notes("a.bin is there, with another digest"))
            let names = shop.names
            #expect(names == ["a (1).bin.part", "a (1).bin.part.ferry", "a.bin"])
            let manager = shop.manager()
            let plan = try await manager.plan(
                try shop.request("/a.bin") { $0.ignoresEarlierChecksum = ignoresChecksum })
            await manager.shutdown()
            #expect(plan.name == "a.bin" && plan.existingPath == shop.path("a.bin"))
            #expect(plan.mayBeComplete && plan.heldBytes == nil)
            let sent = shop.server.bodyBytes()
            for _ in 0..<2 {
                let outcome = try await shop.get("/a.bin", { _ in }) { $0.ignoresEarlierChecksum = ignoresChecksum }
                let file = try outcome.file
                #expect(file.wasAlreadyComplete && file.path == shop.path("a.bin"))
                #expect(outcome.restartReason == nil)
                #expect(shop.names == names && shop.server.bodyBytes() == sent)
            }
        }
    }

    @Test("Part file: beside one that did not match its checksum, a complete file that is outdated is not the result")
    func outdatedBeside() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Self.resource)
            _ = try await shop.get("/a.bin").file
            let wrong = try Checksum(parsing: "sha256:" + String(repeating: "0", count: 64))
            _ = try await shop.get("/a.bin", { _ in }, { $0.checksum = wrong })
            let changed = Resource(size: Self.resource.size, seed: 5, etag: "\"new\"")
            shop.server.serve("/a.bin", changed)
            let file = try await shop.get("/a.bin").file
            #expect(file.path == shop.path("a (1).bin"))
            shop.expect(file.path, is: changed)
            #expect(shop.names == ["a (1).bin", "a.bin"])
        }
    }

    @Test("Part file: a numbered one of a file that has changed since is resumed, and planned for")
    func numberedBeside() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Self.resource)
            _ = try await shop.get("/a.bin").file
            let changed = Resource(size: Self.resource.size, seed: 5, etag: "\"new\"")
            shop.server.serve("/a.bin", changed)
            try await shop.interrupt("/a.bin", after: Self.half)
            let manager = shop.manager()
            let plan = try await manager.plan(try shop.request("/a.bin"))
            await manager.shutdown()
            #expect(plan.name == "a (1).bin" && plan.existingPath == shop.path("a.bin"))
            #expect(!plan.mayBeComplete && plan.heldBytes == Self.half)
            let outcome = try await shop.get("/a.bin")
            #expect(outcome.resumedAt == Self.half)
            try shop.expect(outcome.file.path, is: changed)
        }
    }

    @Test(
        "Part file: one without a usable journal is named as what is in the way, and what to move",
        arguments: [10_000, 8_000_000] as [Int64], [nil, "", "garbage"])
    func unusable(size: Int64, journal: String?) async throws {
        for isNamed in [false, true] {
            try await Workshop.run { shop in
                let resource = Resource(size: size)
                shop.server.serve("/a.bin", resource)
                try put([UInt8](repeating: 0, count: Int(size)), at: "a.bin.part", in: shop)
                if let journal { try shop.write(journal, to: "a.bin.part.ferry") }
                let names = shop.names
                let outcome = try await shop.get("/a.bin", { _ in }) {
                    if isNamed { $0.destination = .file(shop.path("a.bin")) }
                }
                try shop.expect(outcome.file.path, is: resource)
                #expect(outcome.notes("\(shop.path("a.bin.part")) is in the way"))
                #expect(outcome.notes("this file is named a (1).bin"))
                #expect(outcome.notes("move away: " + names.map(shop.path).joined(separator: " ")))
                #expect(shop.names == (names + ["a (1).bin"]).sorted())
            }
        }
    }

    @Test("Part file: beside one of another link to the same file, a download says how to go on with it")
    func freshLink() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a/f.bin", Self.resource)
            shop.server.serve("/b/f.bin", Self.resource)
            try await shop.interrupt("/a/f.bin", after: Self.half)
            let outcome = try await shop.get("/b/f.bin")
            #expect(outcome.notes("ferry get \(shop.path("f.bin.part")) \(shop.server.url("/b/f.bin"))"))
            #expect(try outcome.file.path == shop.path("f (1).bin"))
            let next = try await shop.get("/b/f.bin", { _ in }, { $0.destination = .part(shop.path("f.bin.part")) })
            #expect(next.resumedAt == Self.half)
            try shop.expect(next.file.path, is: Self.resource)
        }
    }

    @Test("Part file: a link whose query is hidden is not printed in the command that goes on with it")
    func hiddenLink() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a/f.bin", Self.resource)
            shop.server.serve("/b/f.bin?key=1", Self.resource)
            try await shop.interrupt("/a/f.bin", after: Self.half)
            let outcome = try await shop.get("/b/f.bin?key=1")
            #expect(outcome.notes("ferry get \(shop.path("f.bin.part")) NEWURL"))
        }
    }

    @Test("Part file: no advice to go on with one that is in use")
    func lockedPart() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a/f.bin", Self.resource)
            shop.server.serve("/b/f.bin", Self.resource)
            try await shop.interrupt("/a/f.bin", after: Self.half)
            let journal = try Journal.open(
                at: FilePath(shop.path("f.bin.part.ferry")), fileSystem: LocalFileSystem(), syncs: false
            ).journal
            let outcome = try await shop.get("/b/f.bin")
            journal.close()
            #expect(!outcome.notes("ferry get"))
            #expect(try outcome.file.path == shop.path("f (1).bin"))
        }
    }

    @Test(
        "No validator: the first answer says that a break begins again, unless samples may be compared",
        arguments: [false, true])
    func noValidator(resumes: Bool) async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Resource(size: 3_000_000, etag: nil, lastModified: nil))
            let outcome = try await shop.get("/a.bin", { _ in }, { $0.trust.resumesUnproven = resumes })
            #expect(outcome.notes("--resume-unproven") == !resumes)
            let manager = shop.manager()
            let plan = try await manager.plan(try shop.request("/a.bin"))
            await manager.shutdown()
            #expect(plan.reason.contains("--resume-unproven"))
            #expect(plan.resumability == .no)
        }
    }

    @Test("Plan: it names the file that has the name, the name instead, redirects, and connections that fit the size")
    func plans() async throws {
        try await Workshop.run { shop in
            shop.server.serve("/a.bin", Self.resource)
            shop.server.serve("/r/small.bin", Resource(size: 1000))
            shop.server.always("/r/small.bin", .redirectChain(2))
            shop.server.serve("/n.bin", Resource(size: 2000, ranges: .off))
            shop.server.serve("/w.bin", Resource(size: 2000, etag: nil, lastModified: nil, ranges: .off))
            let manager = shop.manager()
            func plan(_ path: String, _ rule: ConflictRule = .rename) async throws -> DownloadPlan {
                try await manager.plan(try shop.request(path) { $0.onConflict = rule })
            }
            let first = try await plan("/a.bin")
            #expect(first.name == "a.bin" && first.existingPath == nil && first.redactedRedirects.isEmpty)
            #expect(first.maxConnections > 1)
            // Without ranges, a strong validator lets it be read from the start.
            let rangeless = try await plan("/n.bin")
            #expect(rangeless.resumability == .proven && rangeless.reason.contains("it is read from the start"))
            #expect(try await plan("/w.bin").resumability == .no)
            // A destination that is not writable is refused before the server is asked.
            try shop.write("mine", to: "file")
            let requests = shop.server.requests.count
            await #expect {
                _ = try await manager.plan(
                    try shop.request("/a.bin") { $0.destination = .directory(shop.path("file/d")) })
            } throws: {
                ($0 as? DownloadError)?.code == .disk
            }
            #expect(shop.server.requests.count == requests)
            await #expect {
                _ = try await manager.plan(try shop.request("/a.bin") { $0.maxBytes = 1000 })
            } throws: {
                ($0 as? DownloadError)?.code == .tooLarge
            }
            try shop.write("mine", to: "a.bin")
            try shop.write("mine", to: "a (1).bin")
            let second = try await plan("/a.bin")
            #expect(second.name == "a (2).bin" && second.existingPath == shop.path("a.bin") && !second.mayBeComplete)
            #expect(try await plan("/a.bin", .overwrite).name == "a.bin")
            // A chosen name is looked for like that of the URL.
            for rule in [ConflictRule.rename, .overwrite] {
                let chosen = try await manager.plan(
                    try shop.request("/w.bin") {
                        ($0.destination, $0.onConflict) = (.file(shop.path("a.bin")), rule)
                    })
                #expect(chosen.existingPath == shop.path("a.bin"))
                #expect(chosen.name == (rule == .rename ? "a (2).bin" : "a.bin"))
            }
            let small = try await plan("/r/small.bin")
            #expect(
                small.redactedRedirects.count == 2 && small.redactedRedirects.last == small.redactedURL
                    && small.maxConnections == 1)
            try shop.write(String(repeating: "x", count: 1000), to: small.name)
            let third = try await plan("/r/small.bin")
            #expect(third.mayBeComplete && third.name == small.name)
            try await shop.interrupt("/a.bin", after: Self.half)
            let part = try await manager.plan(
                DownloadRequest(sources: [], destination: .part(shop.path("a (2).bin.part"))))
            #expect(part.heldBytes == Self.half && part.totalBytes == first.totalBytes)
            #expect(part.resumability == .proven)
            await manager.shutdown()
            for (changed, resumability) in [
                (Resource(size: part.totalBytes ?? 0, seed: 9), DownloadPlan.Resumability.sampled),
                (Resource(size: Self.half / 2, seed: 9), .no),
            ] {
                shop.server.serve("/a.bin", changed)
                let next = shop.manager()
                let begun = try await next.plan(try shop.request("/a.bin"))
                #expect(begun.heldBytes == Self.half && begun.resumability == resumability)
                #expect(begun.reason.contains("changed"))
                await next.shutdown()
            }
        }
    }
}
