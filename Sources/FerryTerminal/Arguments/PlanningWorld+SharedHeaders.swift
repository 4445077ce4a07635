package import FerryCore
import HTTPTypes

/// Options of a request that hold for all downloads of a manager.
extension PlanningWorld {
    /// Sets them in a manager's settings. Headers that may be secret are for one server alone.
    ///
    /// - Parameters:
    ///   - headers: Values of `--header`.
    ///   - server: The server that secret ones are sent to: a host, which is asked over https, or the beginning of a URL.
    package func set(
        _ headers: [String], for server: String?, userAgent: String?, connectTimeout: String?,
        in settings: inout TransferSettings
    ) throws(UsageError) {
        if let text = userAgent { settings.userAgent = try Self.userAgent(text, option: "--user-agent") }
        if let text = connectTimeout {
            settings.connectTimeout = try Self.duration(text, option: "--connect-timeout")
        }
        let fields = try self.headers(headers)
        let home = try server.map { text throws(UsageError) in try Self.server(text) }
        if home == nil, !fields.secrets.isEmpty {
            throw UsageError("--header: what may be a secret needs --header-server, the only server that it is sent to")
        }
        if home != nil, fields.secrets.isEmpty {
            throw UsageError("--header-server is for a --header that may be a secret, and there is none")
        }
        for name in Set(fields.map(\.name)) {
            let servers = name.isSecret ? [home].compactMap(\.self) : []
            do throws(DownloadError) {
                try settings.setHeader(name.rawName, to: fields[name], for: servers)
            } catch { throw UsageError("--header: \(error.reason)") }
        }
    }

    private static func server(_ text: String) throws(UsageError) -> Origin {
        let url = try? DownloadURL(text.utf8.contains("://") ? text : "https://" + text)
        guard let url, url.path == "/", url.query == nil, url.credentials == nil, !url.isObject else {
            throw UsageError("--header-server needs a host, or http://HOST:PORT")
        }
        return Origin(of: url)
    }
}
