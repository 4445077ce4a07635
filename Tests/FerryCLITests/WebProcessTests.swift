import AsyncHTTPClient
import FerryTesting
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@Suite("The binary: web", .timeLimit(.minutes(30)))
struct WebProcessTests {
    private let page = ["FERRY_LOOPBACK": "true", "FERRY_PORT": "0"]

    /// Puts a program into a directory that records its arguments and the file that they name.
    private static func opener(in place: Workplace) throws -> String {
        let directory = place.path("bin")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let script = """
            #!/bin/sh
            printf '%s\\n' "$@" > '\(place.path("arguments"))'
            cat "${1#file://}" > '\(place.path("document"))'
            stat -c '%a %u' "${1#file://}" > '\(place.path("mode"))'
            """
        try Executable.write(script, to: directory + "/xdg-open")
        return directory
    }

    private func text(_ name: String, _ home: RemoteHome) throws -> String {
        try String(contentsOfFile: home.place.path(name), encoding: .utf8)
    }

    @Test("ferry web: the opener gets a private file that leads to the page, and its arguments hold no code")
    func arguments() async throws {
        try await RemoteHome.run { home in
            let opener = try Self.opener(in: home.place)
            let outcome = try await home.ferry(
                "web", environment: page.merging(["DISPLAY": ":0", "PATH": opener + ":/usr/bin:/bin"]) { $1 })
            #expect(outcome.code == 0, "\(outcome.error)")
            // Standard output that is no terminal may be a log.
            #expect(outcome.text == "")
            let document = try text("document", home)
            let code = try #require(document.firstMatch(of: /#code=(\w{32})"/)?.1)
            let arguments = try text("arguments", home)
            #expect(!arguments.contains(code))
            #expect(arguments.hasPrefix("file://\(home.root)/run/sign-in/"))
            #expect(arguments.split(separator: "\n").count == 1)
            #expect(try text("mode", home) == "600 \(geteuid())\n")
        }
    }

    @Test("ferry web: signed-in browsers are listed and signed out by id, and an unknown id changes nothing")
    func browsers() async throws {
        try await RemoteHome.run { home in
            let printed = try await home.ferry("web", "--print", environment: page)
            let address = try #require(printed.lines.first)
            let parts = address.split(separator: "#code=")
            var request = HTTPClientRequest(url: parts[0] + "api/v1/login")
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            request.headers.add(
                name: "User-Agent", value: "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko Firefox/133.0")
            request.body = .bytes(ByteBuffer(string: #"{"code": "\#(parts[1])"}"#))
            let response = try await HTTPClient.shared.execute(request, timeout: .minutes(8))
            let data = Data(try await response.body.collect(upTo: 65_536).readableBytesView)
            let answer = try #require(try JSONSerialization.jsonObject(with: data) as? [String: String])
            let id = try #require(answer["id"])
            let listed = try await home.run("web", "--list")
            #expect(listed.lines.count == 1)
            #expect(listed.text.hasPrefix(id) && listed.text.contains("Firefox on Linux"))
            let unknown = try await home.ferry("web", "--withdraw", id, "other")
            #expect(unknown.code != 0)
            #expect(unknown.error.contains("other") && unknown.error.contains("ferry web --list"))
            #expect(try await home.objects("web", "--list").map { $0["id"] as? String } == [id])
            let out = try await home.run("web", "--withdraw", id)
            #expect(out.text.contains("signed out: \(id)"))
            #expect(try await home.run("web", "--list").text == "")
            let both = try await home.ferry("web", "--list", "--print")
            #expect(both.code == 2)
        }
    }
}
