import FerryCore
import FerryTesting
import Foundation
import Testing

@Suite("The binary as aria2c", .serialized, .timeLimit(.minutes(30))) struct Aria2ProcessTests {
    private static let resource = Resource(size: 3_000_000, seed: 3)

    private static func bytes(_ resource: Resource) -> Data { Data(resource.bytes(0..<resource.size)) }

    /// Runs the binary under the name aria2c, by a link.
    private static func aria2c(
        _ arguments: [String], in place: Workplace, input: String? = nil
    ) async throws -> FerryProcess.Outcome {
        try await FerryProcess.run(
            arguments, in: place, input: input,
            shell: #"ln -sf "$1" /"$HOME"/aria2c && shift && exec /"$HOME"/aria2c "$@""#)
    }

    private static func names(_ place: Workplace) -> [String] { place.names.filter { $0 != "aria2c" } }

    @Test("aria2c: under that name and as ferry aria2c, the file, the results and status 0", arguments: [false, true])
    func completes(isLink: Bool) async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let arguments = ["--no-conf", "-x16", "-s16", "-d", "d", "--out", "./g.bin", "--", server.url("/f.bin")]
            let outcome =
                isLink
                ? try await Self.aria2c(arguments, in: place)
                : try await FerryProcess.run(["aria2c"] + arguments, in: place)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(try place.data("d/g.bin") == Self.bytes(Self.resource))
            #expect(outcome.text.contains("[NOTICE] Download complete: \(place.path("d/g.bin"))\n"), "\(outcome.text)")
            #expect(outcome.text.contains("|OK  |") && outcome.text.hasSuffix("(OK):download completed.\n"))
            #expect(outcome.error.isEmpty)
        }
    }

    @Test("aria2c -i -: each line is a file with its options, and hooks get GID, number and path")
    func list() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            try Executable.write("#!/bin/sh\necho \"$1 $2 $3\" >>\"$HOME\"/log\n", to: place.path("hook"))
            let list = """
                \(server.url("/f.bin"))
                  out=a.bin
                  gid=00000000000000aa
                \(server.url("/missing"))
                  gid=00000000000000bb
                  bogus=1
                """
            let outcome = try await FerryProcess.run(
                [
                    "aria2c", "-i", "-", "-j1", "--on-download-stop=\(place.path("hook"))", "--download-result=full",
                    "--interface=lo", "-m1",
                ], in: place, input: list + "\n")
            #expect(outcome.code == 3, "\(outcome.error)")
            #expect(try place.data("a.bin") == Self.bytes(Self.resource))
            #expect(outcome.text.contains("0000000|") == false && outcome.text.contains("000000|OK  |"))
            #expect(outcome.text.contains("|100|\(place.path("a.bin"))\n"), "\(outcome.text)")
            #expect(outcome.text.contains("|ERR |        n/a|  -|\(server.url("/missing"))\n"), "\(outcome.text)")
            #expect(
                outcome.error == "aria2c: ferry ignores --interface\naria2c: Unknown option: bogus=1\n")
            // Hooks are started one after the other, and not waited for.
            let log = String(decoding: try place.data("log"), as: UTF8.self).split(separator: "\n").sorted()
            #expect(log == ["00000000000000aa 1 \(place.path("a.bin"))", "00000000000000bb 1 "])
        }
    }

    @Test("aria2c -c: a file that is whole already is status 0, also of a server without ranges")
    func wholeAlready() async throws {
        try await OriginServer.with { server in
            var resource = Self.resource
            resource.ranges = .off
            server.serve("/f.bin", resource)
            let place = try Workplace()
            for _ in 0..<2 {
                let outcome = try await Self.aria2c(["--no-conf", "-c", server.url("/f.bin")], in: place)
                #expect(outcome.code == 0, "\(outcome.error)")
                #expect(try place.data("f.bin") == Self.bytes(resource))
                #expect(Self.names(place) == ["f.bin"])
            }
        }
    }

    @Test("aria2c: each failure has aria2's exit status")
    func statuses() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            for status in [401, 403, 404, 503] {
                server.serve("/\(status)", Self.resource)
                server.always("/\(status)", .status(status))
            }
            server.serve("/loop", Self.resource)
            server.always("/loop", .redirectLoop)
            let place = try Workplace()
            try place.write("other", to: "there")
            let cases: [([String], Int32)] = [
                ([server.url("/401")], 24), ([server.url("/403")], 22), ([server.url("/404")], 3),
                ([server.url("/503"), "-m1"], 29), ([server.url("/loop")], 23),
                (["--auto-file-renaming=false", "-o", "there", server.url("/f.bin")], 13),
                (["--checksum=md5=00000000000000000000000000000000", server.url("/f.bin")], 32),
                (["http://nowhere.invalid/f", "-m1"], 19), (["--no-such"], 28), ([], 1),
            ]
            for (arguments, status) in cases {
                let outcome = try await FerryProcess.run(["aria2c", "-q"] + arguments, in: place)
                #expect(outcome.code == status, "\(arguments): \(outcome.error)")
                #expect(outcome.output.isEmpty)
            }
            #expect(try place.data("there") == Data("other".utf8))
        }
    }

    @Test("aria2c: the remedy for missing credentials works, and no other header has the password")
    func credentials() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.always("/f.bin", .basicAuth("u", "secret"))
            let place = try Workplace()
            let first = try await FerryProcess.run(["aria2c", server.url("/f.bin")], in: place)
            #expect(first.code == 24 && first.output.contains("Give --http-user and --http-passwd"), "\(first.output)")
            let second = try await FerryProcess.run(
                ["aria2c", "--http-user=u", "--http-passwd=secret", server.url("/f.bin")], in: place)
            #expect(second.code == 0, "\(second.output)")
            #expect(try place.data("f.bin") == Self.bytes(Self.resource))
        }
    }

    @Test("aria2c: an interrupted run is status 7, and the same command goes on")
    func interrupted() async throws {
        try await OriginServer.with { server in
            let resource = Resource(size: 20_000_000, seed: 4)
            server.serve("/f.bin", resource)
            server.script("/f.bin", [.stall(after: 9_000_000)])
            let place = try Workplace()
            let arguments = ["aria2c", "-x1", "-s1", "--summary-interval=1", server.url("/f.bin")]
            let process = try FerryProcess(arguments, in: place)
            _ = try await server.waitFor { $0.requests(for: "/f.bin").contains { $0.bodyBytes >= 9_000_000 } }
            process.signal(SIGINT)
            let outcome = try await process.outcome()
            #expect(outcome.code == 7, "\(outcome.error)")
            #expect(outcome.text.contains("|INPR|"), "\(outcome.text)")
            #expect(outcome.text.hasSuffix("aria2 will resume download if the transfer is restarted.\n"))
            let again = try await FerryProcess.run(arguments, in: place)
            #expect(again.code == 0, "\(again.text)")
            #expect(try place.data("f.bin") == Self.bytes(resource))
        }
    }

    @Test("aria2c: an unfinished file of aria2 is gone on with, and its control file goes")
    func controlFile() async throws {
        try await OriginServer.with { server in
            let resource = Resource(size: 8 << 20, seed: 5)
            server.serve("/f.bin", resource)
            let place = try Workplace()
            var half = resource.bytes(0..<4 << 20)
            half += [UInt8](repeating: 0, count: 4 << 20)
            try Data(half).write(to: place.url.appending(path: "f.bin.part"))
            let control: [UInt8] =
                [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 0]
                + [0, 0, 0, 1, 0xF0, 0, 0, 0, 0]
            try Data(control).write(to: place.url.appending(path: "f.bin.part.aria2"))
            let outcome = try await FerryProcess.run(
                ["aria2c", "--allow-overwrite=true", "-o", "f.bin.part", server.url("/f.bin")], in: place)
            #expect(outcome.code == 0, "\(outcome.text)")
            #expect(place.names == ["f.bin.part"])
            #expect(try place.data("f.bin.part") == Self.bytes(resource))
            #expect(server.bodyBytes("/f.bin") <= 5 << 20)
        }
    }

    @Test("aria2c --stop-with-process, --stop: the command ends with that process, or after that time")
    func stops() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.always("/f.bin", .stall(after: 1_000_000))
            let place = try Workplace()
            // No process has this number: it is beyond the most that Linux gives.
            for option in ["--stop-with-process=4194305", "--stop=1"] {
                let outcome = try await FerryProcess.run(["aria2c", option, server.url("/f.bin")], in: place)
                #expect(outcome.code == 7, "\(outcome.text)")
            }
        }
    }

    @Test("aria2c --version and -h: what programs look for, and what there is")
    func version() async throws {
        let place = try Workplace()
        let version = try await FerryProcess.run(["aria2c", "--version"], in: place)
        #expect(version.code == 0 && version.lines.first == "aria2 version 1.36.0")
        let help = try await FerryProcess.run(["aria2c", "-h"], in: place)
        #expect(help.code == 0 && help.text.contains("--max-connection-per-server"))
    }
}
