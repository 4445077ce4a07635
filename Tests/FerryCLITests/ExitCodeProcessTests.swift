import FerryTesting
import Foundation
import Testing

@Suite("The binary: exit codes", .serialized, .timeLimit(.minutes(30))) struct ExitCodeProcessTests {
    private static let resource = Resource(size: 2_000_000, seed: 9)
    private static let wrong = "sha256:" + String(repeating: "0", count: 64)

    @Test("ferry get: a refused connection is exit code 3")
    func network() async throws {
        let closed = try ClosedPort()
        let outcome = try await FerryProcess.run(["get", "--retries", "1", closed.url("/f")], in: Workplace())
        #expect(outcome.code == 3, "\(outcome.error)")
        #expect(outcome.output.isEmpty)
        withExtendedLifetime(closed) {}
    }

    @Test("ferry get: a refusal of the server and a file over --max-size are exit code 4")
    func refused() async throws {
        try await OriginServer.with { server in
            server.serve("/f", Self.resource)
            let place = try Workplace()
            let large = try await FerryProcess.run(["get", "--max-size", "1M", server.url("/f")], in: place)
            #expect(large.code == 4, "\(large.error)")
            server.always("/f", .status(400))
            #expect(try await FerryProcess.run(["get", server.url("/f")], in: place).code == 4)
            #expect(place.names.isEmpty)
        }
    }

    @Test("ferry get: a link that dies midway is exit code 5, and the printed command completes the file")
    func freshLink() async throws {
        try await OriginServer.with { server in
            // Large compared with samples and with the bytes in flight of a cut connection.
            let resource = Resource(size: 24_000_000, seed: 9)
            server.serve("/f.bin", resource)
            server.script("/f.bin", [.cut(after: 18_000_000)], then: .status(403))
            server.serve("/new", resource)
            let place = try Workplace()
            let outcome = try await FerryProcess.run(["get", "-x", "1", server.url("/f.bin")], in: place)
            #expect(outcome.code == 5, "\(outcome.error)")
            #expect(outcome.error.contains("ferry get \(place.path("f.bin.part")) NEWURL"))
            // A preview fails in the same way.
            for words in [[server.url("/f.bin")], ["f.bin.part"]] {
                let plan = try await FerryProcess.run(["plan"] + words, in: place)
                #expect(plan.code == 5, "\(plan.error)")
                #expect(plan.error.contains("f.bin.part NEWURL") == (words == ["f.bin.part"]), "\(plan.error)")
            }
            let again = try await FerryProcess.run(["get", "f.bin.part", server.url("/new")], in: place)
            #expect(again.code == 0, "\(again.error)")
            #expect(again.lines == [place.path("f.bin")])
            #expect(server.bodyBytes("/new") < 14_000_000)
            #expect(try place.data("f.bin") == Data(resource.bytes(0..<resource.size)))
        }
    }

    @Test("ferry get: a web page instead of the file is exit code 5, says so, and keeps the part file")
    func page() async throws {
        try await OriginServer.with { server in
            let resource = Resource(size: 24_000_000, seed: 9, contentType: nil)
            server.serve("/f.bin", resource)
            server.always("/f.bin", .htmlPage())
            let place = try Workplace()
            let first = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(first.code == 5 && first.error.contains("web page") && first.error.contains("--accept-html"))
            #expect(place.names.isEmpty)
            server.script("/f.bin", [.cut(after: 18_000_000)], then: .htmlPage())
            let cut = try await FerryProcess.run(["get", "-x", "1", server.url("/f.bin")], in: place)
            #expect(cut.code == 5, "\(cut.error)")
            // Once the page is gone, the same command goes on.
            #expect(cut.error.contains("get past the page in a browser and run it again"), "\(cut.error)")
            #expect(place.names == ["f.bin.part", "f.bin.part.ferry"])
            let taken = try await FerryProcess.run(
                ["get", "--accept-html", "-o", "page.bin", server.url("/f.bin")], in: place)
            #expect(taken.code == 0, "\(taken.error)")
            #expect(String(decoding: try place.data("page.bin"), as: UTF8.self).contains("please log in"))
        }
    }

    @Test("ferry get: missing credentials are exit code 5, and with --netrc the file is fetched")
    func credentials() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.always("/f.bin", .basicAuth("me", "secret"))
            let place = try Workplace()
            let outcome = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(outcome.code == 5, "\(outcome.error)")
            #expect(outcome.error.contains("ferry get --user USER"))
            let netrc = "machine 127.0.0.1 login me password secret\n"
            try place.write(netrc, to: ".netrc")
            #expect(try await FerryProcess.run(["get", "--netrc", server.url("/f.bin")], in: place).code == 0)
        }
    }

    @Test("ferry get --no-restart: a changed file is exit code 6, and the part file stays")
    func changed() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.script("/f.bin", [.cut(after: 1_500_000)], then: .status(403))
            let place = try Workplace()
            _ = try await FerryProcess.run(["get", "-x", "1", server.url("/f.bin")], in: place)
            server.always("/f.bin", .honest)
            server.update("/f.bin") {
                $0.seed = 10
                $0.etag = "\"other\""
                $0.lastModified = Date(timeIntervalSince1970: 1_720_000_000)
            }
            let outcome = try await FerryProcess.run(["get", "--no-restart", server.url("/f.bin")], in: place)
            #expect(outcome.code == 6, "\(outcome.error)")
            #expect(place.names.contains("f.bin.part"))
        }
    }

    @Test("ferry get --checksum: a wrong digest is exit code 7, and no file is published")
    func checksum() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let outcome = try await FerryProcess.run(
                ["get", "--checksum", Self.wrong, server.url("/f.bin")], in: place)
            #expect(outcome.code == 7, "\(outcome.error)")
            #expect(outcome.output.isEmpty)
            #expect(!place.names.contains("f.bin"))
        }
    }

    @Test(
        "ferry get: a write that fails with EFBIG is exit code 8",
        .disabled(if: FerryProcess.isSanitized, "the thread sanitizer does not survive the limit"))
    func disk() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            // 512 KB at most in a file: writes fail with EFBIG.
            let outcome = try await FerryProcess.run(
                ["get", server.url("/f.bin")], in: Workplace(), shell: "ulimit -f 1000; exec \"$@\"")
            #expect(outcome.code == 8, "\(outcome.error)")
        }
    }

    @Test("ferry get --on-conflict fail: a taken name is exit code 9, and the file stays")
    func conflict() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            try place.write("mine", to: "f.bin")
            let outcome = try await FerryProcess.run(
                ["get", "--on-conflict", "fail", server.url("/f.bin")], in: place)
            #expect(outcome.code == 9, "\(outcome.error)")
            #expect(try place.data("f.bin") == Data("mine".utf8))
            let renamed = try await FerryProcess.run(["get", server.url("/f.bin")], in: place)
            #expect(renamed.lines == [place.path("f (1).bin")])
        }
    }

    @Test("ferry get -o: a second process on the same path leaves with exit code 9, and the first completes")
    func twoProcesses() async throws {
        try await OriginServer.with { server in
            let gate = Gate()
            // More than all buffers on the way hold: once so much is sent, the first process has read some of it, and
            // has the name.
            let resource = Resource(size: 40_000_000)
            server.serve("/f.bin", resource)
            server.always("/f.bin", .hold(after: 36_000_000, gate))
            let place = try Workplace()
            let first = try FerryProcess(["get", "-x", "1", "-o", "f.bin", server.url("/f.bin")], in: place)
            await gate.arrived()
            let second = try await FerryProcess.run(
                ["get", "-x", "1", "-o", "f.bin", server.url("/f.bin")], in: place)
            gate.open()
            let outcome = try await first.outcome()
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(second.code == 9, "\(second.error)")
            #expect(try place.data("f.bin") == Data(resource.bytes(0..<resource.size)))
        }
    }

    @Test("ferry get: an untrusted certificate is exit code 10, and accepted with --ca-file or --insecure")
    func certificate() async throws {
        var configuration = OriginServer.Configuration()
        configuration.certificate = .good
        try await OriginServer.with(configuration) { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            try place.write(OriginServer.caPEM, to: "ca.pem")
            #expect(try await FerryProcess.run(["get", server.url("/f.bin")], in: place).code == 10)
            let trusted = try await FerryProcess.run(
                ["get", "--ca-file", "ca.pem", server.url("/f.bin")], in: place)
            #expect(trusted.code == 0, "\(trusted.error)")
            let insecure = try await FerryProcess.run(
                ["get", "--insecure", server.url("/f.bin"), "-o", "g"], in: place)
            #expect(insecure.code == 0, "\(insecure.error)")
        }
    }

    @Test("ferry get: of several files the gravest failure gives the exit code, and the others are fetched")
    func several() async throws {
        try await OriginServer.with { server in
            server.serve("/good", Self.resource)
            server.serve("/wrong", Self.resource)
            let place = try Workplace()
            let list =
                "\(server.url("/good"))\n\(server.url("/gone"))\n\(server.url("/wrong"))\n  checksum=\(Self.wrong)\n"
            let outcome = try await FerryProcess.run(["get", "-i", "-"], in: place, input: list)
            #expect(outcome.code == 7, "\(outcome.error)")
            #expect(outcome.lines == [place.path("good")])
        }
    }
}
