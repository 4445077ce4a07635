import CFerry

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A loopback port without a listener, reserved for the lifetime of this object.
///
/// A port that was merely closed is soon assigned to another test's server, which would then respond.
public final class ClosedPort: Sendable {
    /// From 1 to 65535.
    public let port: Int
    private let descriptor: Int32

    /// The `errno` of the failure.
    public struct Failure: Error {
        public let code: Int32
    }

    /// Reserves a port of 127.0.0.1; 0, the default, selects a free one. The port of a server that was just
    /// closed can be reserved.
    public init(_ wanted: Int = 0) throws(Failure) {
        let descriptor = socket(AF_INET, ferry_SOCK_STREAM | ferry_SOCK_CLOEXEC, 0)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        // Connections of the previous server may still be closing.
        var yes: Int32 = 1
        if wanted != 0 { setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size)) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(truncatingIfNeeded: wanted).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let done = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard done else {
            let code = errno
            close(descriptor)
            throw Failure(code: code)
        }
        self.descriptor = descriptor
        port = Int(in_port_t(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }

    /// Returns `http://127.0.0.1:PORT` with this path.
    public func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
}
