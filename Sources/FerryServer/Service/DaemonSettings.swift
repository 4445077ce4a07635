package import Ferry
package import FerryAPI
package import FerryCore

/// The settings of a daemon, merged from flags, the environment and the settings file. The settings of its doors are in
/// ``DoorSettings``.
///
/// To add a setting, add a property with its default, a case of ``Setting`` with its form, and its bounds in `check`.
package struct DaemonSettings: Sendable, Hashable, Codable {
    package typealias CodingKeys = Setting

    /// The port on loopback; 0 for any free port.
    package var port = FerryAPI.defaultPort
    /// Whether the page and the API are served on loopback as well as on the Unix socket.
    package var loopback = true
    /// Whether downloads may connect to addresses outside the public internet. A request can only be stricter.
    package var allowsPrivate = true
    package var maxConcurrentDownloads = 3
    /// Bytes per second for all downloads together, below 2^62.
    package var rateLimit: ByteCount?
    package var connectionsPerHost = TransferSettings().connectionsPerHost
    /// The maximum number of connections to one host name; `nil` for no further limit. ``domainConnections`` is the maximum for all
    /// hosts of a registrable domain.
    package var hostConnections: Int?
    package var domainConnections: Int?
    /// Seconds between the starts of two requests to a host name; `nil` for no delay.
    package var hostDelay: Double?
    package var allowsMetered = true
    package var allowsConstrained = true
    /// `metered` or `unmetered`; `nil` for detection.
    package var networkAssumption: String?
    /// Seconds after which failed downloads are retried, at least 1; `nil` for never.
    package var retriesFailedAfter: Double?
    /// The free disk space to keep; `nil` for 1 % of a file system, at most 256 MB.
    package var minFreeBytes: ByteCount?
    /// The proxy of all downloads, with its credentials, or `none`; `nil` for the proxies of the environment.
    package var proxy: String?
    /// The download directory of the session `default`.
    package var directory: String
    /// Directories below which the page may put files, in addition to the sessions' own.
    package var allowedDirectories: [String] = []
    /// The program, with its arguments, that runs after each completed download of any session.
    package var onComplete: [String] = []
    /// The program, with its arguments, that runs when a download of any session needs its user.
    package var onNeedsUser: [String] = []

    package init(directory: String) { self.directory = directory }

    /// Applies the settings of a manager to its configuration.
    ///
    /// - Parameter proxies: The proxies of the environment.
    package func apply(to configuration: inout DownloadManager.Configuration, proxies: ProxySettings) {
        configuration.transfer.proxy = proxyChoice.map { proxies.using($0) } ?? proxies
        configuration.maxConcurrentDownloads = maxConcurrentDownloads
        configuration.rateLimit = rateLimit
        configuration.transfer.connectionsPerHost = connectionsPerHost
        configuration.server.hostBudget = HostBudget(
            connections: hostConnections, delay: hostDelay.flatMap(APISeconds.duration))
        configuration.server.domainBudget = HostBudget(connections: domainConnections)
        configuration.transfer.allowsPrivate = allowsPrivate
        configuration.allowsMeteredNetwork = allowsMetered
        configuration.allowsConstrainedNetwork = allowsConstrained
        configuration.networkIsMetered = networkAssumption.map { $0 == "metered" }
        configuration.minFreeBytes = minFreeBytes
        configuration.retriesFailedAfter = retriesFailedAfter.flatMap(APISeconds.duration)
    }

    /// The settings that clients may see.
    package var body: SettingsBody {
        var body = SettingsBody(scope: "daemon", directory: directory)
        body.maxConcurrentDownloads = maxConcurrentDownloads
        body.rateLimit = rateLimit
        body.connectionsPerHost = connectionsPerHost
        body.allowsMetered = allowsMetered
        body.allowsConstrained = allowsConstrained
        body.networkAssumption = networkAssumption
        body.retriesFailedAfter = retriesFailedAfter
        body.minFreeBytes = minFreeBytes
        body.proxy = proxyChoice?.description
        return body
    }

    private var proxyChoice: ProxyChoice? { proxy.flatMap { try? ProxyChoice(parsing: $0) } }

    // MARK: Merging

    /// Returns the settings with these values changed; null restores a default.
    ///
    /// Throws a problem that names the setting whose value has the wrong type or is out of bounds.
    func merging(_ changes: [Setting: JSONValue]) throws(Problem) -> DaemonSettings {
        let defaults = try DaemonSettings(directory: directory).values
        var values = try values
        for (setting, new) in changes {
            let value = new == .null ? defaults[setting] : setting.form.value(of: new)
            guard value != nil || new == .null else {
                throw Problem(.badRequest, "\(setting.rawValue) needs \(setting.form.demand)")
            }
            values[setting] = value
        }
        let merged: DaemonSettings
        do { merged = try JSONCoding.decode(DaemonSettings.self, from: JSONCoding.encode(values)) } catch {
            throw Problem(.internal, "\(error)")
        }
        try merged.check()
        return merged
    }

    /// Returns the settings after applying the changes between two readings of the sources. Settings that are fixed at the start
    /// keep their values.
    func merging(_ new: DaemonSettings, since old: DaemonSettings) throws(Problem) -> DaemonSettings {
        let (old, new) = (try old.values, try new.values)
        let changed = Setting.allCases.filter { !$0.isFixed && old[$0] != new[$0] }
        return try merging(Dictionary(uniqueKeysWithValues: changed.map { ($0, new[$0] ?? .null) }))
    }

    /// The value of each setting that has one.
    private var values: [Setting: JSONValue] { get throws(Problem) { try .init(encoding: self) } }

    private func check() throws(Problem) {
        func require(_ isMet: Bool, _ demand: String) throws(Problem) {
            if !isMet { throw Problem(.badRequest, demand) }
        }
        let most = FerryAPI.mostAtOnce
        try require(0...65_535 ~= port, "port must be from 0 to 65535.")
        try require(1...most ~= maxConcurrentDownloads, "maxConcurrentDownloads must be from 1 to \(most).")
        try require(1...most ~= connectionsPerHost, "connectionsPerHost must be from 1 to \(most).")
        try require(1...most ~= hostConnections ?? 1, "hostConnections must be from 1 to \(most).")
        try require(1...most ~= domainConnections ?? 1, "domainConnections must be from 1 to \(most).")
        try require(
            APISeconds.duration(hostDelay ?? 0) != nil, "hostDelay must be a number of seconds, 0 or more.")
        try require(rateLimit ?? 1 >= 1, "rateLimit is below 1.")
        try require(rateLimit?.isSize ?? true, "rateLimit is 2^62 or more.")
        try require(minFreeBytes?.isSize ?? true, "minFreeBytes must be from 0 to 2^62 - 1.")
        try require(
            [nil, "metered", "unmetered"].contains(networkAssumption),
            "networkAssumption must be metered, unmetered or null.")
        do throws(TextError) { _ = try proxy.map { text throws(TextError) in try ProxyChoice(parsing: text) } } catch {
            throw Problem(.badRequest, "proxy: \(error.message).")
        }
        let delay = APISeconds.duration(retriesFailedAfter ?? 1) ?? .zero
        try require(delay >= .seconds(1), "retriesFailedAfter must be 1 second or more.")
        try require(directory.utf8.hasPrefix("/"), "directory must be absolute.")
    }
}

