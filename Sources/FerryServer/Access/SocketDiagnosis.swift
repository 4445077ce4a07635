/// The sock_diag(7) request and response (linux/inet_diag.h) for the owner of a connection's peer socket. Pure
/// encoding and decoding.
package enum SocketDiagnosis {
    package enum Answer: Sendable, Hashable {
        /// An open socket of this user.
        case socket(user: UInt32)
        /// No open socket has that address.
        case nobody

        package var peer: LoopbackPeer {
            switch self {
            case .socket(let user): .user(user)
            case .nobody: .absent
            }
        }
    }

    private static let byFamily: UInt16 = 20  // SOCK_DIAG_BY_FAMILY
    private static let error: UInt16 = 2  // NLMSG_ERROR
    private static let headerSize = 16
    private static let messageSize = 72
    /// -ENOENT, as the kernel sends it.
    private static let noEntry: UInt32 = ~2 &+ 1

    /// Returns `struct nlmsghdr` and `struct inet_diag_req_v2` for exactly one connection, seen from its client.
    package static func question(_ connection: TCPConnection, sequence: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        func put(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) } }
        func put(_ address: [UInt8]) {
            bytes += address.prefix(16)
            bytes += [UInt8](repeating: 0, count: max(0, 16 - address.count))
        }
        put(UInt32(headerSize + 56))
        put(byFamily)
        put(UInt16(1))  // NLM_F_REQUEST
        put(sequence)
        put(UInt32(0))
        bytes += [connection.client.address.count == 4 ? 2 : 10, 6, 0, 0]  // AF_INET or AF_INET6, IPPROTO_TCP
        put(UInt32.max)  // In any state.
        put(connection.client.port.bigEndian)
        put(connection.daemon.port.bigEndian)
        put(connection.client.address)
        put(connection.daemon.address)
        put(UInt32(0))  // On any interface.
        put(UInt64.max)  // INET_DIAG_NOCOOKIE
        return bytes
    }

    /// Decodes the response to this request; `nil` if the datagram answers another request.
    ///
    /// A socket that its process has closed is reported as root's, with inode 0, and counts as closed. So does a listener on the
    /// client's port, which the kernel returns if the connection does not exist.
    package static func answer(
        in datagram: ArraySlice<UInt8>, to connection: TCPConnection, sequence: UInt32
    ) -> Answer? {
        var reader = Reader(bytes: datagram)
        guard let length = reader.take(UInt32.self), let type = reader.take(UInt16.self), reader.skip(2),
            reader.take(UInt32.self) == sequence, reader.skip(4), Int(length) <= datagram.count
        else { return nil }
        if type == error { return reader.take(UInt32.self) == noEntry ? .nobody : nil }
        guard type == byFamily, Int(length) >= headerSize + messageSize, reader.skip(4),
            let clientPort = reader.take(UInt16.self), let daemonPort = reader.take(UInt16.self),
            reader.skip(messageSize - 8 - 8), let user = reader.take(UInt32.self), let inode = reader.take(UInt32.self)
        else { return nil }
        let isOurs =
            UInt16(bigEndian: clientPort) == connection.client.port
            && UInt16(bigEndian: daemonPort) == connection.daemon.port
        return isOurs && inode != 0 ? .socket(user: user) : .nobody
    }

    /// Reads values in native byte order.
    private struct Reader {
        var bytes: ArraySlice<UInt8>

        mutating func take<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
            let size = MemoryLayout<Value>.size
            guard bytes.count >= size else { return nil }
            var value = Value.zero
            withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: bytes.prefix(size)) }
            bytes = bytes.dropFirst(size)
            return value
        }

        mutating func skip(_ count: Int) -> Bool {
            guard bytes.count >= count else { return false }
            bytes = bytes.dropFirst(count)
            return true
        }
    }
}
