import FerryCore
import FerryEngine
import FerryTesting
import SystemPackage
import Testing

@testable import Ferry

@Suite("Lists of sets")
struct SetListTests {
    private static let digest = String(repeating: "ab", count: 32)

    private static func list(_ text: String, base: String? = nil) throws -> SetList {
        try SetList(Array(text.utf8), base: try base.map { try DownloadURL($0) })
    }

    /// The phrases of the problems.
    private static func keys(_ list: SetList) -> [ErrorPhrase.Key?] {
        list.problems.map { if case .phrase(let phrase) = $0 { phrase.key } else { nil } }
    }

    @Test(
        "List: the format is recognized, and each gives the same file",
        arguments: [
            "# comment\n\nhttp://h/d/a%20b.bin\n  out=x/a b.bin\n  checksum=sha256:\(digest)\n",
            #"{"url":"http://h/d/a%20b.bin","path":"x/a b.bin","sha256":"\#(digest)"}"# + "\n",
            #"{"urls":["http://h/d/a%20b.bin"],"path":"x/a b.bin","checksum":"sha-256=\#(digest)","totalBytes":5}"#,
            "url,path,sha256\nhttp://h/d/a%20b.bin,\"x/a b.bin\",\(digest)\n",
            "sha256\tpath\turl\r\n\(digest)\tx/a b.bin\thttp://h/d/a%20b.bin\r\n",
            """
            <?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="x/a b.bin"><hash type="sha-256">\(digest)</hash>
            <url>http://h/d/a%20b.bin</url></file></metalink>
            """,
        ])
    func formats(text: String) throws {
        let list = try Self.list(text)
        #expect(list.problems.isEmpty)
        let entry = try #require(list.entries.first)
        #expect(list.entries.count == 1)
        #expect(entry.path == "x/a b.bin")
        #expect(entry.sources.map(\.text) == ["http://h/d/a%20b.bin"])
        #expect(entry.checksum?.hex == Self.digest)
    }

