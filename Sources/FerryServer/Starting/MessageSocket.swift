import FerryAPI
import Foundation
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// One end of a stream socket that carries lines of JSON. Any thread may send; one thread receives.
final class MessageSocket: Sendable {
    /// A longer message is neither sent nor received.
    static let mostBytes = 1 << 20

    private let descriptor: Int32
    private let sending = Mutex(())
    /// What was received and not given out; touched by the receiving thread alone.
    private let received = Mutex<[UInt8]>([])

    /// Owns the descriptor from here on, and keeps it from child processes.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(descriptor) }

    /// Sends a message whole. False when it is too long, or nobody is there any more.
    func send(_ message: some Encodable) -> Bool {
        guard let data = try? APICoding.encode(message), data.count < Self.mostBytes else { return false }
        var bytes = (Array(data) + [UInt8(ascii: "\n")])[...]
        return sending.withLock { _ in
            while !bytes.isEmpty {
                let count = bytes.withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                bytes = bytes.dropFirst(count)
            }
            return true
        }
    }

    /// Waits for the next message; `nil` when the other end is closed, or sends what is none.
    func receive<Message: Decodable>(_ type: Message.Type) -> Message? {
        line().flatMap { try? APICoding.decode(type, from: $0) }
    }

    private func line() -> Data? {
        received.withLock { received in
            var piece = [UInt8](repeating: 0, count: 4096)
            var searched = 0
            while true {
                if let end = received[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                    let line = Data(received[..<end])
                    received.removeFirst(end + 1)
                    return line
                }
                searched = received.count
                guard received.count <= Self.mostBytes else { return nil }
                let count = piece.withUnsafeMutableBytes { readBytes(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return nil }
                received += piece[..<count]
            }
        }
    }

    /// Ends ``receive(_:)`` at both ends.
    func shutDown() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
}

// Methods of these names are nearer than the functions.
private func readBytes(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}

private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
