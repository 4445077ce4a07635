import Ferry
import FerryAPI
import FerryCore
import FerryServer
import FerryServerTesting
import FerryTesting
import Foundation
import Testing

@testable import FerryAria2

@Suite("Access to aria2's interface", .timeLimit(.minutes(30)))
struct Aria2AccessTests {
    @Test("Every method but the lists of names needs the token, in each call of a batch and of a multicall")
    func token() async throws {
        try await DaemonRig.runWithAria2 { rig in
            for method in Aria2Method.allCases where !method.isOpen {
                for token in [nil, "", "wrong", DaemonRig.secret + " "] as [String?] {
                    let reply = try await rig.post(DaemonRig.call(method.rawValue, [], token: token))
                    #expect(reply.status == 400, "\(method)")
                    #expect(try JSONValue(reply.data)["error"] == ["code": 1, "message": "Unauthorized"], "\(method)")
                }
            }
            let unknown = try await rig.post(DaemonRig.call("aria2.nope", [], token: nil))
            #expect(try JSONValue(unknown.data)["error"]?["message"] == "Unauthorized")
            for method in [Aria2Method.listMethods, .listNotifications] {
                #expect(try await rig.post(DaemonRig.call(method.rawValue, [], token: nil)).status == 200)
            }
            let methods = try await rig.aria2(.listMethods).items?.compactMap(\.string) ?? []
            #expect(methods == Aria2Method.allCases.map(\.rawValue))
            // The calls after a wrong token are refused unheard: one message tries one token.
            let good = DaemonRig.call("aria2.getSessionInfo", [])
            let bad = DaemonRig.call("aria2.getSessionInfo", [], token: "wrong")
            let batch = try JSONValue(try await rig.post([good, bad, good]).data).items
            #expect(batch?.map { $0["result"] != nil } == [true, false, false])
            func item(_ call: JSONValue) -> JSONValue {
                ["methodName": "aria2.getSessionInfo", "params": call["params"] ?? []]
            }
            let multicall = try await rig.post(
                DaemonRig.call("system.multicall", [[item(good), item(bad), item(good)]], token: nil))
            let results = try JSONValue(multicall.data)["result"]?.items
            #expect(results?[0].items?.count == 1)
            #expect(results?[1] == ["code": 1, "message": "Unauthorized"])
            #expect(results?[2] == results?[1])
            #expect(!rig.log.text.contains(DaemonRig.secret))
        }
    }

    @Test("Another Host or Origin is refused before anything is read; an allowed origin may read the response")
    func origins() async throws {
        try await DaemonRig.runWithAria2 {
            $0.flags[.aria2AllowedOrigins] = .list(["http://panel.example"])
        } _: { rig in
            let body = String(decoding: try JSONCoding.encode(DaemonRig.call("aria2.getVersion", [])), as: UTF8.self)
            for host in ["evil.example", "127.0.0.1:1"] {
                #expect(try await rig.post(body, headers: ["Host": host]).status == 421, "\(host)")
            }
            for origin in ["http://evil.example", "null"] {
                let reply = try await rig.post(body, headers: ["Origin": origin])
                #expect(reply.status == 403)
                #expect(reply.headers["access-control-allow-origin"] == nil)
            }
            #expect(try await rig.post(body, headers: ["Sec-Fetch-Site": "cross-site"]).status == 403)
            let headers = ["Origin": "http://panel.example", "Sec-Fetch-Site": "cross-site"]
            let reply = try await rig.post(body, headers: headers)
            #expect(reply.status == 200)
            #expect(reply.headers["access-control-allow-origin"] == "http://panel.example")
            let ask = headers.merging([
                "Access-Control-Request-Method": "POST", "Access-Control-Request-Private-Network": "true",
            ]) { $1 }
            let answer = try await rig.send("OPTIONS", "/jsonrpc", headers: ask, port: try rig.aria2Port)
            #expect(answer.status == 200)
            #expect(answer.headers["access-control-allow-methods"] == "POST, GET, OPTIONS")
            #expect(answer.headers["access-control-allow-private-network"] == "true")
            #expect(answer.data.isEmpty)
        }
    }

