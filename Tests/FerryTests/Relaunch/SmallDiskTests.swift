import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite(
    "App on a small disk", .timeLimit(.minutes(30)),
    .enabled(
        if: RunningProgram.succeeds(["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=1m", "ferry-test", "/mnt"]),
        "no right to mount a disk of its own"))
struct SmallDiskTests {
    @Test("Full disk: a download waits with its bytes, and with room again fetches only the rest (B3)")
    func filled() async throws {
        try await AppHome.run { home in
            // Without a known length the disk is found full only by a write.
            let resource = Resource(size: 6_000_000, seed: 31, framing: .chunked(65_536))
            home.server.serve("/f", resource)
            let app = try home.app(
                shell: """
                    exec unshare -m sh -c 'mount -t tmpfs -o size=8m ferry-test "$0" || exit 99; \
                    head -c 4000000 /dev/zero >"$0/filler"; exec "$@"' '\(home.directory)' "$@"
                    """)
            try await app.ask("add", ["id": "f", "url": home.server.url("/f")])
            try await app.ask("wait", ["id": "f", "state": "waiting"])
            // The disk is mounted for the app alone; this is its path for others.
            let disk = "/proc/\(app.id)/root\(home.directory)"
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: disk).sorted() == [
                    "f.part", "f.part.ferry", "filler",
                ])
            let held = try #require(try await app.list().first).bytes
            #expect(held > 0)
            let sent = home.server.bodyBytes()
            try FileManager.default.removeItem(atPath: disk + "/filler")
            // The app would retry automatically after a while.
            try await app.ask("resume", ["id": "f"])
            try await app.ask("wait", ["id": "f", "state": "completed"])
            home.shop.expect(disk + "/f", is: resource)
            #expect(home.server.bodyBytes() - sent <= resource.size - held)
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk) == ["f"])
            try await app.close()
        }
    }
}
