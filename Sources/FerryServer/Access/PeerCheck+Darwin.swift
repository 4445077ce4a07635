#if canImport(Darwin)
    import Darwin
    import NIOCore

    extension PeerCheck {
        /// Returns the user of the connection's peer (`LOCAL_PEERCRED`).
        static func peer(of channel: any Channel) -> EventLoopFuture<UInt32> {
            guard let options = channel as? any SocketOptionProvider else {
                return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
            }
            return options.unsafeGetSocketOption(
                level: NIOBSDSocket.OptionLevel(rawValue: SOL_LOCAL),
                name: NIOBSDSocket.Option(rawValue: LOCAL_PEERCRED)
            )
            .map { (peer: xucred) in peer.cr_uid }
        }
    }
#endif
