import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// A server at the daemon's socket that gives the same response to every request.
final class StrangeDaemon: Sendable {
    private let descriptor: Int32
    private let lines = Mutex<[String]>([])

    /// The request lines that were received.
    var asked: [String] { lines.withLock { $0 } }

    /// Listens until its release; `answer` is JSON.
    init(socket path: String, answer: String) throws {
        #if canImport(Glibc)
            descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) == 0 }
        }
        guard descriptor >= 0, isBound, listen(descriptor, 8) == 0 else { throw CocoaError(.fileWriteUnknown) }
        let listening = descriptor
        Thread.detachNewThread { [weak self] in
            while case let connection = accept(listening, nil, nil), connection >= 0 {
                let line = Self.serve(connection, answer)
                self?.lines.withLock { $0.append(line) }
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// Reads one request, responds, closes the connection, and returns the request line.
    private static func serve(_ connection: Int32, _ answer: String) -> String {
        defer { close(connection) }
        var text = ""
        var piece = [UInt8](repeating: 0, count: 4096)
        while !text.contains("\r\n\r\n"), case let count = recv(connection, &piece, piece.count, 0), count > 0 {
            text += String(decoding: piece[..<count], as: UTF8.self)
        }
        let reply =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(answer.utf8.count)\r\n"
            + "Connection: close\r\n\r\n\(answer)"
        _ = Array(reply.utf8).withUnsafeBytes { send(connection, $0.baseAddress, $0.count, 0) }
        return text.prefix { $0 != "\r\n" && $0 != "\r" && $0 != "\n" }.description
    }
}
