import AsyncHTTPClient
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryTesting
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@testable import FerryServer

@Suite("Sign-in of browsers", .timeLimit(.minutes(30)))
struct SigningInTests {
    private let json = ["Content-Type": "application/json"]

    private func port(_ rig: DaemonRig) throws -> Int { try #require(rig.addresses.port) }

    /// Signs a browser in, as the page does.
    private func signIn(_ rig: DaemonRig, agent: String) async throws -> TokenBody {
        let code = try await rig.ask(.makeCode).shape(SignInBody.self).code
        let reply = try await rig.send(
            "POST", Route.login.path(), headers: json.merging(["User-Agent": agent]) { $1 },
            body: try JSONCoding.encode(CodeBody(code)), port: try port(rig))
        #expect(reply.status == 200, "\(reply.text)")
        return try reply.shape()
    }

    private func status(_ rig: DaemonRig, _ token: TokenBody) async throws -> Int {
        try await rig.send(
            "GET", Route.list.path(), headers: ["Authorization": "Bearer \(token.token)"], port: try port(rig)
        ).status
    }

    @Test("Sign-in: each browser has its own token, which is listed and withdrawn without the others")
    func own() async throws {
        try await DaemonRig.run { rig in
            let firefox = try await signIn(rig, agent: "X11; Linux Firefox/133.0")
            let chrome = try await signIn(rig, agent: "Android Chrome/131.0 Safari/537.36")
            #expect(firefox.token != chrome.token)
            let own = ["Authorization": "Bearer \(firefox.token)"]
            let listed = try await rig.send("GET", Route.tokens.path(), headers: own, port: try port(rig))
            #expect(!listed.text.contains(firefox.token) && !listed.text.contains(chrome.token))
            let items = try listed.shape(TokenItems.self).items
            #expect(items.filter(\.isOwn).map(\.id) == [firefox.id])
            #expect(items.first { $0.id == chrome.id }?.name == "Chrome on Android")
            #expect(try await rig.ask(.tokens).shape(TokenItems.self).items.map(\.id).contains(firefox.id))
            #expect(try await rig.ask(.withdraw, id: chrome.id).status == 204)
            #expect(try await status(rig, chrome) == 401)
            #expect(try await status(rig, firefox) == 200)
            #expect(try await rig.ask(.withdraw, id: chrome.id).status == 404)
            // The page signs itself out, and gets a response.
            let out = try await rig.send(
                "DELETE", Route.withdraw.path(id: firefox.id), headers: own.merging(json) { $1 }, port: try port(rig))
            #expect(out.status == 204)
            #expect(try await status(rig, firefox) == 401)
        }
    }

    @Test("Sign-in: a withdrawn token ends its event stream, and other streams continue")
    func streams() async throws {
        try await DaemonRig.run { rig in
            let gone = try await signIn(rig, agent: "gone")
            func open(_ token: String) async throws -> EventStreamReader {
                var request = HTTPClientRequest(url: "http://127.0.0.1:\(try port(rig))" + Route.events.path())
                request.headers.add(name: "Authorization", value: "Bearer \(token)")
                let response = try await rig.http.execute(request, timeout: .minutes(8))
                return EventStreamReader(bytes: response.body.makeAsyncIterator())
            }
            var (ending, staying) = (try await open(gone.token), try await open(rig.token))
            _ = try await ending.catchUp()
            _ = try await staying.catchUp()
            #expect(try await rig.ask(.withdraw, id: gone.id).status == 204)
            // The stream is read to its end, clean or not.
            do { while try await ending.next() != nil {} } catch {}
            let listed = try await rig.add(rig.new("/file/1k") { $0.startsPaused = true })
            let seen = try await staying.next { event in
                if case .state(let download) = event, download.id == listed.id { true } else { nil }
            }
            #expect(seen)
        }
    }

    @Test("Sign-in: a code comes with a private file that leads to the page, and is used once, which deletes the file")
    func file() async throws {
        try await DaemonRig.run { rig in
            let made = try await rig.ask(.makeCode).shape(SignInBody.self)
            let path = try #require(made.file)
            #expect(path.hasPrefix(rig.place.signIn + "/"))
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(made.url == "http://127.0.0.1:\(try port(rig))/#code=\(made.code)")
            #expect(try String(contentsOfFile: path, encoding: .utf8).contains(try #require(made.url)))
            let (body, port) = (try JSONCoding.encode(CodeBody(made.code)), try port(rig))
            let reply = try await rig.send("POST", Route.login.path(), headers: json, body: body, port: port)
            #expect(reply.status == 200)
            #expect(!FileManager.default.fileExists(atPath: path))
            #expect(try await rig.send("POST", Route.login.path(), headers: json, body: body, port: port).status == 401)
        }
    }

    @Test("Sign-in: the files that lead to the page are deleted when the daemon ends and when it starts")
    func leftovers() async throws {
        let directory = "/tmp/fy-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        try FileManager.default.createDirectory(atPath: directory + "/downloads", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let place = DaemonRig.place(in: directory)
        @Sendable func files() -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: place.signIn)) ?? []
        }
        try await OriginServer.with { origin in
            try await DaemonRig.serve(directory, origin) { rig in
                _ = try await rig.ask(.makeCode)
                #expect(files().count == 1)
            }
            #expect(files() == [])
            _ = try SignInFile.make(leadingTo: "http://127.0.0.1:1/#code=0", in: place.signIn)
            try await DaemonRig.serve(directory, origin) { _ in #expect(files() == []) }
        }
    }

    @Test("Sign-in: wrong codes get 401 each, and the right code still works after forty of them")
    func wrongCodes() async throws {
        try await DaemonRig.run { rig in
            let made = try await rig.ask(.makeCode).shape(SignInBody.self)
            for index in 0..<40 {
                let body = try JSONCoding.encode(CodeBody("\(index)"))
                let reply = try await rig.send(
                    "POST", Route.login.path(), headers: json, body: body, port: try port(rig))
                #expect(reply.status == 401)
            }
            let body = try JSONCoding.encode(CodeBody(made.code))
            let reply = try await rig.send("POST", Route.login.path(), headers: json, body: body, port: try port(rig))
            #expect(reply.status == 200, "\(reply.text)")
        }
    }
}
