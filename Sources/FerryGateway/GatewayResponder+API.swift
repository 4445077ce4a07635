import FerryAPI
import FerryServer

/// The routes of the gateway in the daemon's API: the cache.
extension GatewayResponder {
    func answer(_ call: DoorCall) async throws -> any Encodable & Sendable {
        switch call.route {
        case .gateway: return try await cache.usage()
        case .gatewayFiles:
            let files = try await cache.entries()
            return GatewayItems(files)
        case .purgeGateway:
            let choice = try await call.body(Strict<PurgeBody>.self).body
            return try await cache.purge(choice)
        case .verifyGateway:
            _ = try await call.bodyIfPresent(Strict<NothingBody>.self)
            return try await cache.verify()
        default: throw Problem(.noSuchPath)
        }
    }
}
