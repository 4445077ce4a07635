import FerryCore
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("Preparation: part files and journals", .timeLimit(.minutes(10)))
struct PreparationTests {
    private static let pair = ["f.part", "f.part.ferry"]
    private static let backup = ["f.part.ferry.old", "f.part.old"]
    private static let wrong = "sha-256=" + String(repeating: "0", count: 64)
    private static let other = "http://other.test/f"

    static let pairs: [PreparationRow] = [
        .init("nothing is there", "fresh", leaves: []) { _ in },
        .init("a part file and its journal", "resume f.part 0-100", leaves: pair) { try $0.pair() },
        .init("a journal of another URL", "fresh", leaves: pair) { try $0.pair(url: other) },
        .init("a journal of another download of the list", "fresh", leaves: pair) {
            try $0.pair()
            $0.context.belongsToAnother = { $0 == "earlier" }
        },
        .init("a part file without a journal", "fresh", leaves: ["f.part"]) { try $0.part() },
        .init("a journal without its part file", "fresh", leaves: [], notes: ["is gone"]) { try $0.journal() },
        .init("a damaged journal", "fresh", leaves: pair, notes: ["under another name"]) {
            try $0.part()
            try $0.put("f.part.ferry", Array("torn".utf8))
        },
        .init(
            "a part file that is shorter than its claims", "resume f.part 0-60 doubtful", leaves: pair,
            notes: ["shortened"]
        ) {
            try $0.pair(length: 60)
        },
        .init("a part file with another inode", "resume f.part 0-100 doubtful", leaves: pair, notes: ["moved here"]) {
            try $0.pair { $0.partInode += 1 }
        },
        .init(
            "a part file that was made at another time", "resume f.part 0-100 doubtful", leaves: pair,
            notes: ["moved here"]
        ) {
            try $0.pair { $0.partCreated = [1, 0] }
        },
        .init("a journal that claims nothing", "fresh", leaves: []) { try $0.pair(claims: []) },
        .init(
            "claims that were not synced before a restart of the system", "fresh backup of earlier", leaves: backup,
            notes: ["not synced", "restarted: nothing of it"]
        ) {
            try $0.pair { $0.unsyncedBoot = "another boot" }
        },
        .init("the same, with a digest that will decide", "resume f.part 0-100", leaves: pair) {
            try $0.pair { $0.unsyncedBoot = "another boot" }
            $0.request.checksum = try Checksum(parsing: wrong)
        },
        .init(
            "a file that did not have its digest", "fresh backup of earlier", leaves: backup,
            notes: ["restarted: its digest"]
        ) {
            try $0.pair { $0.mismatch = .init(expected: wrong, actual: wrong) }
        },
        .init(
            "the same, when earlier digests are to be ignored", "resume f.part 0-100", leaves: pair,
            notes: ["kept although its checksum differs"]
        ) {
            try $0.pair { $0.mismatch = .init(expected: wrong, actual: wrong) }
            $0.request.ignoresEarlierChecksum = true
        },
        .init(
            "parts joined for a digest that is not expected any more", "fresh backup of earlier", leaves: backup,
            notes: ["restarted: its parts"]
        ) {
            try $0.pair { ($0.checksum, $0.weakestJoin) = (wrong, .weak) }
            $0.request.ignoresEarlierChecksum = true
        },
        .init("a digest of an earlier run", "resume f.part 0-100", leaves: pair, notes: ["is expected"]) {
            try $0.pair { $0.checksum = wrong }
        },
        .init("a download that its user had paused", "resume f.part 0-100", leaves: pair) {
            try $0.pair { ($0.isPaused, $0.isTaken) = (true, true) }
        },
    ]

