import FerryTesting
import Foundation
import Testing

@Suite("The binary: environment of started programs", .timeLimit(.minutes(30)))
struct EnvironmentTests {
    /// Variables of the first command alone: passwords, tokens, and those that would change a program.
    private static let secrets = [
        "AWS_SECRET_ACCESS_KEY": "geheim-1", "GITHUB_TOKEN": "geheim-2", "LD_FERRY_TEST": "geheim-3",
        "FERRY_SESSION": "geheim-4",
    ]

    @Test("Environment: a daemon and a completion command inherit only the listed variables")
    func inherited() async throws {
        try await RemoteHome.run { home in
            home.server.serve("/a", Resource(size: 1000))
            let (out, script) = (home.root + "/out", home.root + "/after.sh")
            #expect(mkfifo(out, 0o600) == 0)
            try Executable.write("#!/bin/sh\nexec /usr/bin/env > '\(out)'\n", to: script)
            try #"{"onComplete": "\#(script)"}"#.write(
                toFile: home.root + "/ferry.json", atomically: true, encoding: .utf8)
            var environment = Self.secrets
            environment["TZ"] = "UTC"
            environment["http_proxy"] = "http://me:geheim-5@127.0.0.1:9"
            environment["no_proxy"] = "127.0.0.1"
            async let printed = Self.text(of: out)
            let outcome = try await home.ferry("add", home.server.url("/a"), environment: environment)
            #expect(outcome.code == 0, "\(outcome.error)")

            let command = try await Self.names(printed.split(separator: "\n"))
            let text = try await printed
            #expect(!text.contains("geheim-1") && !text.contains("geheim-2") && !text.contains("geheim-3"))
            #expect(!text.contains("geheim-4") && !text.contains("geheim-5"))
            #expect(text.contains("FERRY_SESSION=default\n"))
            // A shell adds these itself.
            let known: Set<String> = [
                "PATH", "HOME", "LC_ALL", "TZ", "no_proxy", "FERRY_SOCKET", "FERRY_STATE_DIR", "FERRY_CONFIG",
                "XDG_DOWNLOAD_DIR", "FERRY_SESSION", "FERRY_ID", "FERRY_PATH", "FERRY_PROOF",
            ]
            #expect(command.subtracting(["PWD", "OLDPWD", "SHLVL", "_"]) == known)

            #if os(Linux)
                let daemon = try #require(home.daemon)
                let bytes = try Data(contentsOf: URL(filePath: "/proc/\(daemon)/environ"))
                let own = Self.names(String(decoding: bytes, as: UTF8.self).split(separator: "\0"))
                #expect(
                    own == [
                        "PATH", "HOME", "LC_ALL", "TZ", "no_proxy", "http_proxy", "FERRY_SOCKET", "FERRY_STATE_DIR",
                        "FERRY_CONFIG", "FERRY_LOOPBACK", "XDG_DOWNLOAD_DIR",
                    ])
            #endif
        }
    }

    private static func names(_ lines: [Substring]) -> Set<String> {
        Set(lines.map { String($0.prefix { $0 != "=" }) })
    }

    /// The text of the first writer of the pipe, to its end.
    private static func text(of path: String) async throws -> String {
        let data: Data = try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result { try FileHandle(forReadingFrom: URL(filePath: path)).readToEnd() ?? Data() })
            }
        }
        return String(decoding: data, as: UTF8.self)
    }
}
