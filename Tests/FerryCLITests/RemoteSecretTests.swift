import FerryTesting
import Foundation
import Testing

@Suite("The binary: secrets of the remote control", .timeLimit(.minutes(30)))
struct RemoteSecretTests {
    @Test("ferry add: the process list shows no secret of the command or of the daemon it starts")
    func arguments() async throws {
        try await RemoteHome.run { home in
            // The command waits for a list: by then it has blanked its arguments.
            let list = home.place.path("list")
            #expect(mkfifo(list, 0o600) == 0)
            let url = home.server.url("/a").replacing("http://", with: "http://urluser:urlpass@")
            let process = try FerryProcess(
                [
                    "add", "--paused", url, "-i", "list", "--header", "X-Key: headersecret",
                    "--user=me:optionsecret",
                ], in: home.place, environment: home.environment)
            async let released: Void = Self.release(list, after: process)
            let writer = try await Self.writer(of: list)
            let own = try Self.commandLine(of: process.id)
            let daemon = try Self.commandLine(of: try #require(home.daemon))
            try writer.write(contentsOf: Data((home.server.url("/b") + "\n").utf8))
            try writer.close()
            let outcome = try await process.outcome()
            await released
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.lines.count == 2)
            #expect(own.contains("127.0.0.1"))
            #expect(daemon.contains("serve"))
            for secret in ["urluser", "urlpass", "headersecret", "optionsecret"] {
                #expect(!own.contains(secret))
                #expect(!daemon.contains(secret))
            }
        }
    }

    private static func commandLine(of process: Int32) throws -> String {
        try String(decoding: Data(contentsOf: URL(filePath: "/proc/\(process)/cmdline")), as: UTF8.self)
    }

    /// The writing end of a named pipe, once a reader has opened it.
    private static func writer(of path: String) async throws -> FileHandle {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<FileHandle, any Error>) in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try FileHandle(forWritingTo: URL(filePath: path)) })
            }
        }
    }

    /// Releases a writer that waits for a reader of the pipe, when the process has ended and may never have opened it.
    private static func release(_ path: String, after process: FerryProcess) async {
        _ = try? await process.outcome()
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        if descriptor >= 0 { close(descriptor) }
    }
}