    static let backups: [PreparationRow] = [
        .init("a backup without a new pair", "resume f.part 0-100", leaves: pair, notes: ["are back"]) {
            try $0.pair()
            try $0.setAside()
        },
        .init(
            "a part file in the backup, its journal not yet", "resume f.part 0-100", leaves: pair, notes: ["are back"]
        ) {
            try $0.pair()
            try $0.rename("f.part", to: "f.part.old")
        },
        .init(
            "a backup beside the journal of a new pair", "fresh backup of earlier", leaves: backup, notes: ["is gone"]
        ) {
            try $0.pair()
            try $0.setAside()
            try $0.journal()
        },
        .init(
            "a backup of this download, when the present pair cannot be used either", "fresh backup of earlier",
            leaves: backup, notes: ["restarted: its digest"]
        ) {
            try $0.pair()
            try $0.setAside()
            try $0.pair { $0.mismatch = .init(expected: wrong, actual: wrong) }
        },
        .init(
            "a backup of another download, when the present pair cannot be used: both stay", "fresh",
            leaves: (pair + backup).sorted(), notes: ["restarted: its digest"]
        ) {
            try $0.pair(url: other) { $0.id = "theirs" }
            try $0.setAside()
            try $0.pair { $0.mismatch = .init(expected: wrong, actual: wrong) }
        },
    ]

    static let publications: [PreparationRow] = [
        .init(
            "a file that got its name, whose journal is left", "finished f single", leaves: ["f"],
            notes: ["finished now"]
        ) {
            try $0.put("f")
            let announced = try $0.announcement(of: "f")
            try $0.journal { $0.publishing = announced }
        },
        .init("the same, with a backup", "finished f single", leaves: ["f"], notes: ["finished now"]) {
            try $0.pair()
            try $0.setAside()
            try $0.put("f")
            let announced = try $0.announcement(of: "f")
            try $0.journal { $0.publishing = announced }
        },
        .init("a part file that has no name yet", "resume f.part 0-300", leaves: pair) {
            try $0.part()
            let announced = try $0.announcement(of: "f.part")
            try $0.journal(claims: [[0, 300]]) { $0.publishing = announced }
        },
        .init(
            "an announced file that is gone", "fresh", leaves: [], notes: ["publishing stopped", "is gone"]
        ) {
            try $0.journal { $0.publishing = .init(name: "f", device: 1, inode: 1, length: 300) }
        },
        .init(
            "a named file that was not synced before a restart of the system", "fresh distrusted", leaves: ["f"],
            notes: ["without syncing", "is gone"]
        ) {
            try $0.put("f")
            let announced = try $0.announcement(of: "f")
            try $0.journal { ($0.publishing, $0.unsyncedBoot) = (announced, "another boot") }
        },
        .init(
            "a file that got its name by a journal that does not announce it", "fresh distrusted", leaves: ["f"],
            notes: ["is gone"]
        ) {
            try $0.put("f")
            let announced = try $0.announcement(of: "f")
            try $0.journal(claims: []) { ($0.partDevice, $0.partInode) = (announced.device, announced.inode) }
        },
        .init(
            "a finished file beside a damaged journal", "fresh", leaves: ["f", "f.part.ferry"],
            notes: ["under another name"]
        ) {
            try $0.finished()
            try $0.put("f.part.ferry", Array("torn".utf8))
        },
        .init(
            "a finished copy beside a damaged journal", "fresh", leaves: ["f", "f (1)", "f (1).part.ferry"]
        ) {
            try $0.put("f")
            try $0.finished("f (1)")
            try $0.put("f (1).part.ferry", Array("torn".utf8))
        },
        .init(
            "a published file of another URL, whose journal was named", "fresh verifying f", leaves: ["f"],
            notes: ["finished now"]
        ) {
            try $0.put("f")
            let announced = try $0.announcement(of: "f")
            try $0.journal(url: other) { $0.publishing = announced }
            $0.request.destination = .part($0.directory.file("f.part").string)
        },
    ]

