import CFerry
import Foundation
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Passes on connections to a Unix socket, and breaks the first one on which a request with this text is answered, in place
/// of the answer.
final class LosingProxy: Sendable {
    /// Closes both ends with the last thread that uses them.
    private final class Pair: Sendable {
        let (client, server): (Int32, Int32)
        let isLosing = Atomic(false)

        init(_ client: Int32, _ server: Int32) { (self.client, self.server) = (client, server) }

        deinit {
            close(client)
            close(server)
        }

        func end() { for end in [client, server] { shutdown(end, Int32(SHUT_RDWR)) } }
    }

    let socket: String
    private let listening: Int32
    private let lost = Atomic(0)

    /// The number of answers that were lost.
    var losses: Int { lost.load(ordering: .sequentiallyConsistent) }

    init(before target: String, losing text: String) throws {
        socket = target + "-proxy"
        listening = try Self.open(socket) { bind($0, $1, $2) == 0 && listen($0, 8) == 0 }
        let descriptor = listening
        Thread.detachNewThread { [weak self] in
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                guard let self, let server = try? Self.open(target, { connect($0, $1, $2) == 0 }) else {
                    close(client)
                    continue
                }
                let pair = Pair(client, server)
                Thread.detachNewThread { [weak self] in
                    Self.pass(from: pair.client, to: pair.server) { bytes in
                        if String(decoding: bytes, as: UTF8.self).contains(text), self?.loses() == true {
                            pair.isLosing.store(true, ordering: .sequentiallyConsistent)
                        }
                        return true
                    }
                    pair.end()
                }
                Thread.detachNewThread {
                    Self.pass(from: pair.server, to: pair.client) { _ in
                        !pair.isLosing.load(ordering: .sequentiallyConsistent)
                    }
                    pair.end()
                }
            }
        }
    }

    deinit {
        shutdown(listening, Int32(SHUT_RDWR))
        close(listening)
    }

    private func loses() -> Bool {
        lost.compareExchange(expected: 0, desired: 1, ordering: .sequentiallyConsistent).exchanged
    }

    private static func open(
        _ path: String, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) throws -> Int32 {
        #if canImport(Glibc)
            let descriptor = Glibc.socket(AF_UNIX, ferry_SOCK_STREAM, 0)
        #elseif canImport(Musl)
            let descriptor = Musl.socket(AF_UNIX, ferry_SOCK_STREAM, 0)
        #else
            let descriptor = Darwin.socket(AF_UNIX, ferry_SOCK_STREAM, 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let isUsed = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard isUsed else {
            close(descriptor)
            throw CocoaError(.fileReadUnknown)
        }
        return descriptor
    }

    /// Passes on bytes while `mayPass` says so.
    private static func pass(from source: Int32, to target: Int32, _ mayPass: (ArraySlice<UInt8>) -> Bool) {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(source, &bytes, bytes.count, 0), count > 0, mayPass(bytes[..<count]) {
            var sent = 0
            while sent < count {
                let piece = bytes.withUnsafeBytes {
                    send(target, $0.baseAddress! + sent, count - sent, Int32(MSG_NOSIGNAL))
                }
                guard piece > 0 else { return }
                sent += piece
            }
        }
    }
}
