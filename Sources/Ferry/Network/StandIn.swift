import FerryCore
package struct NetworkSnapshot: Sendable, Hashable {
    package var status: NetworkStatus
    package var generation: Int
    static let unknown = NetworkSnapshot(status: .online, generation: 0)
    package func isLocalAddress(_ host: String) -> Bool { host == "localhost" || host == "127.0.0.1" || host == "::1" }
    static func isAddress(_ host: String) -> Bool { host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." } }
}
package protocol NetworkMonitor: Sendable {
    func changes() -> AsyncStream<NetworkSnapshot>
    func start()
    func stop()
    func isLocal(_ host: String) async -> Bool
}
struct SystemNetworkMonitor: NetworkMonitor {
    func changes() -> AsyncStream<NetworkSnapshot> { AsyncStream { $0.finish() } }
    func start() {}
    func stop() {}
    func isLocal(_ host: String) async -> Bool { false }
}
