import FerryTesting
import Foundation
import Testing

@Suite("The binary: sync, verify, repair", .serialized, .timeLimit(.minutes(30))) struct SetCommandTests {
    private static func serve(_ server: OriginServer) {
        server.serve(
            "/pub/",
            Resource(
                text: "<html><a href=\"a.bin\">a.bin</a> <a href=\"sub/\">sub/</a></html>", contentType: "text/html"))
        server.serve("/pub/sub/", Resource(text: "<html><a href=\"b.bin\">b</a></html>", contentType: "text/html"))
        server.serve("/pub/a.bin", Resource(size: 3_000_000, seed: 1))
        server.serve("/pub/sub/b.bin", Resource(size: 1000, seed: 2))
    }

    @Test("ferry sync, verify, repair: complete output and exit codes")
    func round() async throws {
        try await OriginServer.with { server in
            Self.serve(server)
            let place = try Workplace()
            let url = server.url("/pub/")
            let first = try await FerryProcess.run(["sync", url, "d"], in: place)
            #expect(first.code == 0, "\(first.error)")
            #expect(first.lines.sorted() == [place.path("d/a.bin"), place.path("d/sub/b.bin")])
            #expect(first.error.hasSuffix("ferry: 2 files listed: 0 unchanged, 2 fetched (3.0 MB), 0 incomplete\n"))
            let second = try await FerryProcess.run(["sync", url, "d", "-q"], in: place)
            #expect(second.code == 0 && second.error == "")
            let intact = try await FerryProcess.run(["verify", "d"], in: place)
            #expect(intact.code == 0 && intact.lines == [] && intact.error == "ferry: 2 files intact, 0 not\n")

            let path = place.path("d/a.bin")
            let handle = try #require(FileHandle(forWritingAtPath: path))
            try handle.write(contentsOf: Data("damage".utf8))
            try handle.close()
            let damaged = try await FerryProcess.run(["verify", "d"], in: place)
            #expect(damaged.code == 7)
            #expect(
                damaged.lines == [
                    "changed: \(path): 1.0 MB of 3.0 MB are in pieces that differ, and it was written after it was downloaded"
                ])
            let preview = try await FerryProcess.run(["sync", url, "d", "--dry-run"], in: place)
            #expect(
                preview.lines.first
                    == "leave: a.bin (3.0 MB): it was synced, then changed here; --on-conflict overwrite replaces it"
            )
            let kept = try await FerryProcess.run(["sync", url, "d"], in: place)
            #expect(
                kept.code == 9
                    && kept.error.hasPrefix(
                        "ferry: incomplete: a.bin: \(path) of the set was changed here; --on-conflict overwrite replaces it with the source's; ferry repair --changed"
                    ), "\(kept.error)")
            let left = try await FerryProcess.run(["repair", "d"], in: place)
            #expect(left.code == 9 && left.error.contains("give --changed to replace it"), "\(left.error)")
            let before = server.bodyBytes("/pub/a.bin")
            let repaired = try await FerryProcess.run(["repair", "d", "--changed"], in: place)
            #expect(repaired.code == 0 && repaired.lines == [path], "\(repaired.error)")
            #expect(
                repaired.error.contains("is compared with your record in \(place.path("d/ferry-manifest.jsonl"))"),
                "\(repaired.error)")
            #expect(server.bodyBytes("/pub/a.bin") - before == 1 << 20)
            let again = try await FerryProcess.run(["repair", "d", path], in: place)
            #expect(again.code == 0 && again.error == "ferry: nothing is damaged\n", "\(again.error)")
            #expect(place.names.contains("a.bin.part") == false)
        }
    }

    @Test("ferry sync: the home directory is recognized by whatever path it is named, and nothing is requested")
    func homeDirectory() async throws {
        try await OriginServer.with { server in
            Self.serve(server)
            let place = try Workplace()
            try FileManager.default.createSymbolicLink(atPath: place.path("me"), withDestinationPath: ".")
            for directory in [".", "./", "me", "me/", "x/..", "..", place.path("me")] {
                let refused = try await FerryProcess.run(["sync", server.url("/pub/"), directory], in: place)
                #expect(refused.code == 2 && refused.error.contains("--safe-names"), "\(directory): \(refused.error)")
            }
            #expect(server.requests.isEmpty && place.names == ["me"])
            let below = try await FerryProcess.run(["sync", server.url("/pub/"), "me/d", "-q"], in: place)
            #expect(below.code == 0 && place.names.contains("d"), "\(below.error)")
        }
    }

    @Test("ferry sync: a file that fails leaves the others, is named in the manifest, and is fetched by the next run")
    func failure() async throws {
        try await OriginServer.with { server in
            Self.serve(server)
            server.always("/pub/a.bin", .status(404))
            let place = try Workplace()
            let first = try await FerryProcess.run(["sync", server.url("/pub/"), "d", "--json"], in: place)
            #expect(first.code != 0)
            for member in [#""incomplete":[{"error":{"#, #""path":"a.bin"}]"#] {
                #expect(first.lines.last?.contains(member) == true, "\(first.lines)")
            }
            #expect(first.lines.last?.contains(#""kind":"synced""#) == true)
            let manifest = String(decoding: try place.data("d/ferry-manifest.jsonl"), as: UTF8.self)
            #expect(manifest.contains(#""problem":"#) && manifest.contains(#""path":"sub/b.bin""#), "\(manifest)")
            #expect(try await FerryProcess.run(["verify", "d"], in: place).code == 7)
            server.always("/pub/a.bin", .honest)
            let second = try await FerryProcess.run(["sync", server.url("/pub/"), "d"], in: place)
            #expect(second.code == 0, "\(second.error)")
            #expect(try await FerryProcess.run(["verify", "d"], in: place).code == 0)
        }
    }

    @Test("ferry sync --backup-dir: what is replaced or deleted is kept there, which the output says; refusals")
    func backup() async throws {
        try await OriginServer.with { server in
            func serve(_ names: [String], seed: UInt64) {
                let links = names.map { "<a href=\"\($0)\">\($0)</a>" }.joined(separator: " ")
                server.serve("/pub/", Resource(text: "<html>\(links)</html>", contentType: "text/html"))
                for name in names { server.serve("/pub/" + name, Resource(size: 3_000_000, seed: seed)) }
            }
            serve(["a.bin", "b.bin"], seed: 1)
            let place = try Workplace()
            let url = server.url("/pub/")
            let sync = ["sync", url, "d", "--delete", "--backup-dir", "old"]
            #expect(try await FerryProcess.run(sync + ["-q"], in: place).code == 0)
            #expect(place.names == ["d"])
            let old = try place.data("d/a.bin")
            serve(["a.bin"], seed: 2)
            let second = try await FerryProcess.run(sync + ["-v"], in: place)
            #expect(second.code == 0 && second.lines == [place.path("d/a.bin")], "\(second.error)")
            #expect(
                second.error.contains("replaced the file that had the name; it is kept as \(place.path("old/a.bin"))"),
                "\(second.error)")
            #expect(
                second.error.contains(
                    "ferry: moved to \(place.path("old/b.bin")), because the source no longer lists it: b.bin\n"),
                "\(second.error)")
            #expect(try place.data("old/a.bin") == old && place.data("old/b.bin") == old)
            #expect(try place.data("d/a.bin") != old)
            let inside = try await FerryProcess.run(["sync", url, "d", "--backup-dir", "d/old"], in: place)
            #expect(
                inside.code == 2
                    && inside.error
                        == "ferry: \(place.path("d/old")) is inside the directory of the set: leave it out of the set with --exclude /old/, or name another one\n",
                "\(inside.error)")
            let around = try await FerryProcess.run(
                ["sync", url, "d", "--backup-dir", ".", "--dry-run"], in: place)
            #expect(around.code == 2 && around.error.contains("contains the files of the set"), "\(around.error)")
            let daemon = try await FerryProcess.run(
                ["sync", url, "d", "--backup-dir", "old", "--daemon"], in: place)
            #expect(daemon.code == 2 && daemon.error.contains("--backup-dir and --daemon"), "\(daemon.error)")
        }
    }

    @Test("ferry sync --dry-run: what would be done and why, as lines or JSON; nothing is written")
    func dryRun() async throws {
        try await OriginServer.with { server in
            Self.serve(server)
            let place = try Workplace()
            try place.write(
                """
                {"url":"\(server.url("/pub/a.bin"))","path":"a.bin","size":3000000}
                {"url":"\(server.url("/pub/sub/b.bin"))","path":"sub/b.bin"}

                """, to: "list")
            let first = try await FerryProcess.run(["sync", "list", "d", "--dry-run"], in: place)
            #expect(first.code == 0)
            #expect(
                first.lines == [
                    "fetch: a.bin (3.0 MB): it is missing here", "fetch: sub/b.bin: it is missing here",
                ])
            #expect(
                first.error
                    == "ferry: 2 files listed: 2 to fetch (at least 3.0 MB), 0 to check, 0 unchanged, 0 in the way, 0 to delete\n"
            )
            #expect(place.names == ["list"] && server.requests.isEmpty)
            // What would be done is shown, and that it cannot be.
            let blocked = try await FerryProcess.run(["sync", "list", "list/d", "--dry-run"], in: place)
            #expect(blocked.code == 8 && blocked.error.contains("list"), "\(blocked.error)")
            #expect(try await FerryProcess.run(["sync", "list", "d", "-q"], in: place).code == 0)
            let second = try await FerryProcess.run(["sync", "list", "d", "--dry-run", "--json"], in: place)
            #expect(second.lines.count == 3)
            #expect(second.lines[0].contains(#""action":"check","cause":"unproven""#), "\(second.lines)")
            #expect(second.lines[2].contains(#""check":2"#) && second.lines[2].contains(#""kind":"preview""#))
        }
    }

    @Test(
        "ferry sync --dry-run: a directory that is not writable is exit code 8, unless nothing would be written to it",
        .enabled(if: geteuid() == 0))
    func dryRunOfReadOnly() async throws {
        try await OriginServer.with { server in
            Self.serve(server)
            let place = try Workplace()
            let (url, digest) = (server.url("/pub/sub/b.bin"), Resource(size: 1000, seed: 2).sha256)
            func line(_ name: String) -> String {
                #"{"url":"\#(url)","path":"\#(name)","size":1000,"sha256":"\#(digest)"}"# + "\n"
            }
            try place.write(line("b.bin"), to: "list")
            #expect(try await FerryProcess.run(["sync", "list", "d", "-q"], in: place).code == 0)
            // Root may write anywhere, so the mirror is another user's.
            for path in ["d"] + (FileManager.default.subpaths(atPath: place.path("d")) ?? []).map({ "d/" + $0 }) {
                #expect(chown(place.path(path), 12345, 12345) == 0)
            }
            #expect(chmod(place.path("d"), 0o555) == 0 && chmod(place.url.path, 0o755) == 0)
            func preview() async throws -> FerryProcess.Outcome {
                try await FerryProcess.run(
                    ["sync", "list", "d", "--dry-run"], in: place,
                    shell: "exec setpriv --reuid=12345 --regid=12345 --clear-groups --inh-caps=-all \"$@\"")
            }
            let whole = try await preview()
            #expect(whole.code == 0 && whole.lines == [], "\(whole.error)")
            #expect(whole.error.contains(" 1 unchanged") && !whole.error.contains("cannot create"), "\(whole.error)")
            try place.write(line("b.bin") + line("c.bin"), to: "list")
            let missing = try await preview()
            #expect(missing.code == 8 && missing.lines == ["fetch: c.bin (1.0 KB): it is missing here"])
            #expect(
                missing.error.hasSuffix("ferry: the directory \(place.path("d")) cannot be written to\n"),
                "\(missing.error)")
            #expect(!FileManager.default.fileExists(atPath: place.path("d/c.bin")))
        }
    }

    @Test(
        "ferry sync: a directory that is not writable is exit code 8, named once and before any request for a file",
        .enabled(if: geteuid() == 0), arguments: ["d", "d/sub"])
    func readOnly(closed: String) async throws {
        try await OriginServer.with { server in
            Self.serve(server)
            let place = try Workplace()
            let lines = ["sub/a.bin", "sub/b.bin"].map {
                #"{"url":"\#(server.url("/pub/\($0)"))","path":"\#($0)"}"# + "\n"
            }
            try place.write(lines.joined(), to: "list")
            try FileManager.default.createDirectory(
                atPath: place.path("d/sub"), withIntermediateDirectories: true)
            for path in ["d", "d/sub"] { #expect(chown(place.path(path), 12345, 12345) == 0) }
            #expect(chmod(place.path(closed), 0o555) == 0 && chmod(place.url.path, 0o755) == 0)
            // Root may write anywhere.
            let outcome = try await FerryProcess.run(
                ["sync", "list", "d"], in: place,
                shell: "exec setpriv --reuid=12345 --regid=12345 --clear-groups --inh-caps=-all \"$@\"")
            #expect(outcome.code == 8 && outcome.lines == [], "\(outcome.error)")
            #expect(server.requests.isEmpty)
            let words = "the directory \(place.path(closed)) cannot be written to"
            if closed == "d" {
                #expect(outcome.error == "ferry: \(words)\n")
            } else {
                #expect(outcome.error.contains("ferry: incomplete: sub/a.bin: \(words)\n"), "\(outcome.error)")
            }
        }
    }

    @Test(
        "ferry sync --delete: a gone file that cannot be inspected or removed is kept and told why, and a later run deletes it",
        .enabled(if: geteuid() == 0))
    func goneInClosedDirectory() async throws {
        try await OriginServer.with { server in
            Self.serve(server)
            let place = try Workplace()
            func sync(_ names: [String]) async throws -> FerryProcess.Outcome {
                let lines = names.map { #"{"url":"\#(server.url("/pub/\($0)"))","path":"\#($0)"}"# + "\n" }
                try place.write(lines.joined(), to: "list")
                return try await FerryProcess.run(
                    ["sync", "list", "d", "--delete"], in: place,
                    shell: "exec setpriv --reuid=12345 --regid=12345 --clear-groups --inh-caps=-all \"$@\"")
            }
            try FileManager.default.createDirectory(atPath: place.path("d"), withIntermediateDirectories: true)
            #expect(chown(place.path("d"), 12345, 12345) == 0 && chmod(place.url.path, 0o755) == 0)
            #expect(try await sync(["a.bin", "sub/b.bin"]).code == 0)
            for mode in [0o000, 0o555] as [mode_t] {
                #expect(chmod(place.path("d/sub"), mode) == 0)
                let kept = try await sync(["a.bin"])
                #expect(kept.code == 2 && kept.error.contains("d/sub/b.bin: Permission denied\n"), "\(kept.error)")
                #expect(FileManager.default.fileExists(atPath: place.path("d/sub/b.bin")))
            }
            #expect(chmod(place.path("d/sub"), 0o755) == 0)
            let deleted = try await sync(["a.bin"])
            #expect(deleted.code == 0 && deleted.error.contains("no longer lists it: sub/b.bin\n"), "\(deleted.error)")
            #expect(!FileManager.default.fileExists(atPath: place.path("d/sub/b.bin")))
        }
    }

    /// Its record stayed that of the old bytes, so that every later run took the new ones for a change made here.
    @Test(
        "ferry sync: a file that its owner cannot read is replaced and recorded, and later the server is asked about it",
        .enabled(if: geteuid() == 0))
    func unreadableFile() async throws {
        try await OriginServer.with { server in
            Self.serve(server)
            let place = try Workplace()
            let names = ["a.bin", "sub/b.bin"]
            let lines = names.map { #"{"url":"\#(server.url("/pub/\($0)"))","path":"\#($0)"}"# + "\n" }
            try place.write(lines.joined(), to: "list")
            func run(_ arguments: [String]) async throws -> FerryProcess.Outcome {
                try await FerryProcess.run(
                    arguments, in: place,
                    shell: "exec setpriv --reuid=12345 --regid=12345 --clear-groups --inh-caps=-all \"$@\"")
            }
            try FileManager.default.createDirectory(atPath: place.path("d"), withIntermediateDirectories: true)
            #expect(chown(place.path("d"), 12345, 12345) == 0 && chmod(place.url.path, 0o755) == 0)
            #expect(try await run(["sync", "list", "d"]).code == 0)
            for (name, mode) in zip(names, [0o000, 0o200] as [mode_t]) {
                #expect(chmod(place.path("d/" + name), mode) == 0)
                server.serve("/pub/" + name, Resource(size: 2000, seed: 5))
            }
            let replaced = try await run(["sync", "list", "d"])
            #expect(replaced.code == 0 && replaced.error.contains(" 2 fetched "), "\(replaced.error)")
            let again = try await run(["sync", "list", "d"])
            #expect(again.code == 0 && again.error.contains(" 2 unchanged, 0 fetched "), "\(again.error)")
            for name in names { #expect(chmod(place.path("d/" + name), 0o644) == 0) }
            #expect(try await run(["verify", "d"]).code == 0)
        }
    }

    @Test(
        "ferry repair: of a server without ranges the whole file is fetched; a changed one is told, and what can be done"
    )
    func withoutRanges() async throws {
        try await OriginServer.with { server in
            var resource = Resource(size: 3_000_000, seed: 1)
            (resource.etag, resource.ranges) = (nil, .ignored)
            server.serve("/a.bin", resource)
            let place = try Workplace()
            let url = server.url("/a.bin")
            #expect(try await FerryProcess.run(["get", "--record-digests", "-q", url], in: place).code == 0)
            func damage() throws {
                let handle = try #require(FileHandle(forWritingAtPath: place.path("a.bin")))
                try handle.write(contentsOf: Data("damage".utf8))
                try handle.close()
            }
            try damage()
            let repaired = try await FerryProcess.run(["repair", "a.bin"], in: place)
            #expect(repaired.code == 0 && repaired.lines == [place.path("a.bin")], "\(repaired.error)")
            let intact = try await FerryProcess.run(["verify", "a.bin"], in: place)
            #expect(intact.error == "ferry: 1 file intact, 0 not\n")
            try damage()
            let damaged = try place.data("a.bin")
            resource.size = 3_000_001
            server.serve("/a.bin", resource)
            let changed = try await FerryProcess.run(["repair", "a.bin"], in: place)
            #expect(changed.code != 0 && !changed.error.contains("--no-restart"), "\(changed.error)")
            #expect(try place.data("a.bin") == damaged)
        }
    }

    @Test("ferry sync --netrc: the server of the source gets the credentials of its entry")
    func netrc() async throws {
        try await OriginServer.with { server in
            Self.serve(server)
            for path in ["/pub/", "/pub/a.bin", "/pub/sub/", "/pub/sub/b.bin"] {
                server.always(path, .basicAuth("me", "sesame"))
            }
            let place = try Workplace()
            let words = ["sync", server.url("/pub/"), "d"]
            #expect(try await FerryProcess.run(words, in: place).code == 5)
            try place.write("machine 127.0.0.1 login me password sesame\n", to: ".netrc")
            let outcome = try await FerryProcess.run(words + ["--netrc"], in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(try await FerryProcess.run(["verify", "d"], in: place).code == 0)
            let repair = try await FerryProcess.run(["repair", "d", "--netrc"], in: place)
            #expect(repair.code == 2 && repair.error.contains("--netrc needs a URL"), "\(repair.error)")
        }
    }

    @Test("Errors of sets: their suggestions name options of these commands, and none of ferry get")
    func advice() async throws {
        try await OriginServer.with { server in
            Self.serve(server)
            let place = try Workplace()
            try FileManager.default.createDirectory(atPath: place.path("d"), withIntermediateDirectories: true)
            try place.write("mine", to: "d/a.bin")
            try place.write(
                "\(server.url("/pub/a.bin"))\n  checksum=md5=\(String(repeating: "0", count: 32))\n", to: "list")
            let conflict = try await FerryProcess.run(["sync", "list", "d"], in: place)
            #expect(
                conflict.code == 9 && conflict.error.contains("--on-conflict overwrite replaces it"),
                "\(conflict.error)")
            let wrong = try await FerryProcess.run(["sync", "list", "e"], in: place)
            #expect(
                wrong.code == 7 && wrong.error.contains("correct the list if its digest is wrong"), "\(wrong.error)")
            server.always("/pub/sub/b.bin", .status(401))
            try place.write(server.url("/pub/sub/b.bin") + "\n", to: "locked")
            let locked = try await FerryProcess.run(["sync", "locked", "f"], in: place)
            for text in [conflict.error, wrong.error, locked.error] {
                #expect(!text.contains(" -o") && !text.contains("ferry get") && !text.contains("--checksum"), "\(text)")
            }
        }
    }

    @Test(
        "ferry verify: files and manifest of another user are read, and the output says whose the digests are",
        .enabled(if: geteuid() == 0))
    func ofAnother() async throws {
        try await OriginServer.with { server in
            Self.serve(server)
            let place = try Workplace()
            #expect(try await FerryProcess.run(["sync", server.url("/pub/"), "d"], in: place).code == 0)
            for path in ["d"] + (FileManager.default.subpaths(atPath: place.path("d")) ?? []).map({ "d/" + $0 }) {
                #expect(chown(place.path(path), 12345, 12345) == 0)
            }
            let intact = try await FerryProcess.run(["verify", "d"], in: place)
            #expect(intact.code == 0)
            #expect(
                intact.error
                    == "ferry: the digests of d were recorded by user 12345\nferry: 2 files intact, 0 not\n")
            let handle = try #require(FileHandle(forUpdatingAtPath: place.path("d/sub/b.bin")))
            try handle.write(contentsOf: Data("damage".utf8))
            try handle.close()
            let changed = try await FerryProcess.run(["verify", "d", "--json"], in: place)
            #expect(changed.code == 7 && changed.lines.contains { $0.contains(#""state":"changed""#) })
            #expect(changed.lines.allSatisfy { $0.contains(#""recordedBy":12345"#) }, "\(changed.lines)")
            // To write needs the owner.
            let repair = try await FerryProcess.run(["repair", "d", "--changed"], in: place)
            #expect(repair.code != 0 && repair.error.contains("12345"), "\(repair.error)")
        }
    }

    @Test("ferry sync: what is no list, no directory or no address is one clear line")
    func usage() async throws {
        try await OriginServer.with { server in
            server.serve("/page.html", Resource(text: "<html><a href=\"x\">x</a></html>", contentType: "text/html"))
            server.serve("/empty/", Resource(text: "<html></html>", contentType: "text/html"))
            let place = try Workplace()
            for (arguments, code, text) in [
                (["sync", "none.txt", "d"], 2, "there is no list none.txt"),
                (["sync", ".", "d d"], 2, "rsync -a ./ 'd d' copies it here"),
                (["sync", ".", "s3://bucket/x/", "--base", "http://h/"], 2, "--base is for the names in a list"),
                (["sync", ".", "s3://bucket/x/", "--user", "u:p@h"], 2, "--user and --netrc are for the server"),
                (["sync", server.url("/page.html"), "d"], 2, "the address of an index page ends with /"),
                (["sync", server.url("/empty/"), "d"], 2, "lists no file"),
                (["sync", server.url("/missing/"), "d"], 4, "the server answered 404"),
                (["sync", server.url("/empty/"), "d", "--depth", "-1"], 2, "--depth"),
                (["verify", "."], 2, "has no manifest"), (["repair", "none.bin"], 9, "cannot be repaired"),
                (["repair", ".", "--url", "http://h/x"], 2, "--url is for one file"),
            ] as [([String], Int32, String)] {
                let outcome = try await FerryProcess.run(arguments, in: place)
                #expect(outcome.code == code, "\(arguments): \(outcome.error)")
                #expect(outcome.error.contains(text), "\(arguments): \(outcome.error)")
            }
        }
    }

    @Test("ferry sync: killed again and again, the next run goes on, and in the end every file is there once")
    func killed() async throws {
        try await OriginServer.with { server in
            let names = (1...40).map { "f\($0).bin" }
            server.serve(
                "/pub/",
                Resource(
                    text: names.map { "<a href=\"\($0)\">\($0)</a>\n" }.joined(), contentType: "text/html"))
            for (index, name) in names.enumerated() {
                server.serve("/pub/" + name, Resource(size: 300_000, seed: UInt64(index)))
            }
            server.setConnectionRate(3_000_000)
            let place = try Workplace()
            var code: Int32 = -1
            for run in 0..<60 where code != 0 {
                let process = try FerryProcess(["sync", server.url("/pub/"), "d"], in: place)
                // A random moment: what matters is that no moment loses anything.
                if run < 50 {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 100...900)))
                    process.signal(SIGKILL)
                }
                code = try await process.outcome().code
            }
            #expect(code == 0)
            for (index, name) in names.enumerated() {
                let resource = Resource(size: 300_000, seed: UInt64(index))
                #expect(try place.data("d/" + name) == Data(resource.bytes(0..<resource.size)))
            }
            #expect(place.names.filter { $0.hasSuffix(".part") } == [])
            // Nothing but what was in flight at a kill is fetched twice: at most the files of three slots.
            #expect(server.bodyBytes() < 40 * 300_000 + 51 * 3 * 300_000)
        }
    }
}
