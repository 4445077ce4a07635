import FerryTesting
import Foundation
import Testing

/// What exit code 0 promises: what was asked for is there, and it is the server's.
@Suite("The binary: what exit code 0 promises", .serialized, .timeLimit(.minutes(30))) struct ExitPromiseTests {
    /// Where a command leaves the file.
    enum Place: Sendable {
        case file(String)
        /// At the path on standard output.
        case printed
        /// On standard output.
        case body
    }

    /// A command line, in which `URL` stands for the file and `INDEX` for a page that links it.
    struct Row: Sendable, CustomTestStringConvertible {
        let words: [String]
        let place: Place
        /// Whether standard output stays empty.
        var isSilent = false
        /// Whether a file that the server has not changed is not fetched again.
        var keepsUnchanged = true

        /// Whether it can be run again: the rule `rename` prints the other name, which this one does not show.
        var isRepeated: Bool { !words.contains("new.json") }

        var testDescription: String { words.joined(separator: " ") }
    }

    private static let rows = [
        Row(words: ["get", "URL"], place: .printed), Row(words: ["URL"], place: .printed),
        Row(words: ["get", "-o", "conf.json", "URL"], place: .printed),
        Row(words: ["get", "-q", "-d", "d", "URL"], place: .printed),
        Row(words: ["get", "-i", "list"], place: .printed),
        Row(words: ["get", "-o", "-", "URL"], place: .body, keepsUnchanged: false),
        Row(words: ["get", "--on-conflict", "overwrite", "-o", "conf.json", "URL"], place: .file("conf.json")),
        Row(words: ["get", "--no-paths", "-o", "new.json", "URL"], place: .file("new.json"), isSilent: true),
        Row(words: ["curl", "-o", "conf.json", "URL"], place: .file("conf.json")),
        Row(words: ["curl", "-sS", "-o", "conf.json", "URL"], place: .file("conf.json"), isSilent: true),
        Row(words: ["curl", "--silent", "--output", "conf.json", "URL"], place: .file("conf.json"), isSilent: true),
        Row(words: ["curl", "-fsSLO", "URL"], place: .file("conf.json"), isSilent: true),
        Row(words: ["curl", "-fsSL", "URL"], place: .body, keepsUnchanged: false),
        Row(words: ["wget", "URL"], place: .printed),
        Row(words: ["wget", "-O", "conf.json", "URL"], place: .file("conf.json")),
        Row(words: ["wget", "-qO", "conf.json", "URL"], place: .file("conf.json"), isSilent: true),
        Row(words: ["wget", "-qO-", "URL"], place: .body, keepsUnchanged: false),
        Row(words: ["wget", "-N", "URL"], place: .file("conf.json")),
        Row(words: ["wget", "-qN", "URL"], place: .file("conf.json"), isSilent: true),
        Row(
            words: ["aria2c", "--allow-overwrite=true", "-o", "conf.json", "URL"], place: .file("conf.json"),
            keepsUnchanged: false),
        Row(words: ["sync", "INDEX", "d"], place: .file("d/conf.json")),
        Row(words: ["sync", "list", "d"], place: .file("d/conf.json")),
    ]

    @Test(
        "Every command that downloads: after exit code 0 the file is the server's, also after a change there; a failure has another code and leaves the file",
        arguments: rows, [Int64(5000), 1_500_000])
    func promise(row: Row, size: Int64) async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            let (first, second) = (Resource(size: size, seed: 1), Resource(size: size, seed: 2))
            server.serve("/pub/", Resource(text: "<a href=\"conf.json\">conf.json</a>\n", contentType: "text/html"))
            server.serve("/pub/conf.json", first)
            try place.write("of before", to: "conf.json")
            try place.write(server.url("/pub/conf.json") + "\n", to: "list")
            let words = row.words.map { word in
                switch word {
                case "URL": server.url("/pub/conf.json")
                case "INDEX": server.url("/pub/")
                default: word
                }
            }
            func run(expecting resource: Resource) async throws {
                let outcome = try await FerryProcess.run(words, in: place)
                #expect(outcome.code == 0, "\(outcome.error)")
                let found: Data =
                    switch row.place {
                    case .body: outcome.output
                    case .file(let name): try place.data(name)
                    case .printed: try Data(contentsOf: URL(filePath: try #require(outcome.lines.first)))
                    }
                #expect(found == Data(resource.bytes(0..<size)), "not the server's file")
                if row.isSilent { #expect(outcome.output.isEmpty, "\(outcome.text)") }
            }
            try await run(expecting: first)
            let before = server.bodyBytes("/pub/conf.json")
            if row.isRepeated {
                try await run(expecting: first)
                if row.keepsUnchanged { #expect(server.bodyBytes("/pub/conf.json") == before) }
                server.serve("/pub/conf.json", second)
                try await run(expecting: second)
            }
            server.always("/pub/conf.json", .status(404))
            let failed = try await FerryProcess.run(words, in: place)
            #expect(failed.code != 0, "\(failed.text) \(failed.error)")
            if case .file(let name) = row.place {
                let last = row.isRepeated ? second : first
                #expect(try place.data(name) == Data(last.bytes(0..<size)))
            }
        }
    }

    @Test(
        "ferry curl -o: a break leaves the old file, the next run replaces it in one step, and its permissions stay; a symbolic link is replaced, not followed"
    )
    func replacing() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            let resource = Resource(size: 3_000_000, seed: 3)
            server.serve("/f", resource)
            server.script("/f", [.cut(after: 1_000_000)], then: .status(503))
            try place.write("of before", to: "f.bin")
            #expect(chmod(place.path("f.bin"), 0o750) == 0)
            let words = ["curl", "-s", "-o", "f.bin", server.url("/f")]
            let broken = try await FerryProcess.run(words + ["--retries", "0"], in: place)
            #expect(broken.code != 0)
            #expect(try place.data("f.bin") == Data("of before".utf8))
            server.always("/f", .honest)
            #expect(try await FerryProcess.run(words, in: place).code == 0)
            #expect(try place.data("f.bin") == Data(resource.bytes(0..<resource.size)))
            #expect(place.names == ["f.bin"])
            let mode = try FileManager.default.attributesOfItem(atPath: place.path("f.bin"))[.posixPermissions]
            #expect((mode as? NSNumber)?.intValue == 0o750)
            try place.write("of a link", to: "target")
            try FileManager.default.createSymbolicLink(atPath: place.path("link"), withDestinationPath: "target")
            let linked = try await FerryProcess.run(["curl", "-s", "-o", "link", server.url("/f")], in: place)
            #expect(linked.code == 0, "\(linked.error)")
            #expect(try place.data("link") == Data(resource.bytes(0..<resource.size)))
            #expect(try place.data("target") == Data("of a link".utf8))
        }
    }

    @Test(
        "ferry curl and wget: a refused connection fails at once, with the exit status of the original; --retry-connrefused tries again"
    )
    func refusal() async throws {
        let place = try Workplace()
        let url = "http://127.0.0.1:1/f"
        let cases: [([String], Int32, Bool)] = [
            (["curl", "-o", "f", url], 7, false), (["curl", "--retry", "2", "-o", "f", url], 7, false),
            (["wget", "-t", "3", url], 4, false),
            (["curl", "--retry", "1", "--retry-connrefused", "-o", "f", url], 7, true),
            (["get", "--retries", "1", url], 3, true),
        ]
        for (words, code, isRetried) in cases {
            let outcome = try await FerryProcess.run(words, in: place)
            #expect(outcome.code == code, "\(words)")
            #expect(outcome.error.contains("trying again in ") == isRetried, "\(outcome.error)")
        }
        try await OriginServer.with { server in
            server.serve("/f", Resource(size: 10, seed: 1))
            server.always("/f", .status(404))
            let ofCurl = try await FerryProcess.run(["curl", "-sfo", "f", server.url("/f")], in: place)
            #expect(ofCurl.code == 22)
            let ofWget = try await FerryProcess.run(["wget", "-q", server.url("/f")], in: place)
            #expect(ofWget.code == 8)
        }
        #expect(place.names == [])
    }

    @Test("ferry get: the command that is printed after a refusal has the options of the one that was refused")
    func printedOptions() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            server.serve("/f", Resource(size: 10, seed: 1))
            server.always("/f", .status(401))
            let words = ["get", server.url("/f"), "-d", "a dir", "-o", "my name.bin", "--limit-rate", "5M"]
            let outcome = try await FerryProcess.run(words, in: place)
            #expect(outcome.code == 5)
            let command = "ferry get --user USER -d 'a dir' -o 'my name.bin' --limit-rate 5M " + server.url("/f")
            #expect(outcome.error.contains("to resume: " + command), "\(outcome.error)")
        }
    }

    @Test(
        "ferry wget -c, curl -C -: a file that another program has begun is gone on with, and never left for another name"
    )
    func goesOn() async throws {
        try await OriginServer.with { server in
            let resource = Resource(size: 8_000_000, seed: 1)
            server.serve("/f.bin", resource)
            let whole = Data(resource.bytes(0..<resource.size))
            for words in [["wget", "-qc"], ["curl", "-sC", "-", "-O"], ["curl", "-C", "-", "-so", "f.bin"]] {
                let place = try Workplace()
                try whole.prefix(6_000_000).write(to: URL(filePath: place.path("f.bin")))
                let before = server.bodyBytes("/f.bin")
                let outcome = try await FerryProcess.run(words + [server.url("/f.bin")], in: place)
                #expect(outcome.code == 0 && place.names == ["f.bin"], "\(words) \(outcome.error) \(place.names)")
                #expect(try place.data("f.bin") == whole)
                #expect(server.bodyBytes("/f.bin") - before < 4_000_000)
                // A whole one stays as it is.
                try whole.write(to: URL(filePath: place.path("f.bin")))
                let again = try await FerryProcess.run(words + [server.url("/f.bin")], in: place)
                #expect(again.code == 0 && place.names == ["f.bin"], "\(words) \(again.error) \(place.names)")
            }
            let place = try Workplace()
            let other = Data(repeating: 7, count: 2_000_000)
            try other.write(to: URL(filePath: place.path("f.bin")))
            for (words, code) in [(["wget", "-qc"], Int32(3)), (["curl", "-sC", "-", "-O"], 23)] {
                let refused = try await FerryProcess.run(words + [server.url("/f.bin")], in: place)
                #expect(refused.code == code, "\(refused.error)")
                #expect(
                    refused.error.contains("nothing proves that this link leads to the file that was begun"),
                    "\(refused.error)")
                #expect(try place.names == ["f.bin"] && place.data("f.bin") == other)
            }
        }
    }

    @Test("ferry curl -O: two URLs of one name are refused, as the second file would replace the first")
    func twice() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            let outcome = try await FerryProcess.run(
                ["curl", "-O", server.url("/a/f"), "-O", server.url("/b/f")], in: place)
            #expect(outcome.code == 2 && outcome.error.contains("give each a name of its own"), "\(outcome.error)")
        }
    }

    @Test("ferry curl -OJ: the name that the server chooses replaces no file")
    func serverName() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            var resource = Resource(size: 1000, seed: 4)
            resource.contentDisposition = "attachment; filename=\"Makefile\""
            server.serve("/f", resource)
            try place.write("all:", to: "Makefile")
            let named = try await FerryProcess.run(["curl", "-sOJ", server.url("/f")], in: place)
            #expect(named.code == 23, "\(named.error)")
            #expect(try place.data("Makefile") == Data("all:".utf8))
            let plain = try await FerryProcess.run(["curl", "-sO", server.url("/f")], in: place)
            #expect(plain.code == 0, "\(plain.error)")
            #expect(place.names == ["Makefile", "f"])
        }
    }

    @Test(
        "ferry get --retry-from, -i: --checksum none and --checksum @FILE take the place of the checksums of an earlier run"
    )
    func otherChecksum() async throws {
        try await OriginServer.with { server in
            let resource = Resource(size: 200_000, seed: 5)
            server.serve("/f.bin", resource)
            let wrong = "sha-256=" + String(repeating: "0", count: 64)
            let right = resource.sha256(0..<resource.size).map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
            for checksum in ["none", "@sums"] {
                let place = try Workplace()
                try place.write("\(server.url("/f.bin"))\n  checksum=\(wrong)\n", to: "list")
                try place.write("\(right)  f.bin\n", to: "sums")
                let failed = try await FerryProcess.run(["get", "-i", "list", "--results", "r"], in: place)
                #expect(failed.code == 7, "\(failed.error)")
                let retried = try await FerryProcess.run(
                    ["get", "--retry-from", "r", "--only", "checksum", "--checksum", checksum], in: place)
                #expect(retried.code == 0, "\(retried.error)")
                #expect(try place.data("f.bin") == Data(resource.bytes(0..<resource.size)))
                #expect(place.names == ["f.bin", "list", "r", "sums"])
            }
            let place = try Workplace()
            try place.write("\(server.url("/f.bin"))\n  checksum=\(wrong)\n", to: "list")
            let listed = try await FerryProcess.run(["get", "-i", "list", "--checksum", "none"], in: place)
            #expect(listed.code == 0, "\(listed.error)")
        }
    }

    @Test("ferry verify, ferry repair: exit code 0 only if every file is the server's")
    func sets() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            let resource = Resource(size: 1_500_000, seed: 6)
            server.serve("/pub/", Resource(text: "<a href=\"a.bin\">a.bin</a>\n", contentType: "text/html"))
            server.serve("/pub/a.bin", resource)
            #expect(try await FerryProcess.run(["sync", server.url("/pub/"), "d"], in: place).code == 0)
            #expect(try await FerryProcess.run(["verify", "d"], in: place).code == 0)
            try FileManager.default.removeItem(atPath: place.path("d/a.bin"))
            #expect(try await FerryProcess.run(["verify", "d"], in: place).code != 0)
            server.always("/pub/a.bin", .status(404))
            #expect(try await FerryProcess.run(["repair", "d"], in: place).code != 0)
            server.always("/pub/a.bin", .honest)
            #expect(try await FerryProcess.run(["repair", "d"], in: place).code == 0)
            #expect(try place.data("d/a.bin") == Data(resource.bytes(0..<resource.size)))
            for words in [
                ["repair", "d", "--on-conflict", "skip"], ["repair", "d", "--results", "r"],
                ["sync", server.url("/pub/"), "d", "--results", "r"],
                ["sync", server.url("/pub/"), "d", "--daemon", "--host-delay", "1s"],
            ] {
                let refused = try await FerryProcess.run(words, in: place)
                #expect(refused.code == 2, "\(words): \(refused.error)")
            }
        }
    }

    @Test("ferry add, watch, restart, clear: exit code 0 only if each file is the server's, or the list as asked")
    func daemon() async throws {
        try await RemoteHome.run { home in
            let (first, second) = (Resource(size: 300_000, seed: 7), Resource(size: 300_000, seed: 8))
            home.server.serve("/f.bin", first)
            home.server.always("/gone.bin", .status(404))
            let url = home.server.url("/f.bin")
            let added = try await home.ferry("add", url)
            #expect(added.code == 0, "\(added.error)")
            #expect(try await home.ferry("watch", "f.bin").code == 0)
            let path = home.path("f.bin")
            #expect(try Data(contentsOf: URL(filePath: path)) == Data(first.bytes(0..<first.size)))
            home.server.serve("/f.bin", second)
            #expect(try await home.ferry("restart", "f.bin").code == 0)
            #expect(try await home.ferry("watch", "f.bin").code == 0)
            #expect(try Data(contentsOf: URL(filePath: path)) == Data(second.bytes(0..<second.size)))
            #expect(try await home.ferry("add", home.server.url("/gone.bin")).code == 0)
            #expect(try await home.ferry("watch", "gone.bin").code != 0)
            for command in ["pause", "resume", "restart", "show", "set"] {
                #expect(try await home.ferry(command, "nothing").code != 0, "\(command)")
            }
            try Data("of the user".utf8).write(to: URL(filePath: path))
            let cleared = try await home.ferry("clear", "completed", "--delete-files")
            #expect(cleared.code == 9, "\(cleared.error)")
            #expect(try Data(contentsOf: URL(filePath: path)) == Data("of the user".utf8))
        }
    }

    /// A command of the remote control, and what the list says after it.
    private struct Action: Sendable, CustomTestStringConvertible {
        let words: [String]
        /// Whether what was asked for is so; gets the download `f.bin`, `nil` if it has left the list.
        let holds: @Sendable (_ download: [String: Any]?, _ home: RemoteHome) -> Bool

        var testDescription: String { words.joined(separator: " ") }

        static func state(_ words: String..., state: String) -> Action {
            Action(words: words) { download, _ in download?["state"] as? String == state }
        }
    }

    private static let actions = [
        Action.state("pause", "f.bin", state: "paused"), .state("resume", "f.bin", state: "completed"),
        .state("cancel", "f.bin", state: "cancelled"), .state("restart", "f.bin", state: "completed"),
        Action(words: ["set", "f.bin", "label=l"]) { download, _ in download?["label"] as? String == "l" },
        Action(words: ["move", "f.bin", "first"]) { download, _ in
            (download?["position"] as? Int).map { $0 < 1 << 20 } == true
        },
        Action(words: ["remove", "f.bin"]) { download, home in
            download == nil && !FileManager.default.fileExists(atPath: home.path("f.bin.part"))
        },
        Action(words: ["relocate", "f.bin", "elsewhere"]) { download, home in
            download?["directory"] as? String == home.place.path("elsewhere")
        },
    ]

    @Test(
        "ferry pause, resume, cancel, restart, set, move, remove, relocate: after exit code 0 the download is as was asked, and without it as it was",
        arguments: actions)
    private func acted(action: Action) async throws {
        try await RemoteHome.run { home in
            let resource = Resource(size: 300_000, seed: 9)
            for name in ["/first.bin", "/f.bin"] { home.server.serve(name, resource) }
            #expect(
                try await home.ferry("add", "--paused", home.server.url("/first.bin"), home.server.url("/f.bin")).code
                    == 0)
            func download() async throws -> [String: Any]? {
                try await home.objects("list").first { $0["name"] as? String == "f.bin" }
            }
            let unknown = action.words.map { $0 == "f.bin" ? "g.bin" : $0 }
            let before = try #require(try await download())
            #expect(try await FerryProcess.run(unknown, in: home.place, environment: home.environment).code == 2)
            #expect(NSDictionary(dictionary: try #require(try await download())).isEqual(to: before))
            if ["cancel", "restart"].contains(action.words[0]) { _ = try await home.ferry("cancel", "f.bin") }
            let outcome = try await FerryProcess.run(action.words, in: home.place, environment: home.environment)
            #expect(outcome.code == 0, "\(outcome.error)")
            if ["resume", "restart"].contains(action.words[0]) {
                #expect(try await home.ferry("watch", "f.bin").code == 0)
                let data = try Data(contentsOf: URL(filePath: home.path("f.bin")))
                #expect(data == Data(resource.bytes(0..<resource.size)))
            }
            let after = try await download()
            #expect(action.holds(after, home), "\(after ?? [:])")
        }
    }

    @Test("ferry plan: exit code 0 only if the server has the file, of which nothing is written")
    func plan() async throws {
        try await OriginServer.with { server in
            let place = try Workplace()
            server.serve("/f.bin", Resource(size: 300_000, seed: 10))
            #expect(try await FerryProcess.run(["plan", server.url("/f.bin")], in: place).code == 0)
            #expect(try await FerryProcess.run(["plan", server.url("/gone.bin")], in: place).code != 0)
            #expect(place.names == [])
        }
    }
}
