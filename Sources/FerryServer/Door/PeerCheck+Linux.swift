#if os(Linux)
    import Glibc
    import NIOCore

    extension PeerCheck {
        /// `struct ucred` of unix(7), which Glibc's module hides.
        struct Peer: Sendable {
            var process: Int32 = 0
            var user: UInt32 = .max
            var group: UInt32 = .max
        }

        /// The user at the other end, as the kernel knows it from the moment of connecting.
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