    static let named: [PreparationRow] = [
        .init("a named part file without a URL", "resume f.part 0-100", leaves: pair) {
            try $0.pair()
            $0.request.sources = []
            $0.request.destination = .part($0.directory.file("f.part").string)
        },
        .init(
            "a named part file with another URL", "resume f.part 0-100 of a new source without validator", leaves: pair
        ) {
            try $0.pair(url: other)
            $0.request.destination = .part($0.directory.file("f.part").string)
        },
        .init("a named part file that another download of the list owns", "failed conflict", leaves: pair) {
            try $0.pair()
            $0.context.belongsToAnother = { $0 == "earlier" }
            $0.request.destination = .part($0.directory.file("f.part").string)
        },
        .init("a named part file that is not there", "failed disk", leaves: []) {
            $0.request.destination = .part($0.directory.file("f.part").string)
        },
        .init("the part file of the download's last run", "resume f.part 0-100", leaves: pair) {
            try $0.pair(url: other) { ($0.id, $0.urls) = ("new", [PreparationWorld.url]) }
            $0.context.partPath = $0.directory.file("f.part").string
        },
        .init(
            "the part file of the last run, which another download has now", "fresh", leaves: pair,
            notes: ["belongs to another"]
        ) {
            try $0.pair(url: other)
            $0.context.partPath = $0.directory.file("f.part").string
        },
        .init(
            "an earlier download of the URL under a numbered name", "resume f (1).part 0-100 named f (1)",
            leaves: [
                "f", "f (1).part", "f (1).part.ferry",
            ].sorted()
        ) {
            try $0.put("f")
            try $0.pair("f (1)")
            $0.request.destination = .file($0.directory.file("f").string)
        },
        .init(
            "a numbered name under another rule of conflict", "fresh",
            leaves: [
                "f", "f (1).part", "f (1).part.ferry",
            ].sorted()
        ) {
            try $0.put("f")
            try $0.pair("f (1)")
            $0.request.destination = .file($0.directory.file("f").string)
            $0.request.onConflict = .overwrite
        },
    ]

    private static let numbered = ["f", "f (1).part", "f (1).part.ferry"]
    private static let numberedBackup = ["f", "f (1).part.ferry.old", "f (1).part.old"]

    static let beside: [PreparationRow] = [
        .init(
            "a finished file, and a numbered part file that did not have its digest",
            "fresh named f (1) unless current: f backup of earlier", leaves: numberedBackup
        ) {
            try $0.finished()
            try $0.pair("f (1)") { $0.mismatch = .init(expected: wrong, actual: wrong) }
        },
        .init(
            "the same with a file of another program", "fresh named f (1) verifying f backup of earlier",
            leaves: numberedBackup
        ) {
            try $0.put("f")
            try $0.pair("f (1)") { $0.mismatch = .init(expected: wrong, actual: wrong) }
        },
        .init(
            "a finished file with the validator of the numbered part file",
            "fresh named f (1) unless current: f backup of earlier", leaves: numberedBackup
        ) {
            try $0.finished()
            try $0.pair("f (1)")
        },
        .init("a finished file with another validator", "resume f (1).part 0-100 named f (1)", leaves: numbered) {
            try $0.finished(etag: "\"two\"")
            try $0.pair("f (1)")
        },
        .init("a file of another size", "resume f (1).part 0-100 named f (1)", leaves: numbered) {
            try $0.put("f", [7])
            try $0.pair("f (1)")
        },
        .init("a numbered part file that the request names", "resume f (1).part 0-100 named f (1)", leaves: numbered) {
            try $0.finished()
            try $0.pair("f (1)")
            $0.request.destination = .part($0.directory.file("f (1).part").string)
        },
        .init(
            "a finished file with the digest", "finished f digest named f (1)", leaves: numbered,
            notes: []
        ) {
            try $0.put("f")
            try $0.pair("f (1)") { $0.checksum = wrong }
            $0.request.checksum = Checksum(
                algorithm: .sha256, bytes: ByteDigest.of([UInt8](repeating: 7, count: 300), .sha256))
        },
        .init(
            "a finished file without the digest, which the run of the part file has compared",
            "resume f (1).part 0-100 named f (1)", leaves: numbered
        ) {
            try $0.finished()
            try $0.pair("f (1)") { $0.checksum = wrong }
            $0.request.checksum = try Checksum(parsing: wrong)
        },
    ]

    @Test("Preparation: a part file and its journal become what the transfer begins with", arguments: pairs)
    func adopted(_ row: PreparationRow) async throws { try await row.check() }

    @Test("Preparation: a backup is restored, kept or left to its owner", arguments: backups)
    func backedUp(_ row: PreparationRow) async throws { try await row.check() }

    @Test("Preparation: an interrupted publication is finished, repeated or given up", arguments: publications)
    func published(_ row: PreparationRow) async throws { try await row.check() }

    @Test("Preparation: a finished file is found beside a numbered part file of the same URL", arguments: beside)
    func found(_ row: PreparationRow) async throws { try await row.check() }

    @Test("Preparation: a part file that was asked for is gone on with, or the run fails", arguments: named)
    func askedFor(_ row: PreparationRow) async throws { try await row.check() }