    /// The last line of a manifest was a problem, and a manifest without its last lines counted as whole.
    @Test("Manifest as list: it is whole if it ends with the number of its files")
    func manifest() throws {
        func record(_ name: String) -> String {
            let proof = #""proof":"single","completedAt":"2026-11-28T10:00:00Z""#
            return #"{"path":"\#(name)","urls":["http://h/\#(name)"],\#(proof),"modified":"1.000000000"}"#
        }
        let missing = #"{"path":"c","urls":["http://h/c"],"problem":"refused"}"#
        let (a, b, end) = (record("a"), record("b"), #"{"files":2}"#)
        for (lines, problem) in [
            ([a, b, end], nil), ([a, missing, end], nil), ([a, "", "# note", b, end, ""], nil),
            ([a, b], .cutManifest), ([missing], .cutManifest), ([a, b, end, record("d")], .cutManifest),
            ([a, end], .shortList), ([a, b, missing, end], .shortList),
            ([#"{"path":"a","urls":["http://h/a"],"proof":"single"}"#, #"{"url":"http://h/b","path":"b"}"#], nil),
        ] as [([String], ErrorPhrase.Key?)] {
            let list = try Self.list(lines.joined(separator: "\n"))
            #expect(Self.keys(list) == (problem.map { [$0] } ?? []), "\(lines)")
            #expect(list.entries.count == lines.count { $0.contains("path") })
        }
    }

    @Test("List: one that ended with the connection is whole only if it says so itself")
    func cut() throws {
        let metalink =
            #"<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a"><url>http://h/a</url></file></metalink>"#
        for (text, isWhole) in [
            ("{\"url\":\"http://h/a\"}\n", false), ("{\"url\":\"http://h/a\"}\n{\"files\":1}\n", true),
            ("http://h/a\n", false), ("url,path\nhttp://h/a,a\n", false), ("\(Self.digest)  a\n", false),
            (metalink, true),
        ] {
            func list(mayBeCut: Bool) throws -> SetList {
                try SetList(Array(text.utf8), base: try DownloadURL("http://h/"), mayBeCut: mayBeCut)
            }
            #expect(try list(mayBeCut: false).problems.isEmpty)
            let list = try list(mayBeCut: true)
            #expect(list.entries.count == 1)
            #expect(Self.keys(list) == (isWhole ? [] : [.cutList]), "\(text)")
        }
    }

    /// Numbers that are no integers of 64 bits were ignored.
    @Test(
        "List of JSON lines: a size or digest that cannot be used is a problem of its line",
        arguments: [
            #""size":18446744073709551616"#, #""totalBytes":9223372036854775808"#, #""size":-1"#, #""size":1.5"#,
            #""size":1e30"#, #""size":true"#, #""size":{"bytes":5}"#, #""length":[true]"#, #""sha256":5"#,
            #""checksum":{"sha256":"00"}"#, #""digest":false"#,
        ])
    func unusableEvidence(member: String) throws {
        let list = try Self.list("{\"url\":\"http://h/a\",\(member)}\n{\"url\":\"http://h/b\"}")
        #expect(list.entries.map(\.path) == ["b"] && list.problems.count == 1, "\(list.problems)")
    }

    @Test("List of JSON lines: members without a value are ignored")
    func noValue() throws {
        let members = #""size":null,"checksum":null,"sha256":[],"path":null,"name":{"en":"x"},"file":true"#
        let list = try Self.list("{\"url\":\"http://h/a\",\(members)}")
        #expect(list.entries.map(\.path) == ["a"] && list.problems.isEmpty)
        #expect(list.entries[0].totalBytes == nil && list.entries[0].checksum == nil)
    }

    @Test("List of JSON lines: the mirrors of a line with a problem are not given to the file before it")
    func mirrorsOfProblem() throws {
        let list = try Self.list(
            """
            {"urls":["http://h/a","http://mirror/a"],"path":"a"}
            {"urls":["http://h/b","http://mirror/b"],"path":"../b"}
            """)
        #expect(list.entries.map { $0.sources.map(\.text) } == [["http://h/a", "http://mirror/a"]])
        #expect(list.problems.count == 1)
    }

    @Test(
        "CSV: a field in quotation marks has line breaks, separators and doubled marks; a mark that stays open costs its line"
    )
    func quoted() throws {
        let text =
            "\u{FEFF}path,note,url\r\n"
            + "a.bin,\"two\r\nlines, \"\"quoted\"\"\n\",http://h/a.bin\r\n# comment\n\n"
            + "b.bin,5\" disk,http://h/b.bin\nc.bin,\"open,http://h/c.bin\nd.bin,,http://h/d.bin"
        let list = try Self.list(text)
        #expect(list.entries.map(\.path) == ["a.bin", "b.bin", "d.bin"], "\(list.entries.map(\.path))")
        #expect(list.problems.map(\.description) == ["line 8: a quotation mark is not closed"])
        let rows = Array(SeparatedRows(Array("x\t\"a\tb\"\ty \n".utf8), separator: 0x09))
        #expect(rows == [SeparatedRows.Row(line: 1, fields: ["x", "a\tb", "y "])])
    }

    @Test("List: what is no text is refused as a whole, and nothing of it is shown")
    func binary() throws {
        let bytes = Array("\u{7F}ELF".utf8) + [2, 1, 1, 0, 0, 10, 0x9B]
        let error = #expect(throws: DownloadError.self) {
            try SetList(bytes, base: try DownloadURL("http://h/program"))
        }
        #expect(error?.phrase?.key == .notAList && error?.suggestion?.contains("ferry get") == true)
        let wide = try SetList([0x61, 0, 0x0A, 0], base: nil)
        #expect(wide.entries.isEmpty && wide.problems.map { $0.text(in: .english) }.joined().contains("UTF-16"))
    }

    @Test("List: a JSON array and XML of another form are refused with the forms that are read")
    func otherForms() throws {
        for text in [
            "[\n{ \"name\":\"a\", \"type\":\"file\" }\n]", "<?xml version=\"1.0\"?>\n<list><file>a</file></list>",
        ] {
            let error = #expect(throws: DownloadError.self) { try Self.list(text, base: "http://h/") }
            #expect(error?.suggestionPhrase?.key == .listForms && error?.phrase?.key != .emptySet, "\(text)")
        }
    }

    @Test("Filter: a pattern with / at its end matches directories, and says which listings need not be read")
    func directories() {
        let filter = SetFilter(exclude: ["old/", "a/b/", "tmp/**"])
        for path in ["old/x", "c/old/x", "c/old/d/x", "a/b/x", "tmp/x"] { #expect(!filter.accepts(path), "\(path)") }
        for path in ["old", "older/x", "c/a/b/x", "b/x", "c/tmp/x"] { #expect(filter.accepts(path), "\(path)") }
        for path in ["old", "c/old", "c/old/d", "a/b", "a/b/c", "tmp", "tmp/y"] {
            #expect(filter.prunes(path), "\(path)")
        }
        for path in ["a", "b", "c/a/b", "c/tmp", "older"] { #expect(!filter.prunes(path), "\(path)") }
        #expect(SetFilter(include: ["keep/"]).accepts("a/keep/x") && !SetFilter(include: ["keep/"]).accepts("keep"))
    }

    @Test("Index: the first page may lead to https of the same host, and to no other server")
    func servers() throws {
        func isSame(_ answered: String, _ asked: String) throws -> Bool {
            SetReader.isSameServer(try DownloadURL(answered), try DownloadURL(asked))
        }
        #expect(try isSame("http://h/b/", "http://h/a/") && isSame("https://h/a/", "http://h/a/"))
        for other in ["http://g/a/", "https://h:8443/a/", "http://h:81/a/"] {
            #expect(try !isSame(other, "http://h/a/"), "\(other)")
        }
        #expect(try !isSame("http://h/a/", "https://h/a/"))
    }

    /// It was left out, because another file had its path.
    @Test("Two links to one file that are encoded differently are one file")
    func encodings() throws {
        for (one, other, isSame) in [
            ("http://h/b%20c", "http://h/%62%20c", true), ("http://h/b", "http://h/b", true),
            ("http://h/b", "http://g/b", false), ("http://h/b", "http://h/b?v=2", false),
            ("http://h/a/b", "http://h/a%2Fb", false),
        ] {
            var listing = SetListing()
            listing.add(
                try [one, other].map { try SetEntry(path: "b", sources: [DownloadURL($0)]) }, SetFilter())
            #expect(listing.entries.count == 1 && listing.problems.isEmpty == isSame, "\(other)")
        }
    }

    /// The first line counted, without a message.
    @Test("List: two different digests or sizes of one file are a problem")
    func contradictions() throws {
        let other = String(repeating: "ef", count: 32)
        func json(_ member: String) -> String { #"{"url":"http://h/a",\#(member)}"# + "\n" }
        for (text, isProblem) in [
            ("\(Self.digest)  a\n\(other)  a", true), ("\(Self.digest)  a\n\(Self.digest)  a", false),
            ("\(Self.digest)  a\n\(String(repeating: "cd", count: 16))  a", false),
            (json(#""sha256":"\#(Self.digest)""#) + json(#""sha256":"\#(other)""#), true),
            (json(#""size":5"#) + json(#""size":6"#), true), (json(#""size":5"#) + json(#""etag":"x""#), false),
        ] {
            let list = try Self.list(text, base: "http://h/")
            var listing = SetListing()
            listing.add(list.entries, SetFilter())
            #expect(listing.entries.map(\.path) == ["a"] && list.problems.isEmpty, "\(text)")
            #expect(listing.entries[0].checksum?.hex != other)
            let keys: [ErrorPhrase.Key?] = listing.problems.map {
                if case .phrase(let phrase) = $0 { phrase.key } else { nil }
            }
            #expect(keys == (isProblem ? [.listedTwice] : []), "\(text)")
        }
    }

    /// The names were made safe for every file system, without a message.
    @Test("List: a file without a path has the name in its URL, unchanged as far as this system allows")
    func namesOfURLs() throws {
        let expected =
            [
                (".hidden", ".hidden", nil), ("-dash", "-dash", nil), ("CON", "CON", nil), ("dot.", "dot.", nil),
                ("q%3Fq", "q?q", nil), ("a%7Cb", "a|b", nil), ("x*y", "x*y", nil), ("i%2Fj", "i_j", "i%2Fj"),
                ("a.part.ferry", "a.part.ferry_", "a.part.ferry"), ("", "download", nil),
            ] as [(name: String, path: String, listed: String?)]
        for (name, path, listed) in expected {
            for text in ["{\"url\":\"http://h/n/\(name)\"}", "http://h/n/\(name)"] {
                let entry = try #require(try Self.list(text).entries.first)
                #expect(entry.path == path && entry.otherName == listed, "\(text)")
            }
            let below = try #require(try Self.list("http://h/n/\(name)\n  dir=./d/e/\n").entries.first)
            #expect(below.path == "d/e/" + path && below.otherName == listed.map { "d/e/" + $0 })
        }
        #expect(try Self.list("http://h/n/%2e%2e%2fa").entries.map(\.path) == [".._a"])
    }

    @Test("List of checksums: names are below its own URL, and the strongest digest of a name counts")
    func checksums() throws {
        let text = """
            \(String(repeating: "cd", count: 16))  sub/a b?.bin
            \(Self.digest) *sub/a b?.bin
            SHA256 (c.bin) = \(Self.digest)
            """
        let list = try Self.list(text, base: "http://h/release/SHA256SUMS")
        #expect(list.entries.map(\.path) == ["sub/a b?.bin", "c.bin"])
        #expect(list.entries[0].sources[0].text == "http://h/release/sub/a%20b%3F.bin")
        #expect(list.entries[0].checksum?.algorithm == .sha256)
        let error = #expect(throws: DownloadError.self) { try Self.list(text) }
        #expect(error?.message.contains("--base") == true)
    }

    @Test("List of checksums: one that is signed in the form of Fedora's is read, and its signature is not")
    func clearsigned() throws {
        let list = try Self.list(
            """
            -----BEGIN PGP SIGNED MESSAGE-----
            Hash: SHA256

            # a.iso: 5 bytes
            SHA256 (a.iso) = \(Self.digest)
            -----BEGIN PGP SIGNATURE-----

            iQIzBAEBCAAdFiEEEV35rvhXhT7oRF0KBydwfqFbecwFAmYfnb4ACgkQBydwfqFb
            =Vt6d
            -----END PGP SIGNATURE-----
            """, base: "http://h/r/CHECKSUM")
        #expect(list.problems.isEmpty && list.entries.map(\.path) == ["a.iso"])
        #expect(list.entries[0].checksum?.hex == Self.digest && list.entries[0].sources[0].text == "http://h/r/a.iso")
    }

    @Test("List of checksums: canonically equivalent names are different files with digests of their own")
    func equivalentNames() throws {
        let other = String(repeating: "ef", count: 64)
        let list = try Self.list(
            "\(Self.digest)  cafe\u{301}.bin\n\(other)  caf\u{E9}.bin", base: "http://h/release/SHA256SUMS")
        let names = ["cafe\u{301}.bin", "caf\u{E9}.bin"]
        #expect(list.entries.map { Array($0.path.utf8) } == names.map { Array($0.utf8) })
        #expect(list.entries.map(\.checksum?.hex) == [Self.digest, other])
        // Names that no file has are problems, and lend no other one their digest.
        let hostile = try Self.list(
            "\(Self.digest)  d/a\n\(other)  d//a\n\(other)  d/a/\n\(other)  d/\0a", base: "http://h/release/SHA256SUMS")
        #expect(hostile.entries.first?.checksum?.hex == Self.digest)
        #expect(!hostile.entries.dropFirst().contains { $0.path.hasSameBytes(as: "d/a") })
    }

    @Test("Plan: a file with a name that is equivalent to a recorded one is another file, and is not replaced")
    func equivalentRecord() throws {
        var record = FileRecord(path: "cafe\u{301}.bin", urls: ["http://h/x"])
        (record.totalBytes, record.proof, record.modified) = (5, .single, "1.000000000")
        let directory = SyncPlan.Holdings(manifest: [record.key: record]) { _ in
            SyncPlan.HeldFile(totalBytes: 5, mark: "1.000000000")
        } isSame: { _ in
            true
        } mayBeOurs: { _ in
            false
        }
        var listing = SetListing()
        listing.add([try SetEntry(path: "caf\u{E9}.bin", sources: [DownloadURL("http://h/x")])], SetFilter())
        let plan = SyncPlan(listing, SyncOptions(), directory)
        #expect(plan.steps == [.conflict(listing.entries[0])])
        #expect(plan.gone.map(\.record) == [record])
    }

    /// Its record was dropped, so no later sync deleted the file.
    @Test("Plan: a gone file that cannot be inspected keeps its record; one below a file is gone here too")
    func uninspected() throws {
        var record = FileRecord(path: "d/a.bin", urls: ["http://h/a.bin"])
        (record.totalBytes, record.proof, record.modified) = (5, .single, "1.000000000")
        func gone(_ kind: FileError.Kind, deletes: Bool) -> [SyncPlan.Gone] {
            let directory = SyncPlan.Holdings(manifest: [record.key: record]) { path throws(FileError) in
                throw FileError(.inspect, FilePath(path), kind: kind)
            } isSame: { _ in
                false
            } mayBeOurs: { _ in
                false
            }
            var options = SyncOptions()
            options.deletesGone = deletes
            return SyncPlan(SetListing(), options, directory).gone
        }
        for deletes in [false, true] {
            #expect(gone(.permission, deletes: deletes) == [SyncPlan.Gone(record: record, isDeleted: deletes)])
        }
        let missing = FaultyFileSystem { _, _ in .notDirectory }
        #expect(try SyncPlan.HeldFile.read("/d/a.bin", missing) == nil)
        let closed = FaultyFileSystem { _, _ in .permission }
        #expect(throws: FileError.self) { try SyncPlan.HeldFile.read("/d/a.bin", closed) }
    }

    /// It was opened three times, so that the three checks could see different files.
    @Test("Gone files: a file is opened once to decide whether it may be deleted", arguments: ["same", "else"])
    func provenByOneFile(text: String) async throws {
        try await Workshop.run { shop in
            try shop.write(text, to: "f")
            var record = FileRecord(path: "f", urls: ["http://h/f"])
            record.totalBytes = 4
            record.checksum = Checksum(algorithm: .sha256, bytes: ByteDigest.of(Array("same".utf8), .sha256))
            let disk = FaultyFileSystem()
            let path = FilePath(shop.path("f"))
            #expect(try SyncPlan.Holdings.isProven(record, at: path, disk) == (text == "same"))
            #expect(disk.log.count { $0.hasPrefix("open ") } == 1, "\(disk.log)")
        }
    }

    @Test("Plan: a file of the set that was changed here is told from one that is not of the set")
    func changedHere() throws {
        let digest = try Checksum(parsing: "sha256:" + Self.digest)
        var record = FileRecord(path: "a.bin", urls: ["http://h/a.bin"])
        (record.totalBytes, record.proof, record.modified, record.checksum) = (5, .single, "1.000000000", digest)
        let directory = SyncPlan.Holdings(manifest: [record.key: record]) { _ in
            SyncPlan.HeldFile(totalBytes: 6, mark: "2.000000000")
        } isSame: { _ in
            false
        } mayBeOurs: { _ in
            false
        }
        var entry = try SetEntry(path: "a.bin", sources: [DownloadURL("http://h/a.bin")])
        func step(_ directory: SyncPlan.Holdings) -> SyncPlan.Step? {
            var listing = SetListing()
            listing.add([entry], SetFilter())
            return SyncPlan(listing, SyncOptions(), directory).steps.first
        }
        #expect(step(directory) == .changedHere(entry))
        // Another download has replaced it.
        var replaced = directory
        replaced.isContradicted = { _ in true }
        #expect(step(replaced) == .conflict(entry))
        var unknown = directory
        unknown.manifest = [:]
        #expect(step(unknown) == .conflict(entry))
        entry.checksum = digest
        #expect(step(directory) == .request(entry, .unrecorded))
    }

    @Test("List: paths that lead out, names of the manifest, and lines without a URL are problems of their lines")
    func hostile() throws {
        let lines = [
            #"{"url":"http://h/a","path":"../a"}"#, #"{"url":"http://h/a","path":"/etc/passwd"}"#,
            #"{"url":"http://h/a","path":"a/../../b"}"#, #"{"url":"http://h/a","path":"ferry-manifest.jsonl"}"#,
            #"{"url":"file:///etc/passwd"}"#, #"{"path":"a"}"#, "nonsense", String(repeating: "[", count: 10_000),
            #"{"url":"http://h/a","path":"ok","sha256":"zz"}"#, #"{"url":"http://h/a","path":""}"#,
            #"{"url":"http://h/ok","path":".ssh/ok"}"#,
        ]
        let list = try Self.list(lines.joined(separator: "\n"))
        #expect(list.problems.count == 9, "\(list.problems)")
        // Without a path, the name in the URL.
        #expect(list.entries.map(\.path) == ["a", ".ssh/ok"])
        let safe = try SetList(Array(#"{"url":"http://h/ok","path":".ssh/ok"}"#.utf8), base: nil, safeNames: true)
        #expect(safe.entries.map(\.path) == ["_ssh/ok"])
        #expect(list.problems.first?.description.hasPrefix("line 1: ") == true)
    }

    @Test("Paths of URLs: only what is below the directory, each name decoded by itself")
    func paths() throws {
        let root = try DownloadURL("http://h/pub/")
        func path(_ url: String) throws -> String? {
            SetPath.names(of: try DownloadURL(url), below: root).map(SetPath.listed)
        }
        #expect(try path("http://h/pub/a%20b/c") == "a b/c")
        #expect(try path("http://h/pub/") == nil)
        #expect(try path("http://h/pub/?C=N;O=D") == nil)
        #expect(try path("http://h/pub/a?x") == nil)
        #expect(try path("http://h/public/a") == nil)
        #expect(try path("http://h:81/pub/a") == nil)
        #expect(try path("http://h/pub/..%2f..%2fetc") == "..%2F..%2Fetc")
        #expect(SetPath.make(names: ["../../etc", "a\\b"]) == ".._.._etc/a_b")
        #expect(SetPath.make(names: ["../../etc", "a\\b"], safeNames: true) == "_._.._etc/a_b")
        #expect(try path("http://h/pub/%2e%2e/x") == nil)
        #expect(SetPath.make("a/..") == nil)
        #expect(SetPath.make("./a/b") == "a/b")
        #expect(SetPath.make(String(repeating: "a/", count: 100) + "b") == nil)
    }

    @Test("Keys: names stay as they are, if lists of stores and messages can have them")
    func keys() {
        for key in [
            "a", ".a", "a\\b", "a.old", "x/ferry-manifest.jsonl", "d:e?/f*", "a ", "x.part.ferry", "ü",
            "Ferry-Manifest.JSONL",
        ] {
            #expect(SetPath.isKey(key), "\(key)")
        }
        for text in [
            "", "/a", "a/", "a//b", "..", "a/../b", "./a", "ferry-manifest.jsonl", "a\nb",
            "\u{85}", "\u{FFFD}", "a\u{FFFF}", String(repeating: "a/", count: 100) + "b",
        ] { #expect(!SetPath.isKey(text), "\(text)") }
    }

    @Test("Two files with one path: the one that has it by itself counts, and the other one is named")
    func collisions() throws {
        func entry(_ path: String) throws -> SetEntry {
            try SetEntry(path: path, sources: [try DownloadURL("http://h/" + PercentEncoding.encodeAll(path))])
        }
        var listing = SetListing()
        listing.add([try entry("a\t.txt"), try entry("a_.txt"), try entry("a\\.txt")], SetFilter())
        #expect(listing.entries.map(\.sources[0].text) == ["http://h/a%5F%2Etxt"])
        #expect(listing.problems.count == 2)
        #expect(try entry("x\\y.txt").path == "x_y.txt")
    }

    @Test("Filter: stars within names, double stars over directories, names without a slash")
    func filter() {
        func accepts(_ path: String, include: [String] = [], exclude: [String] = []) -> Bool {
            SetFilter(include: include, exclude: exclude).accepts(path)
        }
        #expect(accepts("a/b/c.iso", include: ["*.iso"]))
        #expect(!accepts("a/b/c.iso.asc", include: ["*.iso"]))
        #expect(!accepts("a/b/c.iso", include: ["a/*.iso"]))
        #expect(accepts("a/b/c.iso", include: ["a/*/*.iso"]))
        #expect(accepts("a/b/c.iso", include: ["a/**"]))
        #expect(accepts("a/b/c.iso", include: ["**/c.iso"]))
        #expect(accepts("c.iso", include: ["**/c.iso"]))
        #expect(!accepts("xc.iso", include: ["**/c.iso"]))
        #expect(accepts("a/b", include: ["a/**/b"]))
        #expect(accepts("a/x/y/b", include: ["a/**/b"]))
        #expect(!accepts("a/xb", include: ["a/**/b"]))
        #expect(!accepts("a/b", exclude: ["b"]))
        #expect(!accepts("a/b", include: ["?"], exclude: ["*/b"]))
        #expect(accepts("ab", include: ["a?"]))
        // A slash at the beginning is the directory of the set, as of rsync and rclone.
        #expect(!accepts("odd/a", exclude: ["/odd/"]))
        #expect(accepts("x/odd/a", exclude: ["/odd/"]))
        #expect(!accepts("odd/a/b", exclude: ["/odd/***"]))
        #expect(!accepts("a.txt", exclude: ["/*.txt"]))
        #expect(accepts("x/a.txt", exclude: ["/*.txt"]))
        #expect(accepts("odd/a", include: ["/odd/"]))
        for (pattern, directory, isPruned) in [
            ("/odd/", "odd", true), ("/odd/", "x/odd", false), ("odd/", "x/odd", true), ("/odd/**", "odd/x", true),
            ("odd/***", "odd", true), ("/odd/***", "x/odd", false),
        ] {
            #expect(SetFilter(exclude: [pattern]).prunes(directory) == isPruned, "\(pattern) \(directory)")
        }
        // No pattern takes more than the square of its text.
        let text = String(repeating: "a", count: 2000)
        #expect(!accepts(text, include: [String(repeating: "*a", count: 500) + "b"]))
    }

    @Test("Plan: digests and strong ETags of the list decide, else the server is asked; changed files are not replaced")
    func plan() throws {
        func entry(_ path: String, _ change: (inout SetEntry) -> Void = { _ in }) throws -> SetEntry {
            var entry = try SetEntry(path: path, sources: [try DownloadURL("http://h/\(path)")])
            change(&entry)
            return entry
        }
        let digest = try Checksum(parsing: Self.digest)
        func record(_ path: String) -> FileRecord {
            var record = FileRecord(path: path, urls: ["http://h/\(path)"])
            (record.totalBytes, record.checksum, record.proof) = (5, digest, .single)
            (record.etag, record.modified) = ("\"e\"", "1.000000000")
            return record
        }
        let names = [
            "same", "otherDigest", "etag", "weak", "size", "asked", "touched", "edited", "editedListed", "absent",
            "gone",
            "goneToo", "no/excluded", "no/other", "a/b/deep",
        ]
        let manifest = Dictionary(uniqueKeysWithValues: names.map { (record($0).key, record($0)) })
        var listing = SetListing()
        listing.add(
            [
                try entry("same") { $0.checksum = digest },
                try entry("otherDigest") { $0.checksum = try? Checksum(parsing: String(repeating: "00", count: 32)) },
                try entry("etag") { $0.etag = "\"e\"" }, try entry("weak") { $0.etag = "W/\"e\"" },
                try entry("size") { ($0.totalBytes, $0.checksum) = (6, digest) }, try entry("asked"),
                try entry("touched"), try entry("edited"), try entry("editedListed") { $0.checksum = digest },
                try entry("killed"), try entry("absent"), try entry("new"), try entry("no/excluded"),
            ], SetFilter(exclude: ["no/*"]))
        var options = SyncOptions()
        options.filter = SetFilter(exclude: ["no/*"])
        options.maxDepth = 1
        let directory = SyncPlan.Holdings(manifest: manifest) { path in
            switch path {
            case "absent", "goneToo", "new": nil
            case "touched", "edited", "editedListed", "killed":
                SyncPlan.HeldFile(totalBytes: 5, mark: "2.000000000")
            default: SyncPlan.HeldFile(totalBytes: 5, mark: "1.000000000")
            }
        } isSame: {
            $0.path == "touched"
        } mayBeOurs: {
            $0.path == "killed"
        }
        let plan = SyncPlan(listing, options, directory)
        let steps = plan.steps.map { step in
            switch step {
            case .keep: "keep"
            case .request(_, let cause): cause.replaces ? "replace" : "request"
            case .conflict: "conflict"
            case .changedHere: "changed here"
            case .blocked: "blocked"
            }
        }
        #expect(
            steps == [
                "keep", "replace", "keep", "replace", "replace", "replace", "replace", "changed here", "request",
                "request", "request", "request",
            ])
        // What the filter or the depth leaves out is neither gone nor forgotten.
        #expect(plan.others.map(\.path) == ["a/b/deep", "no/excluded", "no/other"])
        options.replacesOthers = true
        #expect(SyncPlan(listing, options, directory).steps[7] == .request(listing.entries[7], .foreign))
        #expect(plan.gone.map(\.record.path) == ["gone"])
    }

    @Test("Plan: a trusted list keeps a file with its old date and size, if the file itself is unchanged")
    func trusted() throws {
        func step(_ change: (inout FileRecord, inout SetEntry, inout SyncOptions) -> Void) throws -> SyncPlan.Step? {
            var record = FileRecord(path: "f", urls: ["http://h/f"])
            (record.totalBytes, record.proof, record.modified) = (5, .single, "1.000000000")
            record.listed = "Sat, 28 Nov 2026 10:00:00 GMT 5"
            var entry = try SetEntry(path: "f", sources: [try DownloadURL("http://h/f")], totalBytes: 5)
            entry.lastModified = "Sat, 28 Nov 2026 10:00:00 GMT"
            var options = SyncOptions()
            options.trustsListing = true
            change(&record, &entry, &options)
            var listing = SetListing()
            listing.add([entry], SetFilter())
            let directory = SyncPlan.Holdings(manifest: [record.key: record]) { _ in
                SyncPlan.HeldFile(totalBytes: 5, mark: "1.000000000")
            } isSame: { _ in
                false
            } mayBeOurs: { _ in
                false
            }
            return SyncPlan(listing, options, directory).steps.first
        }
        guard case .keep(let kept)? = try step({ _, _, _ in }) else { return #expect(Bool(false)) }
        #expect(kept.currentBy == "listing")
        for change in [
            { _, _, options in options.trustsListing = false }, { record, _, _ in record.listed = nil },
            { _, entry, _ in entry.lastModified = "Sat, 28 Nov 2026 10:00:01 GMT" },
            { _, entry, _ in entry.lastModified = nil },
        ] as [(inout FileRecord, inout SetEntry, inout SyncOptions) -> Void] {
            guard case .request(_, .unproven)? = try step(change) else { return #expect(Bool(false)) }
        }
        guard case .request(_, .changed)? = try step({ _, entry, _ in entry.totalBytes = 6 }) else {
            return #expect(Bool(false))
        }
        guard case .changedHere? = try step({ record, _, _ in record.modified = "2.000000000" }) else {
            return #expect(Bool(false))
        }
    }

    @Test("Listing: the patterns that match no listed file are known, wanted files and others counted")
    func unusedPatterns() throws {
        let filter = SetFilter(include: ["*.bin", "*.iso"], exclude: ["/old/", "b*", "tmp/"])
        var listing = SetListing(filter)
        for path in ["a.bin", "old/c.bin", "x/tmq/d.bin", "e.txt"] {
            listing.add([try SetEntry(path: path, sources: [DownloadURL("http://h/x")])], filter)
        }
        #expect(listing.entries.map(\.path) == ["a.bin", "x/tmq/d.bin"])
        #expect(listing.unusedPatterns == ["*.iso", "b*", "tmp/"])
    }

    @Test("Filter: sizes and dates of lists, S3 and index pages choose files, and a file without them is wanted")
    func bounds() throws {
        let now = try #require(RFC3339.date("2026-11-28T12:00:00Z"))
        func entry(_ change: (inout SetEntry) -> Void) throws -> SetEntry {
            var entry = try SetEntry(path: "f", sources: [DownloadURL("http://h/f")])
            change(&entry)
            return entry
        }
        func row(_ text: String) throws -> SetEntry {
            var reader = LinkReader(at: try DownloadURL("http://h/"), most: 1, mostBytes: 100)
            reader.append("<a href=\"f\">f</a> \(text)".utf8)
            reader.finish()
            return try entry { $0.row = reader.links.first?.row }
        }
        var large = SetFilter()
        (large.largerThan, large.smallerThan) = (1000, 2_000_000)
        var recent = SetFilter()
        (recent.newerThan, recent.olderThan) = (.seconds(86_400), .seconds(3600))
        for (size, isWanted) in [(1000, false), (1001, true), (1_999_999, true), (2_000_000, false)]
            as [(ByteCount, Bool)]
        {
            #expect(try large.accepts(entry { $0.totalBytes = size }, now: now) == isWanted)
        }
        let plain = try entry { _ in }
        #expect(large.accepts(plain, now: now) && recent.accepts(plain, now: now))
        for (text, isLarge, isRecent) in [
            ("28-Nov-2026 10:00  1500", true, true), ("2026-11-28 11:30  1.2M", true, false),
            ("2026-Nov-27 11:59:59 3G", false, false), ("27-Nov-2026 12:00 10", false, true),
        ] {
            #expect(try large.accepts(row(text), now: now) == isLarge, "\(text)")
            #expect(try recent.accepts(row(text), now: now) == isRecent, "\(text)")
        }
        for (date, isWanted) in [
            ("Sat, 28 Nov 2026 10:00:00 GMT", true), ("2026-11-28T11:30:00Z", false), ("yesterday", true),
        ] {
            #expect(try recent.accepts(entry { $0.lastModified = date }, now: now) == isWanted, "\(date)")
        }
        #expect(!SetFilter().hasBounds && large.hasBounds && recent.hasBounds)
    }
}
