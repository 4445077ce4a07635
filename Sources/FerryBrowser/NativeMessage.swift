#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The framing of native messaging between a browser and its host: the length as four bytes in native byte order, then that
/// many bytes of JSON.
package enum NativeMessage {
    /// The maximum length of a message in either direction. Browsers reject longer messages from a host.
    package static let mostBytes = 1 << 20
    /// The maximum number of JSON levels of a message.
    package static let mostLevels = 8

    /// The error for a stream that ended inside a message, or a length that is 0 or exceeds ``mostBytes``.
    package struct Malformed: Error, Sendable, Hashable {}

    /// Reads the next message; `nil` at the end of the stream. Blocks the thread.
    package static func read(from descriptor: Int32) throws(Malformed) -> Data? {
        let head = try bytes(4, from: descriptor)
        if head.isEmpty { return nil }
        let length = head.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        guard (1...UInt32(mostBytes)).contains(length) else { throw Malformed() }
        let body = try bytes(Int(length), from: descriptor)
        guard !body.isEmpty else { throw Malformed() }
        return Data(body)
    }

    /// Returns the message with its length in front; `nil` if it is empty or too long.
    package static func frame(_ body: Data) -> [UInt8]? {
        guard (1...mostBytes).contains(body.count) else { return nil }
        return withUnsafeBytes(of: UInt32(body.count)) { Array($0) } + body
    }

    /// Reads exactly `count` bytes. Returns an empty array if the stream ends before the first one.
    private static func bytes(_ count: Int, from descriptor: Int32) throws(Malformed) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes {
                readBytes(descriptor, UnsafeMutableRawBufferPointer(rebasing: $0[filled...]))
            }
            if got < 0, errno == EINTR { continue }
            if got <= 0 {
                guard got == 0, filled == 0 else { throw Malformed() }
                return []
            }
            filled += got
        }
        return bytes
    }
}

/// Declared outside ``NativeMessage``, whose own `read` would hide the system's function.
private func readBytes(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, bytes.baseAddress, bytes.count)
}
