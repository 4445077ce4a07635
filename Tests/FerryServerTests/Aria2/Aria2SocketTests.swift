import Ferry
import FerryAPI
import FerryCore
import FerryTesting
import Foundation
import NIOCore
import Testing

@testable import FerryServer

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
            let text = String(decoding: try APICoding.encode(call), as: UTF8.self)
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
