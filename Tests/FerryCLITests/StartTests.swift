import FerryTesting
import Foundation
import Testing

@Suite("The binary: starts on unusual systems", .timeLimit(.minutes(30)))
struct StartTests {
    private static let resource = Resource(size: 4_000_000, seed: 72)

    /// A compiler of C, for libraries that are loaded before the program.
    private static let compiler = ["/usr/bin/cc", "/usr/bin/clang", "/usr/bin/gcc"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    private static let canMount = RunningProgram.succeeds([
        "unshare", "-m", "mount", "-t", "tmpfs", "ferry-test", "/mnt",
    ])
    private static let canBecomeOthers =
        geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")

    @Test(
        "The binary: a preloaded library that adds variables to the environment before main leaves the arguments as they are",
        .enabled(if: compiler != nil && !FerryProcess.isSanitized))
    func preloaded() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            try place.write(
                """
                #include <stdlib.h>
                __attribute__((constructor)) static void change(void) {
                    static char name[] = "FERRY_TEST_000";
                    for (int i = 0; i < 200; i++) {
                        name[11] = '0' + i / 100; name[12] = '0' + i / 10 % 10; name[13] = '0' + i % 10;
                        setenv(name, "a value that was not there when the program was started", 1);
                    }
                }
                """, to: "change.c")
            let compiler = try #require(Self.compiler)
            #expect(
                RunningProgram.succeeds([
                    compiler, "-shared", "-fPIC", "-o", place.path("change.so"), place.path("change.c"),
                ]))
            let outcome = try await FerryProcess.run(
                ["get", "-q", server.url("/f.bin")], in: place, environment: ["LD_PRELOAD": place.path("change.so")])
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.lines == [place.path("f.bin")])
        }
    }

    @Test("The binary: without procfs it reads its arguments and downloads", .enabled(if: canMount))
    func withoutProcfs() async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            let outcome = try await FerryProcess.run(
                ["get", "-q", server.url("/f.bin")], in: place,
                shell: #"exec unshare -m sh -c 'mount -t tmpfs ferry-test /proc || exit 99; exec "$@"' sh "$@""#)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.lines == [place.path("f.bin")])
        }
    }

    @Test(
        "ferry get: with few threads allowed it completes or says so, and never traps or hangs",
        .enabled(if: canBecomeOthers && !FerryProcess.isSanitized), arguments: Array(1...18))
    func fewThreads(limit: Int) async throws {
        try await OriginServer.with { server in
            server.serve("/f.bin", Self.resource)
            let place = try Workplace()
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: place.url.path)
            // The limit counts all processes of the user, so each case has a user of its own.
            let user = 61_000 + limit
            let outcome = try await FerryProcess.run(
                ["get", "--no-progress", server.url("/f.bin")], in: place,
                shell: """
                    exec setpriv --reuid=\(user) --regid=\(user) --clear-groups --inh-caps=-all \
                    prlimit --nproc=\(limit) "$@"
                    """)
            if outcome.code == 0 {
                #expect(Self.resource.source.compare(file: place.path("f.bin"), size: Self.resource.size) == .equal)
            } else {
                #expect(outcome.code == 2)
                #expect(outcome.error.contains("more threads can be started"), "\(outcome.error)")
                #expect(server.requests.isEmpty)
            }
            #expect(limit < 14 || outcome.code == 0)
        }
    }
}
