package import FerryCore
import HTTPTypes

extension PlanningWorld {
    /// Sets request options in a manager's settings. Headers that may contain secrets are sent only to one server.
    ///
    /// - Parameter server: The server that receives secret headers: a host, which is contacted over https, or the prefix of a
    ///   URL.
    package func apply(
        _ options: CommonOptions, secretsFor server: String?, to settings: inout TransferSettings
    ) throws(UsageError) {
        var request = DownloadRequest.plain
        for option in CommonOptions.table { try option.apply(options, to: &request, self) }
        settings = settings.with(request.connection)
        let fields = try self.headers(options.header)
        let home = try server.map { text throws(UsageError) in try Self.server(text) }
        if home == nil, !fields.secrets.isEmpty {
            throw UsageError("--header: what may be a secret needs --header-server, the only server that it is sent to")
        }
        if home != nil, fields.secrets.isEmpty {
            throw UsageError("--header-server needs a --header that may be secret")
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
