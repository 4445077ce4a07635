import Ferry
import FerryCore
import HTTPTypes

/// Values of aria2's options by name, in canonical form, and their translation into a request.
struct Aria2Options: Sendable, Hashable {
    var values: [String: String] = [:]

    init(values: [String: String] = [:]) { self.values = values }

    /// Reads the options of a call that are in `table` and for which `allows` returns true. Other options are ignored.
    init(
        _ members: [String: JSONValue], in table: [Aria2Option] = Aria2Option.ofDownload,
        allowing allows: (Aria2Option) -> Bool = { _ in true }
    ) throws(Aria2Error) {
        for option in table where allows(option) {
            guard let member = members[option.name], let value = try option.value(of: member) else { continue }
            values[option.name] = value
        }
    }

    subscript(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// Returns these options, with `others` as defaults. The user and password of a proxy are valid for that proxy only: if
    /// these options set a proxy, the defaults for its user and password are dropped.
    func over(_ others: Aria2Options) -> Aria2Options {
        var others = others.values
        for proxy in ["all-proxy", "http-proxy", "https-proxy"] where values[proxy] != nil {
            others[proxy + "-user"] = nil
            others[proxy + "-passwd"] = nil
        }
        return Aria2Options(values: others.merging(values) { $1 })
    }

    private func number(_ name: String) -> Int? { self[name].flatMap { Int($0) } }
    private func flag(_ name: String) -> Bool? { self[name].map { $0 == "true" } }

    // MARK: Requests

    /// Returns the request for these sources. Its directory is empty if the options set none.
    func request(_ sources: [DownloadURL]) throws(Aria2Error) -> DownloadRequest {
        var request = DownloadRequest(sources: sources, destination: destination)
        if let text = self["gid"] {
            // aria2 returns the same message.
            guard let gid = Aria2GID(text) else { throw Aria2Error("No URI to download.") }
            request.id = gid.id
        }
        request.startsPaused = flag("pause") ?? false
        // Only `continue` allows the download to resume from the content of another download of the same file.
        request.onDuplicate = flag("continue") ?? false ? .existing : .addAnother
        let renames = flag("auto-file-renaming") ?? true
        request.onConflict = flag("allow-overwrite") ?? false ? .overwrite : renames ? .rename : .fail
        request.usesServerTime = flag("remote-time") ?? true
        request.connection.proxy = try proxy(for: sources.first)
        // allow(secrets): the credentials are from this call, and are for the host of its URLs.
        request.credentials = credentials
        try apply(to: &request)
        return request
    }

    private var destination: DownloadRequest.Destination {
        let directory = self["dir"] ?? ""
        guard let out = self["out"] else { return .directory(directory) }
        // The name may be a path into a subdirectory.
        let place = out.utf8.contains(UInt8(ascii: "/")) ? Paths.join(directory, Paths.parent(of: out)) : directory
        return .directory(place, name: .exact(Paths.name(of: out)))
    }

    /// The credentials; `nil` without a user.
    var credentials: Credentials? {
        self["http-user"].map { Credentials(user: $0, password: self["http-passwd"] ?? "") }
    }

    private func proxy(for url: DownloadURL?) throws(Aria2Error) -> ProxyChoice? {
        for name in ["\(url?.scheme.rawValue ?? "http")-proxy", "all-proxy"] {
            guard let text = self[name] else { continue }
            do throws(TextError) {
                var choice = try ProxyChoice(parsing: text)
                if let user = self[name + "-user"] {
                    // allow(secrets): the credentials are for the proxy that the same options specify.
                    choice.server?.credentials = Credentials(user: user, password: self[name + "-passwd"] ?? "")
                }
                return choice
            } catch { throw Aria2Error("We encountered a problem while processing the option '--\(name)'.") }
        }
        return nil
    }

    /// Sets the properties that can also be changed for a listed download.
    func apply(to request: inout DownloadRequest) throws(Aria2Error) {
        if let limit = number("max-download-limit") { request.rateLimit = limit == 0 ? nil : ByteCount(limit) }
        let (split, perServer) = (number("split"), number("max-connection-per-server"))
        if split != nil || perServer != nil {
            let most = (perServer ?? 16) * max(1, request.sources.count)
            request.maxConnections = min(split ?? most, most)
        }
        // aria2's number includes the first attempt.
        if let tries = number("max-tries") {
            request.maxRetries = tries == 0 ? DownloadRequest.mostRetries : tries - 1
        }
        if let seconds = number("timeout") { request.stallTimeout = .seconds(seconds) }
        if let speed = number("lowest-speed-limit") { request.minSpeed = speed == 0 ? nil : ByteCount(speed) }
        if let seconds = number("connect-timeout") { request.connection.connectTimeout = .seconds(seconds) }
        if values["user-agent"] != nil { request.connection.userAgent = self["user-agent"] }
        if let text = values["checksum"] {
            do throws(TextError) { request.checksum = text.isEmpty ? nil : try Checksum(parsing: text) } catch {
                throw Aria2Error("We encountered a problem while processing the option '--checksum'.")
            }
        }
        if let lines = values["header"] { request.headers = try Self.fields(lines) }
        if let referer = self["referer"] {
            request.headers[.referer] = referer == "*" ? request.sources.first?.text : referer
        }
        let stored = over(Aria2Options(storedIn: request.userInfo)).stored
        request.userInfo[Self.storedName] = stored.isEmpty ? nil : stored
    }

    /// Parses header fields. Fields of the connection are dropped, because browser extensions pass every field of the browser's
    /// request. Other fields that Ferry sets itself are refused.
    private static func fields(_ lines: String) throws(Aria2Error) -> HTTPFields {
        var fields = HTTPFields()
        for line in lines.split(at: "\n") {
            let field: HTTPField
            do throws(TextError) { field = try HeaderLine.parse(String(line)) } catch {
                throw Aria2Error("We encountered a problem while processing the option '--header'.")
            }
            if HeaderLine.isOfConnection(field.name) { continue }
            guard !HeaderLine.isReserved(field.name) else {
                throw Aria2Error("The header \(field.name.rawName) is set by Ferry itself.")
            }
            fields.append(field)
        }
        return fields
    }

    // MARK: Stored values

    /// The key in a request's `userInfo` for the option values that no property of the request can represent.
    static let storedName = "aria2"

    private static let storedOptions = Aria2Option.ofDownload.filter {
        $0.call?.effect == .kept || ["split", "max-connection-per-server"].contains($0.name)
    }

    /// One `name=value` per line, without default values.
    private var stored: String {
        Self.storedOptions.compactMap { option in
            values[option.name].flatMap { $0 == option.call?.standard ? nil : "\(option.name)=\($0)" }
        }.joined(separator: "\n")
    }

    /// Reads the stored values of a request. Any client may have written the text, so invalid values are ignored.
    init(storedIn request: [String: String]) {
        var members: [String: JSONValue] = [:]
        for line in (request[Self.storedName] ?? "").split(at: "\n") {
            let parts = line.split(at: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { members[String(parts[0])] = .text(String(parts[1])) }
        }
        for option in Self.storedOptions {
            if let member = members[option.name] { values[option.name] = try? option.value(of: member) }
        }
    }

    // MARK: Rendering

    /// The options of a listed download, without secrets.
    init(of row: CatalogueRow) {
        let request = row.request
        let stored = Aria2Options(storedIn: row.userInfo)
        self = stored.over(.standard)
        values["dir"] = row.directory ?? ""
        if case .directory(_, .exact(let name)) = request.destination { values["out"] = name }
        values["allow-overwrite"] = String(request.onConflict == .overwrite)
        values["auto-file-renaming"] = String(request.onConflict == .rename)
        values["continue"] = String(request.onDuplicate == .existing)
        values["remote-time"] = String(request.usesServerTime)
        values["max-download-limit"] = String(request.rateLimit ?? 0)
        if stored.values["split"] == nil { values["split"] = String(request.maxConnections) }
        if let most = request.maxRetries {
            values["max-tries"] = String(most == DownloadRequest.mostRetries ? 0 : most + 1)
        }
        if let limit = request.stallTimeout { values["timeout"] = String(limit.components.seconds) }
        values["lowest-speed-limit"] = String(request.minSpeed ?? 0)
        if let limit = request.connection.connectTimeout {
            values["connect-timeout"] = String(limit.components.seconds)
        }
        if let agent = request.connection.userAgent { values["user-agent"] = agent }
        if let checksum = request.checksum { values["checksum"] = checksum.description }
        if let proxy = request.connection.proxy { values["all-proxy"] = proxy.description }
        var open = request.headers.withoutSecrets
        values["referer"] = open[.referer]
        open[.referer] = nil
        if !open.isEmpty { values["header"] = open.map { "\($0.name.rawName): \($0.value)\n" }.joined() }
    }

    /// The defaults.
    static let standard = Aria2Options(
        values: Dictionary(
            uniqueKeysWithValues: Aria2Option.ofDownload.compactMap { option in
                option.call?.standard.map { (option.name, $0) }
            }))

    /// The options without passwords, header fields, and proxies with user info.
    var withoutSecrets: Aria2Options {
        Aria2Options(
            values: values.filter { name, value in
                name != "header" && !name.utf8.hasSuffix("-passwd")
                    && !(name.utf8.hasSuffix("-proxy") && value.utf8.contains(UInt8(ascii: "@")))
            })
    }

    var value: JSONValue { .object(values.mapValues { .text($0) }) }
}
