import Ferry
import FerryAPI
import FerryCore
import FerryServerTesting
import FerryServer
import FerryTesting
import Foundation
import Testing

@testable import FerryAria2

/// The same calls to Ferry and to aria2c, whose answers are compared: HTTP statuses, error codes and messages, and of
/// results the members and the types of values.
@Suite(
    "aria2's interface beside aria2c", .timeLimit(.minutes(30)),
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/aria2c"), "no aria2c here"))
struct Aria2PeerTests {
    /// aria2c with an RPC interface.
    private struct Peer {
        let program: RunningProgram
        let port: Int
        let rig: DaemonRig

        static func start(_ rig: DaemonRig) async throws -> Peer {
            // aria2c takes no port 0; another program may have the port. With one family aria2c ends then: with two, it
            // listens where it can, which is not where it is asked.
            for _ in 0..<20 {
                let port = Int.random(in: 20_000..<32_768)
                let directory = rig.directory + "/peer"
                try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
                let program = try RunningProgram([
                    "/usr/bin/aria2c", "--no-conf", "--enable-rpc", "--rpc-listen-port=\(port)",
                    "--disable-ipv6", "--rpc-secret=\(DaemonRig.secret)", "--dir=\(directory)", "--quiet",
                    "--max-tries=1",
                    // The most that it takes: a busy machine is no stalled server.
                    "--timeout=600", "--connect-timeout=600",
                ])
                let peer = Peer(program: program, port: port, rig: rig)
                while program.ended == nil {
                    if let reply = try? await peer.send("", "/jsonrpc"), reply.status == 500 { return peer }
                    try await Task.sleep(for: .milliseconds(2))
                }
            }
            throw DownloadError(.internal, "aria2c does not listen")
        }

        /// Asks until a download is so.
        func reach(_ gid: JSONValue, _ isSo: (JSONValue) -> Bool) async throws {
            let call = DaemonRig.call("aria2.tellStatus", [gid])
            let body = String(decoding: try JSONCoding.encode(call), as: UTF8.self)
            while true {
                if let status = try JSONValue(try await send(body, "/jsonrpc").data)["result"] {
                    if isSo(status) { return }
                    try #require(status["status"] != "error", "\(status)")
                }
                try await Task.sleep(for: .milliseconds(2))
            }
        }

        func send(_ body: String, _ path: String, method: String = "POST") async throws -> DaemonRig.Reply {
            try await rig.send(method, path, body: method == "POST" ? Data(body.utf8) : nil, port: port)
        }
    }

    private static func run(_ body: @Sendable (Pair) async throws -> Void) async throws {
        try await DaemonRig.runWithAria2 { rig in
            let peer = try await Peer.start(rig)
            defer { peer.program.signal(SIGKILL) }
            try await body(Pair(rig: rig, peer: peer))
        }
    }

    private struct Pair: Sendable {
        let rig: DaemonRig
        let peer: Peer

        /// Sends the same to both, and compares.
        @discardableResult
        func compare(
            _ body: String, path: String = "/jsonrpc", method: String = "POST",
            without left: Set<String> = [], sourceLocation: SourceLocation = #_sourceLocation
        ) async throws -> (own: DaemonRig.Reply, peer: DaemonRig.Reply) {
            let own = try await rig.send(
                method, path, body: method == "POST" ? Data(body.utf8) : nil, port: try rig.aria2Port)
            let other = try await peer.send(body, path, method: method)
            #expect(own.status == other.status, "\(body): \(own.text)", sourceLocation: sourceLocation)
            let types = (own.headers["content-type"], other.headers["content-type"])
            if !other.data.isEmpty { #expect(types.0 == types.1, "\(body)", sourceLocation: sourceLocation) }
            let shapes = (Self.shape(own.data, left), Self.shape(other.data, left))
            #expect(shapes.0 == shapes.1, "\(body)\n\(own.text)\n\(other.text)", sourceLocation: sourceLocation)
            return (own, other)
        }

        @discardableResult
        func call(
            _ method: String, _ params: JSONValue..., without left: Set<String> = [],
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws -> (own: JSONValue, peer: JSONValue) {
            let body = String(decoding: try JSONCoding.encode(DaemonRig.call(method, params)), as: UTF8.self)
            let replies = try await compare(body, without: left, sourceLocation: sourceLocation)
            return (try JSONValue(replies.own.data), try JSONValue(replies.peer.data))
        }

        /// The members and types of a value; of an error also the code and the message.
        private static func shape(_ data: Data, _ left: Set<String>) -> JSONValue {
            guard let value = try? JSONValue(data) else { return .text(data.isEmpty ? "empty" : "no JSON") }
            return shape(value, left)
        }

        private static func shape(_ value: JSONValue, _ left: Set<String>) -> JSONValue {
            switch value {
            case .null, .flag: return value
            case .whole, .number: return "number"
            // Numbers are texts in results.
            case .text(let text): return Int(text) == nil ? "text" : "digits"
            case .list(let items): return .list(items.map { shape($0, left) })
            case .object(let members):
                // An error, compared to the letter.
                if members["code"] != nil, members["message"] != nil { return value }
                var shapes = members.filter { !left.contains($0.key) }.mapValues { shape($0, left) }
                // aria2 repeats a URI for its connections.
                if let first = shapes["uris"]?.items?.first { shapes["uris"] = [first] }
                return .object(shapes)
            }
        }
    }

    @Test("The same malformed messages and refused calls get the same statuses, codes and messages")
    func errors() async throws {
        try await Self.run { pair in
            let token = "\"token:\(DaemonRig.secret)\""
            for body in [
                "{oops", "", "3", "null", #""a""#, "[]", #"{"id":1}"#, #"{"id":null,"method":"aria2.getVersion"}"#,
                #"{"method":"aria2.getVersion","params":[\#(token)]}"#, #"{"id":1,"method":5}"#,
                #"{"id":1,"method":"aria2.getVersion","params":{}}"#,
                #"{"id":1,"method":"aria2.nope","params":[\#(token)]}"#,
                #"{"id":[1,{"a":2}],"method":"aria2.nope"}"#,
                #"{"id":1,"method":"aria2.getVersion","params":["token:x"]}"#,
                #"{"id":1,"method":"system.multicall"}"#, #"{"id":1,"method":"system.multicall","params":[\#(token)]}"#,
            ] { try await pair.compare(body) }
            try await pair.compare("", method: "GET")
            try await pair.compare("", path: "/", method: "GET")
            try await pair.compare("x", path: "/x")
            try await pair.compare("", method: "OPTIONS")
            for (method, params) in [
                ("aria2.tellStatus", []), ("aria2.tellStatus", [1]), ("aria2.tellStatus", ["xyz"]),
                ("aria2.tellStatus", ["ffffffffffffffff"]), ("aria2.tellStatus", ["fffffffffffffffff"]),
                ("aria2.tellWaiting", [0, -1]), ("aria2.tellWaiting", ["0", 1]), ("aria2.tellStopped", [0]),
                ("aria2.addUri", [[]]), ("aria2.addUri", [["nothing"]]), ("aria2.addUri", ["http://a/"]),
                ("aria2.addUri", [["http://127.0.0.1:9/a"], ["split": "x"]]),
                ("aria2.addUri", [["http://127.0.0.1:9/a"], ["gid": "0123"]]),
                ("aria2.addUri", [["http://127.0.0.1:9/a"], [:], -1]), ("aria2.removeDownloadResult", ["ffff"]),
                ("aria2.changePosition", ["ffff", 0, "POS_SET"]), ("aria2.changeUri", ["ffff", 0, [], []]),
                ("aria2.changeGlobalOption", [["max-concurrent-downloads": "0"]]),
                ("aria2.changeGlobalOption", [["nonsense": "0"]]),
            ] as [(String, [JSONValue])] {
                let body = String(decoding: try JSONCoding.encode(DaemonRig.call(method, params)), as: UTF8.self)
                try await pair.compare(body)
            }
            let multicall: JSONValue = [
                ["methodName": "aria2.getSessionInfo", "params": [.text("token:" + DaemonRig.secret)]],
                ["methodName": "aria2.nope", "params": [.text("token:" + DaemonRig.secret)]], ["params": []],
                ["methodName": "system.multicall", "params": []], 4,
            ]
            let body = DaemonRig.call("system.multicall", [multicall], token: nil)
            try await pair.compare(String(decoding: try JSONCoding.encode(body), as: UTF8.self))
        }
    }

    @Test("A waiting, a running, a finished, a failed and a removed download have the same members")
    func statuses() async throws {
        try await Self.run { pair in
            pair.rig.origin.serve("/a.bin", Resource(size: 3 << 20, seed: 1))
            pair.rig.origin.serve("/b.bin", Resource(size: 4 << 20, seed: 1))
            pair.rig.origin.always("/b.bin", .stall(after: 2 << 20))
            func each(_ gid: JSONValue, _ methods: [String]) async throws {
                for method in methods { try await pair.call("aria2." + method, gid) }
            }
            let all = ["tellStatus", "getUris", "getFiles", "getServers"]
            func add(_ path: String, _ gid: JSONValue, _ options: [String: JSONValue]) async throws {
                let options = options.merging(["gid": gid, "split": "1"]) { $1 }
                try await pair.call("aria2.addUri", [.text(pair.rig.url(path))], .object(options))
            }
            let paused: JSONValue = "00000000000000a1"
            try await add("/a.bin", paused, ["pause": "true"])
            try await each(paused, all + ["pause"])
            for params: [JSONValue] in [[0, 9], [-1, 9, ["gid", "status"]], [1, 9]] {
                let call = DaemonRig.call("aria2.tellWaiting", params)
                try await pair.compare(String(decoding: try JSONCoding.encode(call), as: UTF8.self))
            }
            let changes = try await pair.call("aria2.changeUri", paused, 1, [], [.text(pair.rig.url("/a.bin?2"))])
            #expect(changes.own["result"] == changes.peer["result"])
            try await pair.call("aria2.changePosition", paused, 0, "POS_END")
            try await pair.call("aria2.changeOption", paused, ["max-download-limit": "1M", "nonsense": "1"])
            try await pair.call("aria2.unpause", paused)
            let running: JSONValue = "00000000000000a2"
            try await add("/b.bin", running, [:])
            try await pair.peer.reach(paused) { $0["status"] == "complete" }
            try await pair.peer.reach(running) { $0["completedLength"] == "2097152" }
            _ = try await pair.rig.reach("completed", gid: paused)
            let id = try #require(running.string.flatMap { Aria2GID($0) }).id
            let download = try #require(try await pair.rig.daemon.manager.download(id: id))
            for await status in download.updates where status.progress.completedBytes >= 2 << 20 { break }
            try await each(paused, all + ["pause", "unpause", "remove"])
            try await each(running, ["tellStatus", "getFiles", "getServers", "unpause"])
            try await pair.call("aria2.tellActive", ["gid", "status", "bitfield", "files"])
            try await pair.call("aria2.tellStopped", 0, 9)
            try await pair.call("aria2.forceRemove", running)
            try await pair.call("aria2.getGlobalStat")
            try await pair.call("aria2.getSessionInfo")
            try await pair.call("aria2.removeDownloadResult", paused)
            try await pair.call("aria2.tellStatus", paused)
            try await pair.call("aria2.purgeDownloadResult")
        }
    }

    @Test("Options that both have, have the same form; those given are returned alike")
    func options() async throws {
        try await Self.run { pair in
            let gid: JSONValue = "00000000000000a1"
            let options: JSONValue = [
                "gid": gid, "pause": "true", "header": ["Accept: a/b"], "max-download-limit": "10K", "split": "3",
                "min-split-size": "2M", "out": "b.bin", "user-agent": "u", "referer": "http://r/", "retry-wait": "4",
                "max-tries": "2", "timeout": "30", "uri-selector": "adaptive", "allow-overwrite": "true",
            ]
            try await pair.call("aria2.addUri", [.text(pair.rig.url("/a.bin"))], options)
            func both(_ method: String, _ params: JSONValue...) async throws -> [(String, JSONValue?, JSONValue?)] {
                let call = try JSONCoding.encode(DaemonRig.call("aria2." + method, params))
                let own = try JSONValue(try await pair.rig.post(String(decoding: call, as: UTF8.self)).data)["result"]
                let other = try JSONValue(
                    try await pair.peer.send(String(decoding: call, as: UTF8.self), "/jsonrpc").data)["result"]
                let names = Set(try #require(own?.members).keys).union(try #require(other?.members).keys)
                return names.sorted().map { ($0, own?[$0], other?[$0]) }
            }
            for (name, own, other) in try await both("getOption", gid) {
                if name != "dir", options[name] != nil { #expect(own == other, "\(name)") }
                // Only options of BitTorrent, Metalink and FTP are missing.
                let isForeign = ["bt-", "ftp-", "metalink-", "seed-", "enable-peer-exchange", "ssh-"]
                    .contains { name.utf8.hasPrefix($0) }
                #expect(own != nil || isForeign, "\(name)")
                if let own = own?.string, let other = other?.string, Int(other) != nil {
                    #expect(Int(own) != nil, "\(name)")
                }
            }
            for (name, own, _) in try await both("getGlobalOption") {
                #expect(own == nil || own?.string != nil, "\(name)")
            }
        }
    }
}
