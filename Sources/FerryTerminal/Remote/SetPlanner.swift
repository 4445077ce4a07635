package import FerryAPI
package import FerryCore
import HTTPTypes

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Parses the arguments of `ferry set`. Pure except for its ``PlanningWorld``.
package enum SetPlanner {
    /// The parsed command.
    package enum Plan: Sendable, Hashable {
        /// Changes nothing and shows the settings.
        case show
        case daemon(SettingsChange)
        /// The payload's strings are the words of ``FerryAPI/SelectingBody``.
        case downloads([String], RequestChange)
    }

    /// Returns the plan: arguments with `=` are settings, those before them select downloads. Throws the first error.
    ///
    /// - Parameters:
    ///   - headers: `K: V` or `@FILE`, to replace the previous headers.
    ///   - user: `USER` or `USER:PASSWORD`.
    ///   - absolute: Resolves a path against the working directory.
    package static func plan(
        _ words: [String], headers: [String] = [], user: String? = nil, world: PlanningWorld = .system,
        now: Date = Date(), zone: LocalZone = .current,
        absolute: (String) -> String = OwnProgram.absolute
    ) throws(UsageError) -> Plan {
        let givesAccess = !headers.isEmpty || user != nil
        let names = Array(words.prefix { !$0.utf8.contains("=") })
        var pairs: [(name: String, value: String)] = []
        for word in words.dropFirst(names.count) {
            let parts = word.split(at: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw UsageError("\(word) is no setting: write NAME=VALUE") }
            pairs.append((String(parts[0]), String(parts[1])))
        }
        if givesAccess, names.isEmpty {
            throw UsageError("--header and --user are for downloads: name some before the settings")
        }
        guard !pairs.isEmpty || givesAccess else {
            guard names.isEmpty else { throw UsageError("nothing to set: write NAME=VALUE after the download") }
            return .show
        }
        if names.isEmpty {
            var change = SettingsChange()
            for pair in pairs { try apply(pair, to: &change, absolute) }
            return .daemon(change)
        }
        var change = RequestChange()
        for pair in pairs where pair.name != "at" { try apply(pair, to: &change, world) }
        if let at = pairs.last(where: { $0.name == "at" })?.value {
            let date = at == "none" ? nil : try TimeWord.parse(at, now: now, zone: zone)
            change.set(.notBefore, \.notBefore, date)
        }
        if !headers.isEmpty { change.set(.headers, \.headers, try world.headers(headers)) }
        if let user { change.set(try world.credentials(of: UserWord(user))) }
        return .downloads(names, change)
    }

    // MARK: Settings of the daemon

    private static func apply(
        _ pair: (name: String, value: String), to change: inout SettingsChange, _ absolute: (String) -> String
    ) throws(UsageError) {
        switch pair.name {
        case "metered": change.allowsMetered = .set(try flag(pair))
        case "constrained": change.allowsConstrained = .set(try flag(pair))
        case "max-concurrent": change.maxConcurrentDownloads = .set(try count(pair, atMost: FerryAPI.mostAtOnce))
        case "connections-per-host": change.connectionsPerHost = .set(try count(pair, atMost: FerryAPI.mostAtOnce))
        case "limit": change.rateLimit = .set(try rate(pair))
        case "network":
            switch pair.value {
            case "auto": change.networkAssumption = .set(nil)
            case "metered", "unmetered": change.networkAssumption = .set(pair.value)
            default: throw UsageError("network=\(pair.value): write auto, metered or unmetered")
            }
        case "retry-failed":
            if pair.value == "never" {
                change.retriesFailedAfter = .set(nil)
            } else {
                let delay = try parsed(pair) { text throws(TextError) in try DurationText.parse(text) }
                guard delay >= .seconds(1) else {
                    throw UsageError("retry-failed=\(pair.value): write a time of 1s or more, or never")
                }
                change.retriesFailedAfter = .set(Seconds.of(delay))
            }
        case "min-free":
            change.minFreeBytes = .set(
                pair.value == "auto"
                    ? nil : try parsed(pair) { text throws(TextError) in try SizeText.parse(text) })
        case "proxy":
            if pair.value != "auto" { _ = try PlanningWorld.proxy(pair.value, option: "proxy=") }
            change.proxy = .set(pair.value == "auto" ? nil : pair.value)
        case "dir":
            guard !pair.value.isEmpty else { throw UsageError("dir= needs a directory") }
            change.directory = absolute(pair.value)
        default:
            throw UsageError(
                "there is no setting \(pair.name); there are \(daemonNames.joined(separator: ", "))")
        }
    }

    package static let daemonNames = [
        "metered", "constrained", "max-concurrent", "connections-per-host", "limit", "network", "retry-failed",
        "min-free", "proxy", "dir",
    ]

    // MARK: Settings of a download

    private static func apply(
        _ pair: (name: String, value: String), to change: inout RequestChange, _ world: PlanningWorld
    ) throws(UsageError) {
        /// Sets a value; `auto` restores the daemon's.
        func own<Value>(
            _ member: DownloadRequest.CodingKeys, _ path: WritableKeyPath<DownloadRequest, Value?>,
            _ read: (_ text: String, _ option: String) throws(UsageError) -> Value
        ) throws(UsageError) {
            change.set(member, path, pair.value == "auto" ? nil : try read(pair.value, pair.name + "="))
        }
        switch pair.name {
        case "limit": change.set(.rateLimit, \.rateLimit, try rate(pair))
        case "connections": change.set(.maxConnections, \.maxConnections, try count(pair))
        case "priority": change.set(.priority, \.priority, DownloadPriority(rawValue: try priority(pair)))
        case "metered":
            change.set(.allowsMetered, \.network.allowsMetered, pair.value == "auto" ? nil : try flag(pair))
        case "constrained":
            change.set(.allowsConstrained, \.network.allowsConstrained, pair.value == "auto" ? nil : try flag(pair))
        case "label": change.set(.label, \.label, pair.value.isEmpty ? nil : pair.value)
        case "accept-html": change.set(.acceptsHTML, \.trust.acceptsHTML, try flag(pair))
        case "resume-unproven": change.set(.resumesUnproven, \.trust.resumesUnproven, try flag(pair))
        case "url": try setURL(pair.value, in: &change)
        case "checksum":
            let checksum =
                pair.value == "none" ? nil : try parsed(pair) { text throws(TextError) in try Checksum(parsing: text) }
            change.set(.checksum, \.checksum, checksum)
        case "on-conflict":
            guard let rule = ConflictRule(rawValue: pair.value) else {
                throw UsageError("on-conflict=\(pair.value): write rename, overwrite, fail or skip")
            }
            change.set(.onConflict, \.onConflict, rule)
        case "proxy": try own(.proxy, \.connection.proxy, PlanningWorld.proxy)
        case "ca-file": try own(.certificates, \.connection.certificates, world.certificates)
        case "load-cookies": try own(.cookies, \.connection.cookies, world.cookies)
        case "insecure": change.set(.insecure, \.connection.insecure, try flag(pair))
        case "allow-downgrade": change.set(.allowsDowngrade, \.trust.allowsDowngrade, try flag(pair))
        case "user-agent": try own(.userAgent, \.connection.userAgent, PlanningWorld.userAgent)
        case "ip": try own(.addressFamily, \.connection.addressFamily, addressFamily)
        case "connect-timeout": try own(.connectTimeout, \.connection.connectTimeout, PlanningWorld.duration)
        case "stall-timeout": try own(.stallTimeout, \.stallTimeout, PlanningWorld.duration)
        case "retries": try own(.maxAttempts, \.maxAttempts, PlanningWorld.attempts)
        case "min-free": try own(.minFreeBytes, \.minFreeBytes, PlanningWorld.size)
        case "max-size": try own(.maxBytes, \.maxBytes, PlanningWorld.size)
        default:
            throw UsageError(
                "a download has no setting \(pair.name); there are \(downloadNames.joined(separator: ", "))")
        }
    }

    private static func addressFamily(
        _ text: String, option: String
    ) throws(UsageError) -> TransferSettings.AddressFamily {
        guard let family = TransferSettings.AddressFamily(rawValue: "v" + text) else {
            throw UsageError("\(option)\(text): write 4, 6 or auto")
        }
        return family
    }

    /// Credentials in the URL count like `--user`: a download that waits for credentials continues.
    private static func setURL(_ text: String, in change: inout RequestChange) throws(UsageError) {
        let url: DownloadURL
        do throws(DownloadError) { url = try DownloadURL(text) } catch {
            throw UsageError("url=: \(error.reason)")
        }
        change.set(.urls, \.sources, [url.with(nil)])
        if let credentials = url.credentials { change.set(credentials) }
    }

    /// Secrets apply to one server, so they cannot be set for downloads from several at once.
    static func checkServers(of urls: [String], _ change: RequestChange) throws(UsageError) {
        guard change.request.hasSecrets, !change.members.contains(.urls) else { return }
        let origins = Set(urls.map { try? DownloadURL($0) }.map { $0.map { Origin(of: $0) } })
        guard origins.count > 1 else { return }
        throw UsageError(
            "--user and --header are for one server, and these downloads are of \(origins.count): "
                + "name those of one after the other")
    }

    package static let downloadNames = [
        "limit", "connections", "priority", "at", "metered", "constrained", "label", "url", "checksum",
        "on-conflict", "accept-html", "resume-unproven", "proxy", "ca-file", "load-cookies", "insecure",
        "allow-downgrade", "user-agent", "ip",
        "connect-timeout",
        "stall-timeout", "retries", "min-free", "max-size",
    ]

    /// Parses `low`, `normal`, `high` or an integer.
    package static func priority(_ pair: (name: String, value: String)) throws(UsageError) -> Int {
        switch pair.value {
        case "low": DownloadPriority.low.rawValue
        case "normal": DownloadPriority.normal.rawValue
        case "high": DownloadPriority.high.rawValue
        default:
            if let number = Int(pair.value) {
                number
            } else {
                throw UsageError("\(pair.name)=\(pair.value): write low, normal, high or a whole number")
            }
        }
    }

    // MARK: Values

    static func flag(_ pair: (name: String, value: String)) throws(UsageError) -> Bool {
        switch pair.value {
        case "on", "yes", "true": true
        case "off", "no", "false": false
        default: throw UsageError("\(pair.name)=\(pair.value): write on or off")
        }
    }

    private static func count(
        _ pair: (name: String, value: String), atMost most: Int = .max
    ) throws(UsageError) -> Int {
        guard let number = Int(pair.value), number >= 1, number <= most else {
            throw UsageError(
                most == .max
                    ? "\(pair.name)=\(pair.value): write a number of 1 or more"
                    : "\(pair.name)=\(pair.value): write a number from 1 to \(most)")
        }
        return number
    }

    private static func rate(_ pair: (name: String, value: String)) throws(UsageError) -> ByteCount? {
        if pair.value == "none" || pair.value == "off" { return nil }
        let rate = try parsed(pair) { text throws(TextError) in try SizeText.parseRate(text) }
        // A few bytes per second are meant by nobody who leaves out the unit.
        if 1..<1000 ~= rate, Int(pair.value) != nil {
            throw UsageError(
                "\(pair.name)=\(pair.value) is \(pair.value) bytes per second: write a unit, as in \(pair.name)=\(pair.value)M, or \(pair.value)B"
            )
        }
        return rate > 0 ? rate : nil
    }

    private static func parsed<Value>(
        _ pair: (name: String, value: String), _ parse: (String) throws(TextError) -> Value
    ) throws(UsageError) -> Value {
        do throws(TextError) { return try parse(pair.value) } catch {
            throw UsageError("\(pair.name)=: \(error.reason)")
        }
    }
}

/// Formats the daemon's settings in the syntax of `ferry set`.
package enum SettingsText {
    package static func lines(_ settings: SettingsBody) -> [String] {
        func flag(_ value: Bool?) -> String? { value.map { $0 ? "on" : "off" } }
        let retry = settings.retriesFailedAfter.map { seconds in
            Int64(exactly: seconds).map { "\($0)s" } ?? "\(seconds)s"
        }
        let pairs: [(name: String, value: String?)] = [
            ("max-concurrent", settings.maxConcurrentDownloads.map(String.init)),
            ("limit", settings.rateLimit.map { "\($0)" } ?? "none"),
            ("connections-per-host", settings.connectionsPerHost.map(String.init)),
            ("metered", flag(settings.allowsMetered)),
            ("constrained", flag(settings.allowsConstrained)),
            ("network", settings.networkAssumption ?? "auto"),
            ("retry-failed", retry ?? "never"),
            ("min-free", settings.minFreeBytes.map { "\($0)" } ?? "auto"),
            ("proxy", settings.proxy ?? "auto"),
            ("dir", PrintableText.escape(settings.directory)),
        ]
        return pairs.compactMap { pair in pair.value.map { pair.name + "=" + $0 } }
    }
}