extension [Setting: JSONValue] {
    /// The members of a value that is encoded as an object of settings.
    init(encoding value: some Encodable) throws(Problem) {
        do { self = try JSONCoding.decode(Self.self, from: JSONCoding.encode(value)) } catch {
            throw Problem(.internal, "\(error)")
        }
    }
}

/// The name of a setting of the daemon: its member in the settings file and, in capitals, its environment variable.
package enum Setting: String, Sendable, Codable, CodingKey, CodingKeyRepresentable, CaseIterable {
    case port, loopback, allowsPrivate
    case maxConcurrentDownloads, rateLimit, connectionsPerHost, allowsMetered, allowsConstrained, networkAssumption
    case hostConnections, domainConnections, hostDelay
    case retriesFailedAfter, minFreeBytes, proxy, directory, allowedDirectories, onComplete, onNeedsUser

    /// Whether a change applies only at the next start.
    var isFixed: Bool { [.port, .loopback, .allowsPrivate].contains(self) }

    var form: SettingForm {
        switch self {
        case .port, .maxConcurrentDownloads, .rateLimit, .connectionsPerHost, .hostConnections, .domainConnections,
            .minFreeBytes:
            .whole
        case .retriesFailedAfter, .hostDelay: .number
        case .loopback, .allowsPrivate, .allowsMetered, .allowsConstrained: .flag
        case .networkAssumption, .proxy, .directory: .text
        case .allowedDirectories, .onComplete, .onNeedsUser: .list
        }
    }
}

/// The command to run after each completed download, validated when the settings are read.
enum CompletionCommand {
    /// Returns the command with its program resolved: a bare name is searched for in `searchPath`. Returns an empty command for an
    /// empty list or an empty name.
    ///
    /// Throws `invalidRequest` if the program does not exist or is not executable.
    static func resolve(
        _ words: [String], of setting: Setting, searchPath: String
    ) throws(DownloadError) -> [String] {
        guard let name = words.first, !name.isEmpty else { return [] }
        guard let program = SearchPath.program(name, in: searchPath) else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.unusableSetting, ErrorPhrase(.noProgram, setting.rawValue, name)),
                recovery: .needsUser)
        }
        return [program] + words.dropFirst()
    }
}
