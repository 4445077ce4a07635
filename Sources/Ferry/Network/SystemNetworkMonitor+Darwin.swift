#if canImport(Darwin)
    extension SystemNetworkMonitor {
        /// Creates a monitor, which starts nothing before `start()`. `tools` is ignored on this platform.
        package convenience init(
            _ settings: NetworkSettings = NetworkSettings(), tools: NetworkManagerTools = .none
        ) {
            self.init(settings) { hub, settings in NetworkWatch(hub: hub, settings: settings) }
        }
    }
#endif
