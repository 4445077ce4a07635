import FerryCore

/// A download as it enters the queue: its place, its conditions, and where it is without a run.
struct QueuedDownload: Sendable {
    let id: DownloadID
    var key: QueueKey
    let conditions: QueueConditions
    let session: String
    let rest: QueueEntry.Rest

    /// - Parameters:
    ///   - request: `nil` if only the entry is known.
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

/// What a download needs to run, beside a slot.
struct QueueConditions: Sendable {
    /// The networks that it may use.
    let rule: NetworkRule
    /// The host that it connects to: that of its proxy, if there is one.
    let host: String?
    /// The server that it depends on; `nil` if it has several.
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
    /// The host that a download connects to: that of its proxy, if there is one.
    fileprivate func host(of request: DownloadRequest) -> String? {
        guard var url = request.sources.first else { return nil }
        // Of profiles nothing is known here.
        if url.isObject, let store = s3.endpoint { url = store }
        return (request.connection.proxy.map(proxy.using) ?? proxy).proxy(for: url)?.host ?? url.host
    }

    /// The same for a host of the index, whose scheme is not known: the proxy, if it is that of both schemes.
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
    /// The server that the download depends on; `nil` if it has mirrors, so that no server is more than one of several.
    var site: Origin? {
        // allow(origin): the budget of a host; carries no secret.
        sources.count == 1 ? sources[0].origin : nil
    }
}

extension IndexEntry {
    /// The server of a listed download of which only the name is known.
    var site: Origin? { host.isEmpty ? nil : Origin(scheme: .https, host: host, port: 443) }
}