    @Test("The page, the API and other paths are not served on this port, nor aria2's interface on the page's")
    func ports() async throws {
        try await DaemonRig.runWithAria2 { rig in
            let port = try rig.aria2Port
            for path in ["/", "/index.html", "/api/v1", "/api/v1/downloads", "/jsonrpc/", "/nothing"] {
                for method in ["GET", "POST"] {
                    let headers = ["Authorization": "Bearer \(rig.token)"]
                    let reply = try await rig.send(method, path, headers: headers, port: port)
                    #expect(reply.status == 404, "\(method) \(path)")
                }
            }
            #expect(try await rig.send("PUT", "/jsonrpc", port: port).status == 404)
            // aria2 reads calls from the query; here the token would be in histories.
            let query = try await rig.send("GET", "/jsonrpc?method=aria2.getVersion&id=1&params=W10%3D", port: port)
            #expect(query.status == 400)
            #expect(try JSONValue(query.data)["error"]?["code"] == -32_600)
            let page = try #require(rig.addresses.port)
            #expect(page != port)
            for headers in [[:], ["Authorization": "Bearer \(rig.token)"]] {
                #expect(
                    try await rig.send("POST", "/jsonrpc", headers: headers, port: page).status == 405, "\(headers)")
            }
        }
    }

    @Test("Destinations: only below the directory of downloads or an allowed one, and never through links")
    func destinations() async throws {
        try await DaemonRig.runWithAria2 { rig in
            try FileManager.default.createSymbolicLink(atPath: rig.downloads + "/link", withDestinationPath: "/tmp")
            for options: JSONValue in [
                ["dir": "/etc"], ["dir": "../x"], ["dir": .text(rig.downloads + "/../x")], ["out": "../x"],
                ["out": "/etc/cron.d/x"], ["out": ".bashrc"], ["dir": "link"], ["out": "link/x"], ["out": "a/../../x"],
                ["dir": .text(rig.downloads + "/.ssh")],
            ] {
                #expect(try await rig.refusal(of: .addUri, [.text(rig.url("/file/1k"))], options) != nil, "\(options)")
            }
            #expect(try await rig.aria2(.tellWaiting, 0, 9) == [])
            rig.origin.serve("/a.bin", Resource(size: 1000, seed: 1))
            let gid = try await rig.addUri("/a.bin", options: ["dir": .text(rig.downloads + "/x"), "out": "y/b.bin"])
            let done = try await rig.reach("completed", gid: gid)
            #expect(done.status.path == rig.downloads + "/x/y/b.bin")
        }
    }

    @Test("Bodies: one over 2 MiB is refused, nesting is bounded, and so are the calls of a message")
    func bounds() async throws {
        try await DaemonRig.runWithAria2 { rig in
            #expect(try await rig.post(String(repeating: " ", count: (2 << 20) + 1)).status == 413)
            #expect(try await rig.post(String(repeating: "[", count: 1 << 20)).status == 500)
            let call = #"{"id":1,"method":"system.listNotifications"}"#
            let many = "[" + Array(repeating: call, count: Aria2Visit.mostCalls + 1).joined(separator: ",") + "]"
            let results = try JSONValue(try await rig.post(many).data).items
            #expect(results?.count == Aria2Visit.mostCalls + 1)
            #expect(results?.last?["error"]?["code"] == 1)
            #expect(try JSONValue(try await rig.post("[]").data) == [])
        }
    }

    @Test("Without a secret one is made, kept in a private file and used again; a file can be named")
    func secrets() throws {
        let directory = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/aria2-secret"
        let made = try SharedToken.read(nil, else: path)
        let token = try #require(made.made)
        #expect(token.utf8.count == 32)
        #expect(made.matches(token))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let kept = try SharedToken.read(nil, else: path)
        #expect(kept.made == nil)
        #expect(kept.matches(token))
        #expect(try SharedToken.read("@" + path, else: "/none").matches(token))
        #expect(try SharedToken.read("other", else: "/none").matches("other"))
        // Readable for others: not trusted, and not replaced silently.
        chmod(path, 0o644)
        #expect(throws: DownloadError.self) { try SharedToken.read("@" + path, else: "/none") }
        #expect(try !SharedToken.read(nil, else: path).matches(token))
        #expect(FileManager.default.fileExists(atPath: path + ".unreadable"))
        #expect(throws: DownloadError.self) { try SharedToken.read("@/none", else: "/none") }
    }

    @Test("Off unless asked for; a port in use is an error that names the option")
    func port() async throws {
        try await DaemonRig.run { rig in
            #expect(rig.addresses.doors["aria2"] == nil)
            #expect(!FileManager.default.fileExists(atPath: rig.place.state + "/aria2-secret"))
            let taken = try #require(rig.addresses.port)
            let error = await #expect(throws: DownloadError.self) {
                try await DaemonRig.run {
                    $0.doors = [.aria2]
                    $0.flags[.aria2Rpc] = .whole(taken)
                } _: { _ in
                }
            }
            #expect(error?.code == .conflict)
            #expect(error?.suggestion?.contains("--aria2-rpc") == true)
        }
    }

    @Test("A message whose answer would be large gets errors in place of the results beyond 32 MiB")
    func answers() async throws {
        try await DaemonRig.runWithAria2 { rig in
            let uris = (0..<90).map {
                JSONValue.text("http://127.0.0.1:9/\($0)/" + String(repeating: "x", count: 4000))
            }
            let gid = try await rig.aria2(.addUri, .list(uris), ["pause": "true"])
            let call = DaemonRig.call("aria2.getUris", [gid])
            let answer = try await rig.post(.list(Array(repeating: call, count: 500))).data
            let results = try #require(try JSONValue(answer).items)
            #expect(results.count == 500)
            let told = results.prefix { $0["result"] != nil }.count
            #expect((10..<100).contains(told))
            #expect(results[told...].allSatisfy { $0["error"]?["message"]?.string?.utf8.contains("32 MiB") == true })
            // A new message has room again.
            #expect(try await rig.aria2(.getUris, gid).items?.count == 90)
        }
    }
}
