#if canImport(Glibc)
    import CFerry
    import Glibc

    /// A socket that receives the messages of a daemon, as systemd does.
    public final class DatagramReceiver: Sendable {
        private let descriptor: Int32
        private let path: String?

        /// Binds a socket at a path, or at an abstract name after `@`. Throws a ``Hang`` with the error number.
        public init(at address: String) throws {
            descriptor = socket(AF_UNIX, ferry_SOCK_DGRAM | ferry_SOCK_CLOEXEC, 0)
            path = address.hasPrefix("@") ? nil : address
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &name.sun_path) { bytes in
                bytes.copyBytes(from: Array(address.utf8))
                if address.hasPrefix("@") { bytes[0] = 0 }
            }
            let length = socklen_t(2 + address.utf8.count + (path == nil ? 0 : 1))
            let descriptor = descriptor
            let status = withUnsafePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
            }
            guard status == 0 else { throw Hang(description: "bind: \(errno)") }
        }

        deinit {
            close(descriptor)
            if let path { unlink(path) }
        }

        /// Waits for the next message.
        public func next() throws -> String {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            guard count > 0 else { throw Hang(description: "recv: \(errno)") }
            return String(decoding: bytes[..<count], as: UTF8.self)
        }
    }
#endif
