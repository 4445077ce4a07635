/// The limits of the gateway that no setting changes.
struct GatewayLimits: Sendable {
    /// The time within which an upstream must send the next bytes of a page. ``pageTime`` is the time for the whole page.
    var pageIdle: Duration = .seconds(60)
    var pageTime: Duration = .seconds(600)
    /// The maximum memory for all pages together, in bytes: received bytes, parsed pages, and rewritten pages.
    var pageBudget = 256 << 20
    /// How long the gateway waits before it fetches a file with a wrong digest again.
    var wrongDigestTime: Duration = .seconds(30)
    /// Measures the space for the cache; `nil` for the free space of its file system.
    var space: GatewaySpace?
}
