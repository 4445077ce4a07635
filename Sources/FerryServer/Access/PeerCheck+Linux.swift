#if os(Linux)
    import Glibc
    import NIOCore

    extension PeerCheck {
        /// `struct ucred` of unix(7), which the Glibc module does not export.
        struct Peer: Sendable {
            var process: Int32 = 0
            var user: UInt32 = .max
            var group: UInt32 = .max
        }

        /// Returns the user of the connection's peer, as recorded by the kernel at connect time (`SO_PEERCRED`).
        static func peer(of channel: any Channel) -> EventLoopFuture<UInt32> {
            guard let options = channel as? any SocketOptionProvider else {
                return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
            }
            return options.unsafeGetSocketOption(level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
                .map { (peer: Peer) in
                    peer.user
                }
        }
    }
#endif
