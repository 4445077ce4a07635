import FerryTesting
import Foundation
import Testing

@Suite("The binary: disks and directories", .serialized, .timeLimit(.minutes(30))) struct DiskTests {
    private static let resource = Resource(size: 6_000_000, seed: 51)

    @Test("ferry get --min-free: too little space is exit code 8 before a byte is written (B3)")
    func minFree() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let outcome = try await FerryProcess.run(
                ["get", "--no-progress", "--min-free", "1000000TB", server.url("/f.bin")], in: place)
            #expect(outcome.code == 8, "\(outcome.error)")
            #expect(outcome.error.split(separator: "\n").count == 1, "\(outcome.error)")
            #expect(outcome.error.contains("--min-free"))
            #expect(place.names.isEmpty)
        }
    }

    @Test("ferry get: an unwritable directory is exit code 8 before any request (B5)", arguments: [["-d"], ["-o"], []])
    func unwritable(option: [String]) async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            try FileManager.default.createDirectory(
                at: place.url.appending(path: "locked"), withIntermediateDirectories: false)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place.url.path)
            try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: place.path("locked"))
            let words = option == ["-d"] ? ["-d", "locked"] : option == ["-o"] ? ["-o", "locked/g.bin"] : []
            let directory = option.isEmpty ? "cd locked && " : ""
            // Root may write anywhere, so the process becomes user 65534, without capabilities.
            let become = geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all " : ""
            let outcome = try await FerryProcess.run(
                ["get"] + words + [server.url("/f.bin")], in: place, shell: "\(directory)exec \(become)\"$@\"")
            #expect(outcome.code == 8, "\(outcome.error)")
            #expect(!outcome.error.contains("--help"), "\(outcome.error)")
            #expect(outcome.error.contains("cannot write to directory"), "\(outcome.error)")
            #expect(server.requests.isEmpty)
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

    @Test(
        "ferry get: a disk that fills up keeps the part file, and with space the next run completes (B3)",
        .enabled(if: SmallDisk.canMount, "no right to mount a disk of its own"))
    func full() async throws {
        try await OriginServer.with { server in
            // Without a known length the lack of space shows only during the writes.
            var resource = Self.resource
            resource.framing = .chunked(65_536)
            server.serve("/f.bin", resource)
            let place = try Workplace()
            try FileManager.default.createDirectory(
                at: place.url.appending(path: "disk"), withIntermediateDirectories: false)
            let outcome = try await FerryProcess.run(
                ["get", "--no-progress", "--min-free", "0", "-x", "1", server.url("/f.bin"), "-d", "disk"], in: place,
                shell: """
                    exec unshare -m sh -c 'mount -t tmpfs -o size=4m ferry-test disk || exit 99; "$@"; code=$?; ls disk >names; \
                    echo $code >code; mount -o remount,size=64m disk; "$@"; echo $? >code2; cp disk/f.bin result; exit $code' sh "$@"
                    """)
            #expect(outcome.code == 8, "\(outcome.error)")
            #expect(try String(decoding: place.data("names"), as: UTF8.self).contains("f.bin.part"))
            #expect(try String(decoding: place.data("code2"), as: UTF8.self) == "0\n", "\(outcome.error)")
            #expect(Self.resource.source.compare(file: place.path("result"), size: Self.resource.size) == .equal)
        }
    }

    /// Free space was checked once a second: a fast server filled the disk in between.
    @Test(
        "ferry get --min-free: an endless body stops at the limit of free space (A29)",
        .enabled(if: SmallDisk.canMount, "no right to mount a disk of its own"))
    func floor() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.always("/f.bin", .endlessBody())
            let place = try Workplace()
            try FileManager.default.createDirectory(
                at: place.url.appending(path: "disk"), withIntermediateDirectories: false)
            let outcome = try await FerryProcess.run(
                ["get", "--no-progress", "--min-free", "20MiB", server.url("/f.bin"), "-d", "disk"], in: place,
                shell: """
                    exec unshare -m sh -c 'mount -t tmpfs -o size=64m ferry-test disk || exit 99; "$@"; code=$?; \
                    stat -f -c "%a %S" disk >free; exit $code' sh "$@"
                    """)
            #expect(outcome.code == 8, "\(outcome.error)")
            #expect(outcome.error.contains("--min-free"), "\(outcome.error)")
            let free = try String(decoding: place.data("free"), as: UTF8.self).split { $0.isWhitespace }
                .compactMap { Int($0) }
            // Pieces in flight may pass the limit.
            #expect(free.count == 2 && free[0] * free[1] > 17 << 20, "\(free)")
        }
    }

    @Test("ferry get: with few descriptors six files are fetched, over fewer connections (B12)", arguments: [32, 48])
    func descriptors(limit: Int) async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            server.always("/f.bin", .rate(8_000_000))
            let place = try Workplace()
            let urls = (1...6).map { server.url("/f.bin?\($0)") }
            let outcome = try await FerryProcess.run(
                ["get", "--no-progress", "-j", "6"] + urls, in: place, shell: "ulimit -n \(limit); exec \"$@\"")
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.lines.count == 6)
            for name in place.names {
                #expect(Self.resource.source.compare(file: place.path(name), size: Self.resource.size) == .equal)
            }
        }
    }

    @Test(
        "ferry get: too little space for a known size is exit code 8 before the start (B3)",
        .enabled(if: SmallDisk.canMount, "no right to mount a disk of its own"))
    func tooSmall() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            try FileManager.default.createDirectory(
                at: place.url.appending(path: "disk"), withIntermediateDirectories: false)
            let outcome = try await FerryProcess.run(
                ["get", "--no-progress", "--min-free", "0", server.url("/f.bin"), "-d", "disk"], in: place,
                shell: """
                    exec unshare -m sh -c 'mount -t tmpfs -o size=4m ferry-test disk || exit 99; "$@"; code=$?; \
                    ls disk >names; exit $code' sh "$@"
                    """)
            #expect(outcome.code == 8, "\(outcome.error)")
            #expect(outcome.error.split(separator: "\n").count == 1, "\(outcome.error)")
            #expect(try place.data("names").isEmpty)
        }
    }
}

/// Whether this process may mount a small disk for a process of its own.
enum SmallDisk {
    static let canMount = RunningProgram.succeeds([
        "unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=1m", "ferry-test", "/mnt",
    ])
}
