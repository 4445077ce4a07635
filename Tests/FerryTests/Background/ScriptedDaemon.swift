import Foundation
import Synchronization

@testable import Ferry
@testable import FerryAPI

#if canImport(Glibc)
    import Glibc
#endif

/// A daemon whose responses and their times are chosen by a test.
final class ScriptedDaemon: Sendable {
    /// Returns the answer to a request, by its method and path; `nil` breaks the connection.
    typealias Script = @Sendable (_ request: String, _ daemon: ScriptedDaemon) throws -> (any Encodable)?

    private let listening: Int32
    private let script: Script
    /// The event streams, oldest first.
    private let streams = Mutex<[Int32]>([])
    private let requests = Mutex<[String]>([])

    /// The requests so far.
    var asked: [String] { requests.withLock { $0 } }

    init(socket path: String, script: @escaping Script) throws {
        self.script = script
        #if canImport(Glibc)
            listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
            listening = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
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

    /// Sends an event on the newest stream.
    func tell(_ event: StreamEvent, id: Int64? = nil) throws {
        let text = try event.sent(id: id.map { EventID(boot: "boot", number: $0) }).text
        guard let stream = streams.withLock({ $0.last }) else { return }
        Self.write("\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n", to: stream)
    }

    /// Answers one request; false when the connection ends.
    private func answer(_ connection: Int32) -> Bool {
        guard let request = Self.request(connection) else { return false }
        requests.withLock { $0.append(request) }
        if request == "GET /api/v1/events" {
            Self.write(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
                to: connection)
            streams.withLock { $0.append(connection) }
        }
        guard let answer = try? script(request, self) else { return false }
        if request == "GET /api/v1/events" {
            // Until the client has disconnected; a silent stream would count as lost and be reopened.
            var descriptor = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
            while poll(&descriptor, 1, 1000) == 0 {
                Self.write("3\r\n\(ServerSentEvent.keepAlive)\r\n", to: connection)
            }
            return false
        }
        guard let data = try? APICoding.encode(answer) else { return false }
        Self.write(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(data.count)\r\n\r\n"
                + String(decoding: data, as: UTF8.self), to: connection)
        return true
    }

    /// Reads a request with its body; returns its method and path.
    private static func request(_ connection: Int32) -> String? {
        var bytes: [UInt8] = []
        var end: Int?
        var byte: UInt8 = 0
        while end.map({ bytes.count < $0 }) ?? true {
            guard recv(connection, &byte, 1, 0) == 1 else { return nil }
            bytes.append(byte)
            guard end == nil, bytes.suffix(4) == [13, 10, 13, 10] else { continue }
            let lengths = String(decoding: bytes, as: UTF8.self).lowercased().components(
                separatedBy: "content-length: ")
            end = bytes.count + (lengths.dropFirst().first.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0)
        }
        let words = String(decoding: bytes, as: UTF8.self).components(separatedBy: " ")
        return words.count < 2 ? nil : words[0] + " " + (words[1].components(separatedBy: "?").first ?? "")
    }

    private static func write(_ text: String, to connection: Int32) {
        _ = Array(text.utf8).withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
}
