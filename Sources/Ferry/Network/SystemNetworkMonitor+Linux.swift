#if os(Linux)
    extension SystemNetworkMonitor {
        /// Creates a monitor, which opens and starts nothing before `start()`. `sockets` opens the netlink sockets, which belong to
        /// the network namespace of the calling thread.
        package convenience init(
            _ settings: NetworkSettings = NetworkSettings(), tools: NetworkManagerTools = NetworkManagerTools(),
            sockets: @escaping @Sendable () -> NetlinkSockets? = { NetlinkSockets.open() }
        ) {
            self.init(settings) { hub, settings in
                NetworkWatch(hub: hub, settings: settings, tools: tools, sockets: sockets())
            }
        }
    }
#endif
