import FerryCore
import FerryEngine
import FerryTesting
import Foundation
import Testing

@Suite("The binary: names by content", .serialized, .timeLimit(.minutes(30))) struct ContentNamesTests {
    private static func digest(_ resource: Resource) -> String {
        HexText.string(ByteDigest.of(Array(resource.bytes(0..<resource.size)), .sha256))
    }

    private static func results(in place: Workplace) throws -> [[String: Any]] {
        try String(decoding: place.data("r.jsonl"), as: UTF8.self).split(separator: "\n")
            .compactMap { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
            .filter { $0["checkpoint"] == nil }
    }

    /// All files below the directory, sorted.
    private static func files(_ place: Workplace, _ directory: String = "d") -> [String] {
        let root = place.path(directory)
        return (FileManager.default.subpaths(atPath: root) ?? []).filter { path in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: root + "/" + path, isDirectory: &isDirectory)
                && !isDirectory.boolValue
        }.sorted()
    }

    private static func name(_ resource: Resource) -> String { "\(digest(resource).prefix(2))/\(digest(resource))" }

    @Test("ferry get --dedup: each content is stored once, and the results say which file has that of a URL")
    func once() async throws {
        try await OriginServer.with { server in
            let (small, big) = (Resource(size: 1000, seed: 1), Resource(size: 2_500_000, seed: 2))
            for path in ["/a", "/b", "/c"] { server.serve(path, small) }
            for path in ["/x", "/y"] { server.serve(path, big) }
            let place = try Workplace()
            try place.write(["/a", "/x", "/b", "/y", "/c"].map { server.url($0) + "\n" }.joined(), to: "list")
            let arguments = ["get", "-i", "list", "-d", "d", "--dedup", "--results", "r.jsonl", "-j", "1"]
            let first = try await FerryProcess.run(arguments, in: place)
            #expect(first.code == 0, "\(first.error)")
            let (one, two) = (Self.name(small), Self.name(big))
            let beside = two.replacing("/", with: "/.") + ".ferry-digests"
            #expect(Self.files(place) == [one, two, beside].sorted())
            #expect(try place.data("d/" + two) == Data(big.bytes(0..<big.size)))
            let results = try Self.results(in: place)
            #expect(results.count == 5 && results.allSatisfy { $0["status"] as? String == "ok" })
            #expect(results.filter { $0["isDuplicate"] as? Bool == true }.count == 3)
            for result in results {
                let isSmall = result["bytes"] as? Int == 1000
                #expect(result["path"] as? String == place.path("d/" + (isSmall ? one : two)))
                #expect(result["digest"] as? String == "sha-256=" + Self.digest(isSmall ? small : big))
            }
            #expect(try await FerryProcess.run(["verify", "d/" + two], in: place).code == 0)
            // The cursor: nothing is requested again.
            let count = server.requests.count
            #expect(try await FerryProcess.run(arguments, in: place).code == 0)
            #expect(server.requests.count == count)
        }
    }

    @Test(
        "ferry get --dedup: a digest in the list finds its content, and no request is made; damage there is not trusted"
    )
    func known() async throws {
        try await OriginServer.with { server in
            let small = Resource(size: 1000, seed: 1)
            server.serve("/a", small)
            server.serve("/b", small)
            let place = try Workplace()
            let digest = "  checksum=sha256:\(Self.digest(small))\n"
            try place.write("\(server.url("/a"))\n", to: "first")
            try place.write("\(server.url("/b"))\n\(digest)", to: "second")
            func get(_ list: String) async throws -> FerryProcess.Outcome {
                try await FerryProcess.run(
                    [
                        "get", "-i", list, "-d", "d", "--dedup", "--results", list + ".jsonl", "--name",
                        "{sha256:2}/{sha256:2}/{sha256}",
                    ], in: place)
            }
            #expect(try await get("first").code == 0)
            let second = try await get("second")
            #expect(second.code == 0 && second.lines.count == 1, "\(second.error)")
            #expect(!server.requests.contains { $0.path == "/b" })
            // A file with the name and other bytes stays, and the entry fails.
            let path = try #require(Self.files(place).first)
            try Data("damaged".utf8).write(to: URL(fileURLWithPath: place.path("d/" + path)))
            try FileManager.default.removeItem(atPath: place.path("second.jsonl"))
            let third = try await get("second")
            #expect(third.code == 9 && third.error.contains("and other bytes"), "\(third.error)")
            #expect(try place.data("d/" + path) == Data("damaged".utf8))
        }
    }

    @Test("ferry get --dedup: killed again and again, each content is there once in the end, and no file is wrong")
    func killed() async throws {
        try await OriginServer.with { server in
            let contents = (0..<10).map { Resource(size: 200_000 + $0, seed: UInt64($0)) }
            var list = ""
            for number in 0..<40 {
                server.serve("/f\(number)", contents[Int(number) % 10])
                list += server.url("/f\(number)") + "\n"
            }
            server.setConnectionRate(3_000_000)
            let place = try Workplace()
            try place.write(list, to: "list")
            let expected = Set(contents.map(Self.name))
            var code: Int32 = -1
            for run in 0..<60 where code != 0 {
                let process = try FerryProcess(
                    ["get", "-i", "list", "-d", "d", "--dedup", "--results", "r.jsonl"], in: place)
                // A random moment: what matters is that no moment leaves a wrong file.
                if run < 50 {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 100...700)))
                    process.signal(SIGKILL)
                }
                code = try await process.outcome().code
                for path in Self.files(place) where !path.contains("/.") && !path.hasPrefix(".incoming-") {
                    let bytes = try place.data("d/" + path)
                    #expect(path.hasSuffix(HexText.string(ByteDigest.of(Array(bytes), .sha256))), "\(path)")
                }
            }
            #expect(code == 0)
            #expect(Set(Self.files(place)) == expected)
            #expect(try Set(Self.results(in: place).compactMap { $0["url"] as? String }).count == 40)
        }
    }

    @Test("ferry get --dedup: what cannot go with it is one clear line")
    func usage() async throws {
        let place = try Workplace()
        for (arguments, text) in [
            (["get", "http://h/x", "--dedup"], "--dedup needs --results"),
            (["get", "http://h/x", "--dedup", "--results", "r", "-o", "x"], "--dedup and -o cannot be used together"),
            (
                ["get", "http://h/x", "--dedup", "--results", "r", "--on-conflict", "skip"],
                "--dedup and --on-conflict cannot be used together"
            ),
            (["get", "http://h/x", "--dedup", "--results", "r", "--name", "{name}"], "--name needs {sha256}"),
            (["add", "http://h/x", "--dedup"], "--dedup works only with ferry get"),
        ] {
            let outcome = try await FerryProcess.run(arguments, in: place)
            #expect(outcome.code == 2 && outcome.error.contains(text), "\(arguments): \(outcome.error)")
        }
    }
}
