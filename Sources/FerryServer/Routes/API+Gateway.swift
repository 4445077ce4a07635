import Ferry
import FerryAPI
import FerryCore
import HummingbirdCore
import Synchronization

/// Holds the gateway of a daemon once it exists.
final class GatewayPlace: Sendable {
    private let gateway = Mutex<GatewayResponder?>(nil)

    func set(_ new: GatewayResponder?) { gateway.withLock { $0 = new } }

    /// Throws `notFound` if the daemon serves no gateway.
    func cache() throws(DownloadError) -> GatewayCache {
        guard let found = gateway.withLock({ $0 }) else {
            throw DownloadError(
                .notFound, ErrorPhrase(.noGateway), suggestion: ErrorPhrase(.serveGateway), recovery: .needsUser)
        }
        return found.cache
    }
}

/// The cache of the gateway.
extension API {
    func gatewayUsage() async throws -> Response { try Answer.json(try await gateway.cache().usage()) }

    func gatewayFiles() async throws -> Response { try Answer.json(GatewayItems(try await gateway.cache().entries())) }

    func purgeGateway(_ call: APIRequest) async throws -> Response {
        let body = try await read(PurgeBody.self, of: call)
        return try Answer.json(try await gateway.cache().purge(body))
    }

    func verifyGateway(_ call: APIRequest) async throws -> Response {
        _ = try await readIfPresent(NothingBody.self, of: call)
        return try Answer.json(try await gateway.cache().verify())
    }
}
