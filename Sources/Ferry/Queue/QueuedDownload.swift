import FerryCore

/// A download when it is added to the queue: its place, its conditions, and its state without a run.
struct QueuedDownload: Sendable {
    let id: DownloadID
    var key: QueueKey
    let conditions: QueueConditions
    let session: String
    let rest: QueueEntry.Rest

    /// - Parameters:
    ///   - request: The request; `nil` if only the entry is known.
    ///   - settings: The proxies and stores of the manager.
    init(
        _ entry: IndexEntry, of request: DownloadRequest? = nil, as rest: QueueEntry.Rest,
        through settings: TransferSettings
    ) {
        id = entry.id
        key = entry.key
        conditions =
            request.map { QueueConditions(of: $0, entry.network, through: settings) }
            ?? QueueConditions(of: entry, through: settings)
        session = entry.session
        self.rest = rest
    }
}

/// The conditions, apart from a slot, under which a download can run.
struct QueueConditions: Sendable {
    /// The networks that the download may use.
    let rule: NetworkRule
    /// The host that the download connects to, which is its proxy's host if there is a proxy.
    let host: String?
    /// The server that the download depends on; `nil` if it has several sources.
    let origin: Origin?

    init(of request: DownloadRequest, through settings: TransferSettings) {
        self.init(of: request, request.network, through: settings)
    }

    fileprivate init(of request: DownloadRequest, _ rule: NetworkRule, through settings: TransferSettings) {
        self.rule = rule
        host = settings.host(of: request)
        origin = request.site
    }

    fileprivate init(of entry: IndexEntry, through settings: TransferSettings) {
        rule = entry.network
        host = settings.host(for: entry.host)
        origin = entry.site
    }
}

extension TransferSettings {
    /// The host that a download connects to, which is its proxy's host if there is a proxy.
    fileprivate func host(of request: DownloadRequest) -> String? {
        guard var url = request.sources.first else { return nil }
        // The profiles of S3 stores are not known here.
        if url.isObject, let store = s3.endpoint { url = store }
        return (request.connection.proxy.map(proxy.using) ?? proxy).proxy(for: url)?.host ?? url.host
    }

    /// The host that a download connects to, given a host of the index, whose scheme is not known. This is the proxy's host if http
    /// and https use the same proxy.
    fileprivate func host(for name: String) -> String {
        guard proxy.hasProxy else { return name }
        let text = name.utf8.contains(UInt8(ascii: ":")) ? "[\(name)]" : name
        let proxies = ["http", "https"].map { scheme in
            (try? DownloadURL("\(scheme)://\(text)/")).flatMap { proxy.proxy(for: $0)?.host }
        }
        return proxies[0] == proxies[1] ? proxies[0] ?? name : name
    }
}

extension DownloadRequest {
    /// The server that the download depends on; `nil` if it has mirrors, and so does not depend on a single server.
    var site: Origin? {
        // allow(origin): the budget of a host; carries no secret.
        sources.count == 1 ? sources[0].origin : nil
    }
}

extension IndexEntry {
    /// The server of a listed download, derived from the host name only.
    var site: Origin? { host.isEmpty ? nil : Origin(scheme: .https, host: host, port: 443) }
}
