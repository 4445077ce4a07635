import Ferry
import FerryAPI
import FerryCore
import FerryServer
import FerryServerTesting
import FerryTesting
import Foundation
import NIOCore
import Testing

@testable import FerryAria2

@Suite("aria2's interface on WebSockets", .timeLimit(.minutes(30)))
struct Aria2SocketTests {
    @Test("A WebSocket: calls, batches, several frames at once, parts of a message, ping and close")
    func calls() async throws {
        try await DaemonRig.runWithAria2 { rig in
            let socket = try await TestWebSocket.open(port: try rig.aria2Port)
            let call = DaemonRig.call("aria2.getVersion", [], id: 7)
            try socket.send(call)
            let version = try await socket.nextValue()
            #expect(version["id"] == 7)
            #expect(version["result"]?["version"] == .text(Aria2RPC.version))
            try socket.send([call, call])
            #expect(try await socket.nextValue().items?.count == 2)
            socket.send("{oops")
            #expect(try await socket.nextValue()["error"]?["code"] == -32_700)
            for id in 1...20 { try socket.send(DaemonRig.call("aria2.getSessionInfo", [], id: .whole(id))) }
            for id in 1...20 { #expect(try await socket.nextValue()["id"] == .whole(id)) }
            let text = String(decoding: try JSONCoding.encode(call), as: UTF8.self)
            socket.send(String(text.prefix(9)), isLast: false)
            socket.send("p", opcode: 9)
            socket.send(String(text.dropFirst(9)), opcode: 0)
            #expect(await socket.next() == TestWebSocket.Frame(opcode: 10, data: Array("p".utf8)))
            #expect(try await socket.nextValue()["id"] == 7)
            socket.send("\u{3}\u{3}", opcode: 8)
            #expect(await socket.next()?.opcode == 8)
            #expect(await socket.next() == nil)
        }
    }

    /// What a client sends, in one piece, and the codes of the closing frames that it receives.
    static let endings: [(String, [UInt8], code: [UInt8])] = [
        ("a close is answered with its code, and nothing after it", close([0x03, 0xE8]) + ping, [0x03, 0xE8]),
        ("a code of an application, with a reason", close([0x0F, 0xA0] + Array("bye".utf8)), [0x0F, 0xA0]),
        ("no code", close([]), []),
        ("half a code", close([0x03]), [0x03, 0xEA]),
        ("a code that no frame may have", close([0x03, 0xED]), [0x03, 0xEA]),
        ("a reason that is not UTF-8", close([0x03, 0xE8, 0xFF]), [0x03, 0xEF]),
        ("a ping in parts", TestWebSocket.frame([], opcode: 9, isLast: false), [0x03, 0xEA]),
        ("a frame of 2 MiB", [0x81, 0xFF, 0, 0, 0, 0, 0, 0x20, 0, 0, 1, 2, 3, 4], [0x03, 0xF1]),
        ("an unmasked frame", [0x81, 2, UInt8(ascii: "{"), UInt8(ascii: "}")], [0x03, 0xEA]),
        ("text that is not UTF-8", TestWebSocket.frame([0x22, 0xC3, 0x22]), [0x03, 0xEF]),
        ("a reserved bit", [0xC1] + TestWebSocket.frame([]).dropFirst(), [0x03, 0xEA]),
        ("a reserved opcode", TestWebSocket.frame([], opcode: 3), [0x03, 0xEA]),
        (
            "a message within another",
            TestWebSocket.frame([0x5B], isLast: false) + TestWebSocket.frame([0x5B]), [0x03, 0xEA]
        ),
        ("a part of nothing", TestWebSocket.frame([0x5B], opcode: 0), [0x03, 0xEA]),
    ]
    private static func close(_ data: [UInt8]) -> [UInt8] { TestWebSocket.frame(data, opcode: 8) }
    private static let ping = TestWebSocket.frame([0x70], opcode: 9)

    @Test("A WebSocket: one closing frame with the code of RFC 6455, and then the end", arguments: endings)
    func ending(_ name: String, _ frames: [UInt8], _ code: [UInt8]) async throws {
        try await DaemonRig.runWithAria2 { rig in
            let socket = try await TestWebSocket.open(port: try rig.aria2Port)
            socket.send(frames: frames)
            var answers: [TestWebSocket.Frame] = []
            while let frame = await socket.next() { answers.append(frame) }
            #expect(answers == [TestWebSocket.Frame(opcode: 8, data: code)], "\(name)")
        }
    }

    @Test("A WebSocket: notifications of a download from its start to its end")
    func notifications() async throws {
        try await DaemonRig.runWithAria2 { rig in
            let socket = try await TestWebSocket.open(port: try rig.aria2Port)
            try socket.send(DaemonRig.call("aria2.getVersion", []))
            _ = try await socket.nextValue()
            func expect(_ notification: Aria2Notification, _ gid: JSONValue) async throws {
                #expect(
                    try await socket.nextValue() == [
                        "jsonrpc": "2.0", "method": .text(notification.rawValue), "params": [["gid": gid]],
                    ])
            }
            let gid = try await rig.held("/a.bin")
            try await expect(.start, gid)
            try await rig.aria2(.pause, gid)
            try await expect(.pause, gid)
            rig.origin.always("/a.bin", .honest)
            try await rig.aria2(.unpause, gid)
            try await expect(.start, gid)
            try await expect(.complete, gid)
            let other = try await rig.held("/b.bin")
            try await expect(.start, other)
            try await rig.aria2(.remove, other)
            try await expect(.stop, other)
            let dead = try await rig.addUri("/none")
            try await expect(.error, dead)
            // Downloads of other sessions are nobody's business here.
            rig.origin.serve("/c.bin", Resource(size: 1000, seed: 1))
            let hidden = try await rig.add(rig.new("/c.bin"), session: "app")
            _ = try await rig.reach("completed", hidden.id)
            let last = try await rig.addUri("/c.bin")
            try await expect(.start, last)
        }
    }

