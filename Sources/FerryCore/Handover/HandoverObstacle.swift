package import HTTPTypes

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// A property of a download that the system's background session cannot honour.
package enum HandoverObstacle: String, Error, Sendable, Hashable, Codable, CaseIterable {
    /// A rate limit on the download or the manager.
    case rateLimit
    /// A budget for the host or the domain.
    case hostBudget
    /// A proxy of the download or the manager: the system uses its own settings.
    case proxy
    /// Certificates that replace the system's.
    case certificates
    /// Disabled certificate verification: the system always verifies certificates.
    case insecure
    /// A restriction to one IP version: the system chooses by itself.
    case addressFamily
    /// Several sources: only the leased one would be used.
    case mirrors
    /// An `http` URL, which the system refuses unless the app permits it (App Transport Security).
    case unencrypted
    /// A ban on private addresses: the system does not report the address that it connects to.
    case privateAddresses
    /// A maximum size, while the size is unknown.
    case maxBytes
    /// A stream as the destination.
    case stream
    /// An `s3` URL, whose requests have to be signed one by one.
    case object
    /// A user name and password: the system would store them, and a challenge may require them.
    case credentials
    /// Cookies for this URL.
    case cookies
    /// Secret headers, together with a redirect that left their origin: the system would send the headers there.
    case secretsAcrossOrigins

    /// Whether a download may request to be handed over despite the obstacle.
    ///
    /// False if nothing could be fetched, a secret could reach another server, or a protection would be lost.
    package var mayBeAccepted: Bool {
        switch self {
        case .rateLimit, .hostBudget, .proxy, .certificates, .insecure, .addressFamily, .mirrors, .unencrypted: true
        case .privateAddresses, .maxBytes, .stream, .object, .credentials, .cookies, .secretsAcrossOrigins: false
        }
    }

    /// Returns the demands of the request and its settings that the system cannot honour, apart from secrets.
    ///
    /// - Parameters:
    ///   - settings: The manager's settings with the rules of the request.
    ///   - url: The URL that the task would request.
    ///   - total: The size of the whole file, if it is known.
    ///   - isLimited: Whether the manager limits the rate of all downloads.
    ///   - hasBudget: Whether the host or its domain has a budget.
    package static func demands(
        of request: DownloadRequest, settings: TransferSettings, url: DownloadURL, total: ByteCount?, isLimited: Bool,
        hasBudget: Bool
    ) -> [HandoverObstacle] {
        var found: [HandoverObstacle] = []
        func note(_ obstacle: HandoverObstacle, if isThere: Bool) { if isThere { found.append(obstacle) } }
        note(.rateLimit, if: request.rateLimit != nil || isLimited)
        note(.hostBudget, if: hasBudget)
        note(.proxy, if: settings.proxy.proxy(for: url) != nil)
        note(.certificates, if: settings.certificates != nil || settings.caFile != nil)
        note(.insecure, if: settings.insecure)
        note(.addressFamily, if: settings.addressFamily != .any)
        note(.mirrors, if: request.sources.count > 1)
        note(.unencrypted, if: url.scheme == .http)
        note(.privateAddresses, if: !settings.allowsPrivate || request.network.allowsPrivate == false)
        note(.maxBytes, if: request.maxBytes != nil && total == nil)
        if case .stream = request.destination { found.append(.stream) }
        note(.object, if: url.isObject || request.sources.contains { $0.isObject })
        return found
    }
}

/// The URL and the fields of the requests that the system makes for one download.
package struct HandoverTarget: Sendable, Hashable {
    /// The URL of the last response, without user info.
    package let url: DownloadURL
    /// The fields of the user and the manager that may be sent to the URL, and User-Agent, without fields that concern ranges
    /// and codings.
    package let fields: HTTPFields

    package init(url: DownloadURL, fields: HTTPFields = HTTPFields()) {
        self.url = url.withoutCredentials
        self.fields = fields
    }

    /// Fields that only Ferry or the system sets.
    private static let reserved: Set<String> = [
        "host", "connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "trailer",
        "transfer-encoding", "upgrade", "content-length", "expect", "range", "if-range", "accept-encoding",
    ]

    /// Chooses the target, and the fields that the system may store and send with it.
    ///
    /// - Parameters:
    ///   - source: The download's URL at which the chain of redirects starts.
    ///   - target: The URL that responded; `nil` for the source, or if it is not known yet.
    ///   - isDirect: Whether the source is known not to redirect.
    ///   - settings: The manager's settings with the rules of the request.
    package static func choose(
        for request: DownloadRequest, source: DownloadURL, target: DownloadURL?, isDirect: Bool,
        settings: TransferSettings, now: Date
    ) throws(HandoverObstacle) -> HandoverTarget {
        let url = target ?? source
        let user = try SecretScope(of: request, for: source).handedOver(
            to: url, isDirect: isDirect, settings.headers)
        if settings.cookies.header(for: url, now: now) != nil { throw .cookies }
        var fields = HTTPFields()
        for field in user where !reserved.contains(field.name.canonicalName) { fields.append(field) }
        if fields[.userAgent] == nil, !settings.userAgent.isEmpty { fields[.userAgent] = settings.userAgent }
        return HandoverTarget(url: url, fields: fields)
    }
}
