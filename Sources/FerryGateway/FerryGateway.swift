import FerryAPI
import FerryCore
import FerryMetrics
public import FerryServer
import Synchronization

/// The gateway, through which package managers and other clients download packages, models and images.
///
/// ```
/// pip, huggingface_hub, … ─► GatewayRoute ─┬─ a page ─► upstream ─► IndexPage: its links lead to the gateway
///                                          └─ a file ─► GatewayConsent (the upstream) ─► GatewayCache ─► bytes, while it is fetched
/// ferry gateway ─► routes of the daemon's API ─► GatewayCache
/// ```
///
/// - Bytes that are not public are sent only to clients whose own credentials the upstream accepts for them.
/// - The end of a file is sent only after its digest has been verified.
///
/// The files are downloads of the session `gateway`, so that a crash leaves part files from which the next start continues. The
/// directory also contains pages to send while an upstream is down, digests from the indexes of archives, and the times at which
/// files were last used.
public enum FerryGateway {}

extension DoorKind {
    /// The gateway, if the settings enable it.
    public static let gateway = gatewayKind(GatewayLimits())

    static func gatewayKind(_ limits: GatewayLimits) -> DoorKind {
        let absence = DownloadError(
            .notFound, ErrorPhrase(.noGateway), suggestion: ErrorPhrase(.serveGateway), recovery: .needsUser)
        return DoorKind(
            settings: DoorSetting.ofGateway, session: GatewayCache.session, metrics: Metric.ofGateway,
            routes: DoorRoutes([.gateway, .gatewayFiles, .purgeGateway, .verifyGateway], without: absence)
        ) { host throws(DownloadError) in
            let settings = host.settings
            guard settings.flag(.gateway) else { return nil }
            let upstreams: [GatewayUpstream]
            do throws(TextError) { upstreams = try GatewayUpstream.all(settings.texts(.gatewayUpstreams)) } catch {
                throw DownloadError(.invalidRequest, error.reason, recovery: .needsUser)
            }
            let users = try host.users(admitting: settings.texts(.gatewayUsers))
            let cache = try GatewayCache(
                host.manager, in: settings.text(.gatewayDirectory) ?? host.path(of: "gateway"),
                size: ByteCount(settings.whole(.gatewaySize) ?? 0), age: settings.seconds(.gatewayAge) ?? .zero,
                wrongTime: limits.wrongDigestTime,
                space: limits.space ?? FileSystemSpace.measure(reserve: host.minFreeBytes),
                counts: GatewayCounts(), logger: host.logger)
            let key: GatewayLink.Key = try .kept(in: host.path(of: "gateway-key"))
            let pages = try GatewayPages(in: cache.directory + "/pages", key: key)
            cache.pages.withLock { $0 = pages }
            return GatewayResponder(
                host, cache, key: key, pages: pages, upstreams: upstreams, users: users,
                port: settings.whole(.gatewayPort) ?? 0, limits: limits, logsRequests: settings.flag(.gatewayLog))
        }
    }
}
