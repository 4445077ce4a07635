import FerryCore
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import FerryEngine

/// Reasons why a file is not ours.
enum Foreignness: String, Sendable, CaseIterable {
    case otherOwner, writableByAll, secondName

    /// The kinds of files that this process can create.
    static let possible: [Foreignness] = allCases.filter { $0 != .otherOwner || geteuid() == 0 }

    func apply(to name: String, in directory: TemporaryDirectory) throws {
        let path = directory.file(name)
        switch self {
        case .otherOwner: try FileManager.default.setAttributes([.ownerAccountID: 65534], ofItemAtPath: path.string)
        case .writableByAll:
            let mode = try LocalFileSystem().status(path, followingLinks: false).mode | 0o666
            #expect(chmod(path.string, mode_t(mode)) == 0)
        case .secondName:
            try LocalFileSystem().makeDirectories(directory.file("elsewhere"), syncs: false)
            try LocalFileSystem().link(path, to: directory.file("elsewhere/\(name)"))
        }
    }
}

@Suite("Files that are not ours", .timeLimit(.minutes(30)))
struct ForeignFileTests {
    static let resource = Resource(size: 3_000_000)
    static let evil = [UInt8]("#!/bin/sh\necho owned\n".utf8)

    /// Plants a journal that claims that `f`, which has other bytes, was published under a digest.
    private func plant(
        _ rig: DriverRig, urls: [String]? = nil, id: String = "planted",
        _ change: (inout JournalRecord) -> Void = { _ in }
    ) throws {
        try rig.directory.put("f", Self.evil)
        let status = try LocalFileSystem().status(rig.directory.file("f"), followingLinks: false)
        var record = JournalRecord(
            id: id, urls: try urls ?? [rig.server.downloadURL("/f").text], name: "f", totalBytes: status.length,
            identity: FileIdentity(), checksum: "sha-256=" + String(repeating: "0", count: 64), createdAt: 1)
        record.publishing = .init(name: "f", device: status.device, inode: status.inode, length: status.length)
        change(&record)
        try Journal.create(
            at: rig.directory.file("f.part.ferry"), record: record, fileSystem: LocalFileSystem(), syncs: false
        ).close()
    }

    private func notes(_ end: Run.End) -> [String] {
        end.events.compactMap { if case .note(let text) = $0 { "\(text)" } else { nil } }
    }