    @Test(
        "Preparation: a part file or journal that is not ours stays as it is, and counts for nothing",
        arguments: ["f.part", "f.part.ferry"], Foreignness.possible)
    func foreign(name: String, kind: Foreignness) async throws {
        for isNamed in [false, true] {
            var world = try PreparationWorld()
            try world.pair()
            try kind.apply(to: name, in: world.directory)
            if isNamed { world.request.destination = .part(world.directory.file("f.part").string) }
            let before = try world.directory.names
            let found = try await world.prepare()
            #expect(found.prepared.summary == (isNamed ? "failed conflict" : "fresh"))
            #expect(found.notes == [] && found.names == before)
        }
    }

    @Test(
        "Preparation: a link or a directory in place of a part file fails the run that would write to it",
        arguments: [true, false])
    func notRegular(isLink: Bool) async throws {
        let world = try PreparationWorld()
        try world.journal()
        try world.put("elsewhere")
        if isLink {
            try world.link("f.part", to: world.directory.file("elsewhere").string)
        } else {
            try world.makeDirectory("f.part")
        }
        let before = try world.directory.names
        let found = try await world.prepare()
        #expect(found.prepared.summary == "failed disk")
        #expect(found.names == before)
    }

    @Test(
        "Preparation: a journal that another process created after the directory was read is found",
        arguments: ["f", "f (1)"])
    func unseen(name: String) async throws {
        let world = try PreparationWorld()
        #expect(try await world.prepare().prepared.summary == "fresh")
        if name != "f" { try world.put("f") }
        try world.pair(name)
        let found = try await world.prepare()
        #expect(found.prepared.summary.hasPrefix("resume \(name).part 0-100"), "\(found.prepared.summary)")
        #expect(found.notes == [])
    }

    @Test("Preparation: a journal that another process has begun anew for another URL is not continued")
    func begunAnew() async throws {
        let world = try PreparationWorld()
        try world.pair()
        #expect(try await world.prepare().prepared.summary == "resume f.part 0-100")
        for file in Self.pair { try FileManager.default.removeItem(atPath: world.directory.file(file).string) }
        try world.pair(url: Self.other)
        let found = try await world.prepare()
        #expect(found.prepared.summary == "fresh" && found.names == Self.pair)
    }

    @Test("Preparation: claims that do not count are taken out of the journal before the transfer begins")
    func retracted() async throws {
        let world = try PreparationWorld()
        try world.pair(length: 60)
        var tags = JournalTags()
        (tags.isPaused, tags.label) = (true, "now")
        let found = try await world.prepare(tags: tags)
        #expect(found.claims == ["f.part.ferry": [[0, 60]]])
        // The list may have changed since the run was made.
        #expect(found.prepared.record?.isPaused == true && found.prepared.record?.label == "now")
    }

    @Test("Preparation: a locked journal fails its own download; one of another URL takes another name")
    func locked() async throws {
        for url in [PreparationWorld.url, Self.other] {
            var world = try PreparationWorld()
            try world.pair(url: url)
            world.request.destination = .file(world.directory.file("f").string)
            let held = try Journal.open(
                at: world.directory.file("f.part.ferry"), fileSystem: LocalFileSystem(), syncs: false)
            defer { held.journal.close() }
            let found = try await world.prepare()
            #expect(found.prepared.summary == (url == Self.other ? "fresh" : "failed conflict"))
        }
    }

    @Test("Preparation: a failure after the part file was opened hands it over, so that a cancellation removes it")
    func failureWithPart() async throws {
        var world = try PreparationWorld()
        try world.pair()
        // The server's answer is no list.
        world.request.checksumList = try DownloadURL("http://server.test/SHA256SUMS")
        let found = try await world.prepare()
        #expect(found.prepared.summary == "failed checksum with a part")
        #expect(found.prepared.record?.id == "new" && found.names == Self.pair)
    }

    @Test("Preparation: without a part file the next journal keeps the events and the upload of the earlier one")
    func kept() async throws {
        let world = try PreparationWorld()
        try world.pair { record in
            record.mismatch = .init(expected: Self.wrong, actual: Self.wrong)
            record.upload = .init(object: "s3://bucket/f", id: "7")
            record.events = [.init(time: 1, text: "begun")]
        }
        let record = try #require(try await world.prepare().prepared.record)
        #expect(record.upload?.id == "7" && record.events.map(\.text).first == "begun" && record.events.count == 2)
    }
}
