import CFerry
package import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The listening sockets that the service manager has created and passes to the daemon (sd_listen_fds(3)): at most the Unix socket,
/// and the page's sockets on 127.0.0.1 and ::1.
///
/// The variables of this protocol stay in the environment, but started programs do not inherit them (``Ferry/ChildEnvironment``).
package struct InheritedSockets: Sendable, Hashable {
    /// A Unix socket with a path.
    package struct Named: Sendable, Hashable {
        package var descriptor: Int32
        package var path: String
    }

    /// A socket on loopback.
    package struct Loopback: Sendable, Hashable {
        package var descriptor: Int32
        /// As in the `Host` field: `127.0.0.1:3377`, `[::1]:3377`.
        package var address: String
        package var port: Int
    }

    package var path: Named?
    package var loopback: [Loopback] = []

    /// No sockets.
    package init() {}

    /// The first inherited descriptor.
    private static let first: Int32 = 3

    /// Takes the sockets that `environment` announces for `process`; none if they are for another process.
    ///
    /// Throws `invalidRequest` for a descriptor that is not a listening stream socket or has another kind of address, and for more
    /// sockets than a daemon has. Marks the descriptors close-on-exec, so that started programs do not inherit them.
    package static func take(
        _ environment: [String: String], process: Int32 = getpid()
    ) throws(DownloadError) -> InheritedSockets {
        guard environment["LISTEN_PID"] == "\(process)", let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }),
            count > 0
        else { return InheritedSockets() }
        guard count <= 3 else { throw refusal(ErrorPhrase(.manySockets, "\(count)")) }
        var sockets = InheritedSockets()
        for descriptor in first..<first + count { try sockets.take(descriptor) }
        let places = Set(sockets.loopback.map(\.address))
        let ports = Set(sockets.loopback.map(\.port))
        guard places.count == sockets.loopback.count, ports.count <= 1,
            sockets.loopback.count + (sockets.path == nil ? 0 : 1) == Int(count)
        else { throw refusal(ErrorPhrase(.manySockets, "\(count)")) }
        return sockets
    }

    /// Takes one socket. A second socket with a path replaces the first, so that the number of sockets is then too small.
    private mutating func take(_ descriptor: Int32) throws(DownloadError) {
        let flags = fcntl(descriptor, F_GETFD)
        guard flags >= 0, fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) >= 0 else {
            throw Self.refusal(ErrorPhrase(.closedDescriptor, "\(descriptor)"))
        }
        guard Self.option(SO_TYPE, of: descriptor) == ferry_SOCK_STREAM,
            Self.option(SO_ACCEPTCONN, of: descriptor) == 1
        else {
            throw Self.refusal(ErrorPhrase(.foreignSocket, "\(descriptor)"))
        }
        switch try Self.address(of: descriptor) {
        case .path(let path): self.path = Named(descriptor: descriptor, path: path)
        case .loopback(let host, let port):
            loopback.append(Loopback(descriptor: descriptor, address: "\(host):\(port)", port: port))
        }
    }

    private enum Address { case path(String), loopback(host: String, port: Int) }

    private static func address(of descriptor: Int32) throws(DownloadError) -> Address {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        let bytes = withUnsafeBytes(of: storage) { Array($0.prefix(Int(length))) }
        /// The port, from two bytes in network byte order.
        var port: Int { Int(bytes[2]) << 8 | Int(bytes[3]) }
        switch Int32(storage.ss_family) {
        case AF_UNIX where status == 0:
            let path = String(decoding: bytes.dropFirst(2).prefix { $0 != 0 }, as: UTF8.self)
            // An abstract socket has no file mode that could exclude other users.
            guard path.utf8.hasPrefix("/") else { throw refusal(ErrorPhrase(.foreignSocket, "\(descriptor)")) }
            return .path(path)
        case AF_INET where status == 0 && bytes.count >= 8:
            guard bytes[4..<8].elementsEqual([127, 0, 0, 1]) else {
                let text = bytes[4..<8].map(String.init).joined(separator: ".")
                throw refusal(ErrorPhrase(.socketElsewhere, "\(descriptor)", text))
            }
            return .loopback(host: "127.0.0.1", port: port)
        case AF_INET6 where status == 0 && bytes.count >= 24:
            guard bytes[8..<24].elementsEqual(Array(repeating: 0, count: 15) + [1]) else {
                throw refusal(ErrorPhrase(.socketElsewhere, "\(descriptor)", "IPv6"))
            }
            return .loopback(host: "[::1]", port: port)
        default: throw refusal(ErrorPhrase(.foreignSocket, "\(descriptor)"))
        }
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }

    private static func refusal(_ phrase: ErrorPhrase) -> DownloadError {
        DownloadError(.invalidRequest, phrase, suggestion: ErrorPhrase(.listenForFerry), recovery: .needsUser)
    }
}
