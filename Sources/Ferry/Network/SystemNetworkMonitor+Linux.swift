#if os(Linux)
    extension SystemNetworkMonitor {
        /// Nothing is opened or started before `start()`. `sockets` gives the connection to the kernel, which belongs to
        /// the network namespace of the thread that made it.
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
