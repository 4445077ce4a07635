import CFerry
package import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// An HTTP server at a Unix socket. A test determines each response and when it is sent. Each connection has its own thread,
/// so that a response may wait.
package final class ScriptedServer: Sendable {
    package struct Request: Sendable {
        /// Method and path.
        package var line: String
        /// The query, without its `?`.
        package var query: String
        package var body: Data
    }

    package enum Reply: Sendable {
        case response(status: Int = 200, fields: [String] = [], body: Data)
        /// An event stream that begins with this text and ends when the client disconnects.
        case stream(String)
    }

    /// Returns the response to a request; `nil` drops the connection.
    package typealias Script = @Sendable (Request, ScriptedServer) -> Reply?

    private let listening: Int32
    private let script: Script
    /// The event streams, oldest first.
    private let streams = Mutex<[Int32]>([])
    private let requests = Mutex<[Request]>([])

    /// The requests so far.
    package var requested: [Request] { requests.withLock { $0 } }
    /// The methods and paths of the requests so far.
    package var asked: [String] { requested.map(\.line) }

    /// Starts to listen. The server stops when it is released.
    package init(socket path: String, script: @escaping Script) throws {
        self.script = script
        listening = socket(AF_UNIX, ferry_SOCK_STREAM, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listening, $0, size) == 0 }
        }
        guard listening >= 0, isBound, listen(listening, 8) == 0 else { throw CocoaError(.fileWriteUnknown) }
        let descriptor = self.listening
        Thread.detachNewThread { [weak self] in
            while case let connection = accept(descriptor, nil, nil), connection >= 0 {
                Thread.detachNewThread { [weak self] in
                    while self?.answer(connection) ?? false {}
                    close(connection)
                }
            }
        }
    }

    deinit {
        shutdown(listening, Int32(SHUT_RDWR))
        close(listening)
    }

    /// Runs a body with a server at a socket that may be trusted as the daemon's: in a directory that only this user can
    /// access.
    package static func run(
        _ script: @escaping Script, _ body: (_ socket: String, ScriptedServer) async throws -> Void
    ) async throws {
        // A socket's path must be short.
        let root = "/tmp/ferry-test-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        try FileManager.default.createDirectory(
            atPath: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: root) }
        try await body(root + "/s", ScriptedServer(socket: root + "/s", script: script))
    }

    /// Sends a text on the newest stream.
    package func tell(_ text: String) { if let stream = streams.withLock({ $0.last }) { Self.chunk(text, to: stream) } }

    /// Answers one request; returns false when the connection ends.
    private func answer(_ connection: Int32) -> Bool {
        guard let request = Self.request(connection) else { return false }
        requests.withLock { $0.append(request) }
        switch script(request, self) {
        case nil: return false
        case .response(let status, let fields, let body)?:
            let head = ["HTTP/1.1 \(status) Status", "Content-Type: application/json", "Content-Length: \(body.count)"]
            Self.write((head + fields).joined(separator: "\r\n") + "\r\n\r\n", to: connection)
            Self.write(String(decoding: body, as: UTF8.self), to: connection)
            return true
        case .stream(let start)?:
            Self.write(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
                to: connection)
            if !start.isEmpty { Self.chunk(start, to: connection) }
            streams.withLock { $0.append(connection) }
            // Keeps the stream alive until the client disconnects: the client would reopen a silent stream.
            var descriptor = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
            while poll(&descriptor, 1, 1000) == 0 { Self.chunk(":\n\n", to: connection) }
            return false
        }
    }

    /// Reads a request with its body.
    private static func request(_ connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        var end: (head: Int, body: Int)?
        var byte: UInt8 = 0
        while end.map({ bytes.count < $0.body }) ?? true {
            guard recv(connection, &byte, 1, 0) == 1 else { return nil }
            bytes.append(byte)
            guard end == nil, bytes.suffix(4) == [13, 10, 13, 10] else { continue }
            let lengths = String(decoding: bytes, as: UTF8.self).lowercased().components(
                separatedBy: "content-length: ")
            let length = lengths.dropFirst().first.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
            end = (bytes.count, bytes.count + length)
        }
        let words = String(decoding: bytes, as: UTF8.self).components(separatedBy: " ")
        guard words.count > 1, let end else { return nil }
        let parts = words[1].split(separator: "?", maxSplits: 1).map(String.init)
        return Request(
            line: words[0] + " " + (parts.first ?? ""), query: parts.count > 1 ? parts[1] : "",
            body: Data(bytes[end.head...]))
    }

    private static func chunk(_ text: String, to connection: Int32) {
        write("\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n", to: connection)
    }

    private static func write(_ text: String, to connection: Int32) {
        _ = Array(text.utf8).withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
}
