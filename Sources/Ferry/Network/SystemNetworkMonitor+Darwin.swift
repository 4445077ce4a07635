#if canImport(Darwin)
    extension SystemNetworkMonitor {
        /// Nothing is started before `start()`. The tools are for other systems.
        package convenience init(
            _ settings: NetworkSettings = NetworkSettings(), tools: NetworkManagerTools = .none
        ) {
            self.init(settings) { hub, settings in NetworkWatch(hub: hub, settings: settings) }
        }
    }
#endif
