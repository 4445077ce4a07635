import FerryCore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// One end of a stream socket that carries lines of JSON. Any thread may send; one thread receives.
final class MessageSocket: Sendable {
    /// The maximum size of a message in both directions.
    static let mostBytes = 1 << 20

    private let descriptor: Int32
    private let sending = Mutex(())
    /// Received bytes not yet returned; used only by the receiving thread.
    private let received = Mutex<[UInt8]>([])

    /// Takes ownership of the descriptor and sets close-on-exec.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(descriptor) }

    /// Sends a whole message. Returns false if the message is too long or the other end is closed.
    func send(_ message: some Encodable) -> Bool {
        guard let data = try? JSONCoding.encode(message), data.count < Self.mostBytes else { return false }
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

    /// Waits for the next message. Returns `nil` if the other end is closed or the line is not a valid message.
    func receive<Message: Decodable>(_ type: Message.Type) -> Message? {
        line().flatMap { try? JSONCoding.decode(type, from: $0) }
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

    /// Shuts the connection down, which ends ``receive(_:)`` at both ends.
    func shutDown() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
}

// Needed because methods of these names hide the functions.
private func readBytes(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}

private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
