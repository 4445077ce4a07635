package import NIOCore

/// The two ends of a connection as the daemon sees them, with addresses of 4 or 16 bytes in network byte order.
package struct TCPConnection: Sendable, Hashable {
    package struct End: Sendable, Hashable {
        package var address: [UInt8]
        package var port: UInt16

        package init(address: [UInt8], port: UInt16) {
            self.address = address
            self.port = port
        }

        init?(_ address: SocketAddress?) {
            // The positions of the address in `struct sockaddr_in` and `sockaddr_in6`, which are the same on all platforms.
            let place: Range<Int>
            switch address {
            case .v4: place = 4..<8
            case .v6: place = 8..<24
            default: return nil
            }
            guard let address else { return nil }
            (self.address, port) = address.withSockAddr { pointer, size in
                let bytes = UnsafeRawBufferPointer(start: pointer, count: size)
                return (Array(bytes[place]), UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
            }
        }
    }

    package var client: End
    package var daemon: End

    package init(client: End, daemon: End) {
        self.client = client
        self.daemon = daemon
    }

    /// Reads the ends of an accepted connection; `nil` if it does not use IP.
    package init?(_ channel: any Channel) {
        guard let client = End(channel.remoteAddress), let daemon = End(channel.localAddress),
            client.address.count == daemon.address.count
        else { return nil }
        self.init(client: client, daemon: daemon)
    }
}
