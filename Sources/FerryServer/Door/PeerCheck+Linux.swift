#if os(Linux)
    import CFerry
    import Glibc
    import NIOCore

    extension PeerCheck {
        /// The user at the other end, as the kernel knows it from the moment of connecting.
        static func peer(of channel: any Channel) -> EventLoopFuture<UInt32> {
            guard let options = channel as? any SocketOptionProvider else {
                return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
            }
            return options.unsafeGetSocketOption(level: SOL_SOCKET, name: SO_PEERCRED).map { (peer: ferry_ucred) in
                peer.uid
            }
        }
    }
#endif
