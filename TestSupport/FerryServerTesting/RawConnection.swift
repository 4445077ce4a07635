import CFerry
import FerryCore
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Calls send(2), which the function of the same name in ``RawConnection`` hides.
private func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
}

/// Sends bytes as they are and reads the response to its end: for requests that no client would send.
package enum RawConnection {
    package struct Reply: Sendable {
        package var status: Int?
        /// The status line.
        package var line = ""
        /// Names in lower case.
        package var headers: [String: String] = [:]
        package var body = ""
    }

    /// Sends this text over a new connection and returns the response.
    ///
    /// - Parameter isLast: Whether the client shuts down its sending side before it reads the response.
    package static func send(_ text: String, port: Int, isLast: Bool = false) async -> Reply {
        await blocking { exchange(Array(text.utf8), port, isLast) }
    }

    /// Opens a connection, sends this text, and waits for the first bytes of the response. The caller closes the connection.
    package static func hold(_ text: String, port: Int) async -> Int32? {
        await blocking {
            guard let descriptor = open(port) else { return nil }
            write(Array(text.utf8), descriptor)
            var piece = [UInt8](repeating: 0, count: 4096)
            return recv(descriptor, &piece, piece.count, 0) > 0 ? descriptor : nil
        }
    }

    /// Opens a connection and sends this text. ``finish(_:)`` reads the response.
    package static func begin(_ text: String, port: Int) async -> Int32? {
        await blocking {
            guard let descriptor = open(port) else { return nil }
            write(Array(text.utf8), descriptor)
            return descriptor
        }
    }

    /// Reads the response to its end, and closes the connection.
    package static func finish(_ descriptor: Int32) async -> Reply { await blocking { rest(descriptor) } }

    /// Runs a blocking body on a thread that the daemon, which is in this process, does not need.
    package static func blocking<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: body()) }
        }
    }

    private static func open(_ port: Int) -> Int32? {
        let descriptor = socket(AF_INET, ferry_SOCK_STREAM, 0)
        // Prevents a hang. The time limit of the tests is longer, and cannot end a system call.
        var limit = timeval(tv_sec: 1200, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    package static func write(_ bytes: [UInt8], _ descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { sendBytes(descriptor, $0) }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
    }

    private static func exchange(_ bytes: [UInt8], _ port: Int, _ isLast: Bool) -> Reply {
        guard let descriptor = open(port) else { return Reply() }
        write(bytes, descriptor)
        if isLast { shutdown(descriptor, Int32(SHUT_WR)) }
        return rest(descriptor)
    }

    private static func rest(_ descriptor: Int32) -> Reply {
        defer { close(descriptor) }
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { break }
            answer += piece.prefix(count)
        }
        return parse(String(decoding: answer, as: UTF8.self))
    }

    private static func parse(_ text: String) -> Reply {
        guard let end = text.utf8.firstRange(of: "\r\n\r\n") else { return Reply() }
        let lines = text[..<end.lowerBound].split(at: "\n").map { $0.dropping(suffix: "\r") ?? $0 }
        guard let first = lines.first else { return Reply() }
        var reply = Reply(status: first.split(at: " ").dropFirst().first.flatMap { Int($0) }, line: String(first))
        for line in lines.dropFirst() {
            let parts = line.split(at: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            reply.headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        reply.body = String(text[end.upperBound...])
        return reply
    }
}