    /// Expects that the download took another name, sent a request, and reported the foreign file.
    private func expectOtherName(
        _ end: Run.End, _ rig: DriverRig, inTheWay name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(end.file?.path == rig.directory.file("f (1)").string, sourceLocation: sourceLocation)
        #expect(end.file?.wasAlreadyComplete == false, sourceLocation: sourceLocation)
        #expect(rig.holds("f (1)", Self.resource), sourceLocation: sourceLocation)
        #expect(!rig.server.requests.isEmpty, sourceLocation: sourceLocation)
        let path = rig.directory.file(name).string
        #expect(
            notes(end).contains { $0.hasPrefix("\(path) is in the way: ") && $0.contains("named f (1)") },
            "\(notes(end))", sourceLocation: sourceLocation)
    }

    @Test(
        "Driver: a foreign journal that says \"published\" is not used: the server is asked, no digest is reported",
        arguments: Foreignness.possible)
    func plantedJournal(kind: Foreignness) async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Self.resource)
            try plant(rig)
            try kind.apply(to: "f.part.ferry", in: rig.directory)
            // Nothing in a foreign journal counts, above all not the name of a small file.
            let end = await rig.run(try rig.request("/f"))
            expectOtherName(end, rig, inTheWay: "f.part.ferry")
            #expect(end.file?.proof != .digest)
            #expect(rig.directory.bytes("f") == Self.evil)
            #expect(try rig.directory.names.contains("f.part.ferry"))
        }
    }

    @Test("Driver: our own journal that says \"published\" answers for its URL without a request")
    func ownJournal() async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Self.resource)
            try plant(rig)
            let end = await rig.run(try rig.request("/f"))
            #expect(end.file?.wasAlreadyComplete == true)
            #expect(rig.server.requests.isEmpty)
            #expect(try rig.directory.names == ["f"])
        }
    }

    @Test("Driver: our own journal proves nothing for a URL that it does not contain", arguments: [true, false])
    func otherURL(isNamed: Bool) async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Self.resource)
            try plant(rig, urls: ["http://elsewhere.test/f"])
            let place = rig.directory.file(isNamed ? "f.part" : "f").string
            let end = await rig.run(
                try rig.request("/f") { $0.destination = isNamed ? .part(place) : .file(place) })
            #expect(end.file?.wasAlreadyComplete == false)
            #expect(end.file?.proof != .digest)
            #expect(rig.directory.bytes("f") == Self.evil)
            #expect(rig.holds("f (1)", Self.resource))
        }
    }

    @Test("Driver: without a URL, a journal's \"published\" counts only if the file matches its digest now")
    func withoutURL() async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Self.resource)
            for isRight in [false, true] {
                try plant(rig) { record in
                    guard isRight else { return }
                    record.checksum =
                        Checksum(algorithm: .sha256, bytes: ByteDigest.of(Self.evil, .sha256))?.description
                }
                let part = rig.directory.file("f.part").string
                let end = await rig.run(
                    try rig.request("/f") { ($0.sources, $0.destination) = ([], .part(part)) })
                #expect((end.file?.proof == .digest) == isRight, "\(end.outcome)")
                #expect(end.file?.wasAlreadyComplete == (isRight ? true : nil))
                #expect(rig.directory.bytes("f") == Self.evil)
                for name in try rig.directory.names where name.hasPrefix("f (1)") {
                    try LocalFileSystem().unlink(rig.directory.file(name))
                }
            }
        }
    }

    @Test(
        "Driver: an empty part file of mode 01600 is taken over only when it is ours",
        arguments: [Foreignness.otherOwner, .secondName].filter(Foreignness.possible.contains))
    func emptyPart(kind: Foreignness) async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Self.resource)
            try PartFile.create(at: rig.directory.file("f.part"), fileSystem: LocalFileSystem()).close()
            try kind.apply(to: "f.part", in: rig.directory)
            expectOtherName(await rig.run(try rig.request("/f")), rig, inTheWay: "f.part")
            #expect(rig.directory.bytes("f.part") == [])
        }
    }

    @Test("Driver: our own empty part file of mode 01600 is taken over")
    func ownEmptyPart() async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Self.resource)
            try PartFile.create(at: rig.directory.file("f.part"), fileSystem: LocalFileSystem()).close()
            _ = await rig.run(try rig.request("/f"))
            #expect(rig.holds("f", Self.resource))
            #expect(try rig.directory.names == ["f"])
        }
    }

    @Test(
        "Driver: a partial download that other users own or can write to is not resumed",
        arguments: Foreignness.possible)
    func half(kind: Foreignness) async throws {
        for name in ["f.part", "f.part.ferry"] {
            try await DriverRig.with { rig in
                rig.server.serve("/f", Self.resource)
                try await rig.interrupt("/f", after: 1_000_000)
                let held = rig.directory.bytes("f.part")
                try kind.apply(to: name, in: rig.directory)
                let end = await rig.run(try rig.request("/f"), id: "b")
                #expect(end.resumedAt == nil)
                expectOtherName(end, rig, inTheWay: name)
                #expect(rig.directory.bytes("f.part") == held)
            }
        }
    }

    @Test("Driver: a partial download given by path that others can write to fails with the reason and a suggestion")
    func namedHalf() async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Self.resource)
            try await rig.interrupt("/f", after: 1_000_000)
            try Foreignness.writableByAll.apply(to: "f.part", in: rig.directory)
            let part = rig.directory.file("f.part").string
            let end = await rig.run(try rig.request("/f") { ($0.sources, $0.destination) = ([], .part(part)) })
            #expect(end.error?.code == .conflict)
            #expect(end.error?.message == "\(part) is not used: every user can write to it")
            #expect(end.error?.suggestion?.contains("chmod") == true)
            #expect(try rig.directory.names == ["f.part", "f.part.ferry"])
        }
    }

    @Test("Driver: a partial download with group write permission (umask 002) is resumed")
    func ownGroup() async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Self.resource)
            try await rig.interrupt("/f", after: 1_000_000)
            for name in ["f.part", "f.part.ferry"] { #expect(chmod(rig.directory.file(name).string, 0o664) == 0) }
            let end = await rig.run(try rig.request("/f"), id: "b")
            #expect(end.resumedAt == 1_000_000)
            #expect(rig.holds("f", Self.resource))
        }
    }

    @Test(
        "Driver: a finished file counts as complete only when it is ours, with or without a digest",
        arguments: [Foreignness.otherOwner, .writableByAll].filter(Foreignness.possible.contains), [true, false])
    func finished(kind: Foreignness, hasDigest: Bool) async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Self.resource)
            let checksum = Checksum(
                algorithm: .sha256, bytes: ByteDigest.of(Self.resource.bytes(0..<Self.resource.size), .sha256))
            #expect(await rig.run(try rig.request("/f")).file != nil)
            let again = await rig.run(try rig.request("/f") { if hasDigest { $0.checksum = checksum } })
            #expect(again.file?.wasAlreadyComplete == true)
            try kind.apply(to: "f", in: rig.directory)
            let end = await rig.run(try rig.request("/f") { if hasDigest { $0.checksum = checksum } })
            expectOtherName(end, rig, inTheWay: "f")
        }
    }

    @Test("Driver: a finished file of ours with a second link counts as complete")
    func linkedFile() async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Self.resource)
            #expect(await rig.run(try rig.request("/f")).file != nil)
            try Foreignness.secondName.apply(to: "f", in: rig.directory)
            #expect(await rig.run(try rig.request("/f")).file?.wasAlreadyComplete == true)
        }
    }

    @Test(
        "Driver: a small file takes another name beside a foreign file, and reports what is in the way",
        arguments: [true, false])
    func small(isFinal: Bool) async throws {
        try await DriverRig.with { rig in
            let small = Resource(size: 5_000, seed: 3)
            rig.server.serve("/f", small)
            if isFinal {
                try rig.directory.put("f", Self.evil)
                try Foreignness.writableByAll.apply(to: "f", in: rig.directory)
            } else {
                try PartFile.create(at: rig.directory.file("f.part"), fileSystem: LocalFileSystem()).close()
                try Foreignness.secondName.apply(to: "f.part", in: rig.directory)
            }
            let end = await rig.run(try rig.request("/f"))
            #expect(end.file?.path == rig.directory.file("f (1)").string)
            #expect(rig.holds("f (1)", small))
            #expect(notes(end).contains { $0.contains(" is in the way: ") }, "\(notes(end))")
        }
    }

    @Test(
        "Driver: another download's backup pair is kept by taking another name; our own is replaced",
        arguments: [true, false])
    func aside(isOurs: Bool) async throws {
        try await DriverRig.with { rig in
            rig.server.serve("/f", Self.resource)
            try await rig.interrupt("/f", after: 1_000_000)
            try rig.directory.put("f.part.old", [7])
            let record = JournalRecord(
                id: "another", urls: [isOurs ? try rig.server.downloadURL("/f").text : "http://h/another"], name: "f",
                totalBytes: 9, identity: FileIdentity(), createdAt: 1)
            try Journal.create(
                at: rig.directory.file("f.part.ferry.old"), record: record, fileSystem: LocalFileSystem(), syncs: false
            ).close()
            let changed = Resource(size: 4_000_000, seed: 9)
            rig.server.serve("/f", changed)
            let end = await rig.run(try rig.request("/f"), id: "b")
            if isOurs {
                #expect(rig.holds("f", changed))
                #expect(try rig.directory.names == ["f"])
            } else {
                #expect(end.file?.path == rig.directory.file("f (1)").string)
                #expect(rig.holds("f (1)", changed))
                #expect(rig.directory.bytes("f.part.old") == [7])
                #expect(try rig.journal("f").claimed == [[0, 1_000_000]])
            }
        }
    }
}
