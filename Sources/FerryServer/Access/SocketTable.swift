#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The kernel's tables of TCP sockets, `/proc/net/tcp` and `tcp6` (proc(5)).
package enum SocketTable {
    /// The maximum size of a table to read: about a hundred thousand sockets.
    private static let mostBytes = 16 << 20

    /// Searches both tables, because a client's IPv6 socket may be connected over IPv4.
    package static func peer(of connection: TCPConnection) -> LoopbackPeer {
        for path in ["/proc/net/tcp", "/proc/net/tcp6"] {
            guard let table = read(path), let user = user(of: connection, in: table) else { continue }
            return .user(user)
        }
        return .absent
    }

    /// Returns the user of the open socket at the client's end; `nil` if the table has no such socket.
    ///
    /// A socket that its process has closed has inode 0 and counts as absent.
    package static func user(of connection: TCPConnection, in table: [UInt8]) -> UInt32? {
        let ends = Set([connection, mapped(connection)].map { "\(text(of: $0.client)) \(text(of: $0.daemon))" })
        for line in table.split(separator: UInt8(ascii: "\n")).dropFirst() {
            let fields = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            // sl, local, remote, state, queues, timer, retransmits, user, timeout, inode.
            guard fields.count >= 10, ends.contains(fields[1] + " " + fields[2]), let user = UInt32(fields[7]),
                let inode = UInt64(fields[9]), inode != 0
            else { continue }
            return user
        }
        return nil
    }

    /// Returns the IPv4-mapped form of the connection (RFC 4291 §2.5.5.2), as the table of IPv6 sockets shows it.
    private static func mapped(_ connection: TCPConnection) -> TCPConnection {
        func mapped(_ end: TCPConnection.End) -> TCPConnection.End {
            guard end.address.count == 4 else { return end }
            let address = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + end.address
            return TCPConnection.End(address: address, port: end.port)
        }
        return TCPConnection(client: mapped(connection.client), daemon: mapped(connection.daemon))
    }

    /// Returns the address as 32-bit words in native order, in hexadecimal, followed by the port.
    private static func text(of end: TCPConnection.End) -> String {
        func digits(_ value: UInt32, _ count: Int) -> String {
            let digits = String(value, radix: 16, uppercase: true)
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }
        var text = ""
        for start in stride(from: 0, to: end.address.count, by: 4) {
            var word: UInt32 = 0
            withUnsafeMutableBytes(of: &word) { $0.copyBytes(from: end.address[start...].prefix(4)) }
            text += digits(word, 8)
        }
        return text + ":" + digits(UInt32(end.port), 4)
    }

    /// Returns the bytes of a table; `nil` if it cannot be read or is too large.
    package static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var table: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while table.count < mostBytes {
            let count = readBytes(descriptor, &piece, piece.count)
            guard count > 0 else { return count == 0 ? table : nil }
            table += piece[..<count]
        }
        return nil
    }
}

private func readBytes(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}
