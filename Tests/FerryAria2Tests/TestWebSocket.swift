import FerryAPI
import FerryCore
import FerryServerTesting
import Foundation
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A client of a WebSocket on loopback, byte by byte.
final class TestWebSocket: Sendable {
    struct Frame: Sendable, Hashable {
        var opcode: UInt8
        var data: [UInt8]
        var text: String { String(decoding: data, as: UTF8.self) }
    }

    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }
    deinit { close(descriptor) }

    static func handshake(
        port: Int, path: String = "/jsonrpc", host: String? = nil, version: String = "13", fields: [String] = []
    ) -> String {
        ([
            "GET \(path) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")", "Upgrade: WebSocket",
            "Connection: keep-alive, Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: \(version)",
        ] + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// Opens a connection, and expects the response to the handshake of RFC 6455 §1.3.
    static func open(port: Int, fields: [String] = []) async throws -> TestWebSocket {
        let descriptor = try #require(await RawConnection.begin(handshake(port: port, fields: fields), port: port))
        let socket = TestWebSocket(descriptor)
        let head = await RawConnection.blocking {
            var head: [UInt8] = []
            while !head.hasSuffix("\r\n\r\n"), let byte = socket.read(1) { head += byte }
            return String(decoding: head, as: UTF8.self)
        }
        #expect(head.hasPrefix("HTTP/1.1 101 "), "\(head)")
        #expect(head.lowercased().contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="), "\(head)")
        return socket
    }

    func send(_ text: String, opcode: UInt8 = 1, isLast: Bool = true) {
        send(frames: Self.frame(Array(text.utf8), opcode: opcode, isLast: isLast))
    }

    /// Sends bytes as they are, in one piece.
    func send(frames: [UInt8]) { RawConnection.write(frames, descriptor) }

    /// A masked frame.
    static func frame(_ data: [UInt8], opcode: UInt8 = 1, isLast: Bool = true) -> [UInt8] {
        let mask: [UInt8] = [1, 2, 3, 4]
        var frame: [UInt8] = [(isLast ? 0x80 : 0) | opcode]
        switch data.count {
        case ..<126: frame.append(0x80 | UInt8(data.count))
        case ..<65_536: frame += [0x80 | 126, UInt8(data.count >> 8), UInt8(data.count & 255)]
        default: frame += [0x80 | 127] + (0..<8).map { UInt8(truncatingIfNeeded: data.count >> (56 - 8 * $0)) }
        }
        frame += mask + data.enumerated().map { $1 ^ mask[$0 % 4] }
        return frame
    }

    func send(_ value: JSONValue) throws { send(String(decoding: try JSONCoding.encode(value), as: UTF8.self)) }

    /// The next frame; `nil` at the end of the connection.
    func next() async -> Frame? {
        await RawConnection.blocking { [self] in
            guard let head = read(2) else { return nil }
            var count = Int(head[1] & 0x7F)
            if count >= 126 {
                guard let bytes = read(count == 126 ? 2 : 8) else { return nil }
                count = bytes.reduce(0) { $0 << 8 | Int($1) }
            }
            return read(count).map { Frame(opcode: head[0] & 15, data: $0) }
        }
    }

    func nextValue() async throws -> JSONValue {
        let frame = try #require(await next())
        #expect(frame.opcode == 1)
        return try JSONValue(Data(frame.data))
    }

    private func read(_ count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var piece = [UInt8](repeating: 0, count: count - bytes.count)
            let received = recv(descriptor, &piece, piece.count, 0)
            guard received > 0 else { return nil }
            bytes += piece.prefix(received)
        }
        return bytes
    }
}