    @Test("A WebSocket: handshakes of other pages, hosts, paths and versions are refused")
    func refusals() async throws {
        try await DaemonRig.runWithAria2 {
            $0.flags[.aria2AllowedOrigins] = .list(["http://panel.example"])
        } _: { rig in
            let port = try rig.aria2Port
            func status(_ text: String) async -> Int? { await RawConnection.send(text, port: port).status }
            #expect(await status(TestWebSocket.handshake(port: port, fields: ["Origin: http://evil.example"])) == 403)
            #expect(await status(TestWebSocket.handshake(port: port, host: "evil.example:\(port)")) == 421)
            #expect(await status(TestWebSocket.handshake(port: port, path: "/rpc")) == 404)
            #expect(await status(TestWebSocket.handshake(port: port, version: "8")) == 426)
            let post = TestWebSocket.handshake(port: port).replacing("GET", with: "POST")
            #expect(await status(post) == 400)
            let socket = try await TestWebSocket.open(port: port, fields: ["Origin: http://panel.example"])
            try socket.send(DaemonRig.call("aria2.getVersion", [], token: "wrong"))
            #expect(try await socket.nextValue()["error"]?["message"] == "Unauthorized")
        }
    }

    @Test("A WebSocket: a message over the limit ends the connection; so do too many connections without a token")
    func bounds() async throws {
        try await DaemonRig.runWithAria2 {
            $0.limits.mostUnknown = 2
        } _: { rig in
            let port = try rig.aria2Port
            let large = try await TestWebSocket.open(port: port)
            large.send(String(repeating: " ", count: Aria2Socket.mostBytes + 1))
            #expect(await large.next().map { $0.opcode == 8 } ?? true)
            #expect(await large.next() == nil)
            let known = try await TestWebSocket.open(port: port)
            try known.send(DaemonRig.call("aria2.getVersion", []))
            _ = try await known.nextValue()
            let first = try await TestWebSocket.open(port: port)
            let others = [try await TestWebSocket.open(port: port), try await TestWebSocket.open(port: port)]
            #expect(await first.next()?.opcode == 8)
            try known.send(DaemonRig.call("aria2.getVersion", []))
            _ = try await known.nextValue()
            withExtendedLifetime(others) {}
        }
    }

    @Test("shutdown on a WebSocket: the response arrives before the connection ends")
    func shutdown() async throws {
        try await DaemonRig.runWithAria2 { rig in
            let idle = try await TestWebSocket.open(port: try rig.aria2Port)
            let socket = try await TestWebSocket.open(port: try rig.aria2Port)
            try socket.send(DaemonRig.call("aria2.forceShutdown", []))
            #expect(try await socket.nextValue()["result"] == "OK")
            #expect(await socket.next().map { $0.opcode == 8 } ?? true)
            #expect(await idle.next().map { $0.opcode == 8 } ?? true)
        }
    }
}
