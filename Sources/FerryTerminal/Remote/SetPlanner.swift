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

    /// Returns the plan: arguments with `=` are settings, the arguments before them select downloads. Throws the first error.
    ///
    /// - Parameters:
    ///   - headers: `K: V` or `@FILE`, to replace the previous headers.
    ///   - user: `USER` or `USER:PASSWORD`.
    ///   - absolute: Resolves a path against the working directory.
    package static func plan(
        _ words: [String], headers: [String] = [], user: String? = nil, world: PlanningWorld = .system,
        now: Date = Date(), zone: LocalZone = .current,
        absolute: @escaping @Sendable (String) -> String = OwnProgram.absolute
    ) throws(UsageError) -> Plan {
        let givesAccess = !headers.isEmpty || user != nil
        let names = Array(words.prefix { !$0.utf8.contains("=") })
        var pairs: [(name: String, value: String)] = []
        for word in words.dropFirst(names.count) {
            let parts = word.split(at: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw UsageError("\(word) is not a setting: write NAME=VALUE") }
            pairs.append((String(parts[0]), String(parts[1])))
        }
        if givesAccess, names.isEmpty {
            throw UsageError("--header and --user are for downloads: name some before the settings")
        }
        guard !pairs.isEmpty || givesAccess else {
            guard names.isEmpty else { throw UsageError("nothing to set: write NAME=VALUE after the download") }
            return .show
        }
        let context = Context(world: world, now: now, zone: zone, absolute: absolute)
        if names.isEmpty {
            var change = SettingsChange()
            for pair in pairs {
                guard let setting = daemonSettings.first(where: { $0.name == pair.name }) else {
                    throw UsageError(
                        "there is no setting \(pair.name); choose from \(daemonNames.joined(separator: ", "))")
                }
                try setting.apply(pair, &change, context)
            }
            return .daemon(change)
        }
        var change = RequestChange()
        for pair in pairs {
            guard let setting = downloadSettings.first(where: { $0.name == pair.name }) else {
                throw UsageError(
                    "a download has no setting \(pair.name); there are \(downloadNames.joined(separator: ", "))")
            }
            try setting.apply(pair, &change, context)
        }
        if !headers.isEmpty { change.set(.headers, \.headers, try world.headers(headers)) }
        if let user { change.set(try world.credentials(of: UserWord(user))) }
        return .downloads(names, change)
    }

    /// A word `NAME=VALUE`.
    package typealias Pair = (name: String, value: String)

    /// The context in which values are parsed.
    private struct Context: Sendable {
        let world: PlanningWorld
        let now: Date
        let zone: LocalZone
        let absolute: @Sendable (String) -> String
    }

    /// A setting of the daemon or of a download, and the function that adds its value to a change.
    private struct Setting<Change>: Sendable {
        let name: String
        let apply: @Sendable (Pair, inout Change, Context) throws(UsageError) -> Void

        init(
            _ name: String, apply: @escaping @Sendable (Pair, inout Change, Context) throws(UsageError) -> Void
        ) {
            (self.name, self.apply) = (name, apply)
        }
    }

    // MARK: Settings of the daemon

    package static var daemonNames: [String] { daemonSettings.map(\.name) }

    private static let daemonSettings: [Setting<SettingsChange>] = [
        Setting("metered") { pair, change, _ throws(UsageError) in change.allowsMetered = .set(try flag(pair)) },
        Setting("constrained") { pair, change, _ throws(UsageError) in change.allowsConstrained = .set(try flag(pair))
        },
        Setting("max-concurrent") { pair, change, _ throws(UsageError) in
            change.maxConcurrentDownloads = .set(try count(pair))
        },
        Setting("connections-per-host") { pair, change, _ throws(UsageError) in
            change.connectionsPerHost = .set(try count(pair))
        },
        Setting("limit") { pair, change, _ throws(UsageError) in change.rateLimit = .set(try rate(pair)) },
        Setting("network") { pair, change, _ throws(UsageError) in
            switch pair.value {
            case "auto": change.networkAssumption = .set(nil)
            case "metered", "unmetered": change.networkAssumption = .set(pair.value)
            default: throw UsageError("network=\(pair.value): write auto, metered or unmetered")
            }
        },
        Setting("retry-failed") { pair, change, _ throws(UsageError) in
            if pair.value == "never" {
                change.retriesFailedAfter = .set(nil)
                return
            }
            let delay = try parsed(pair) { text throws(TextError) in try DurationText.parse(text) }
            guard delay >= .seconds(1) else {
                throw UsageError("retry-failed=\(pair.value): write a time of 1s or more, or never")
            }
            change.retriesFailedAfter = .set(Seconds.of(delay))
        },
        Setting("min-free") { pair, change, _ throws(UsageError) in
            change.minFreeBytes = .set(
                pair.value == "auto"
                    ? nil : try parsed(pair) { text throws(TextError) in try SizeText.parse(text) })
        },
        Setting("proxy") { pair, change, _ throws(UsageError) in
            if pair.value != "auto" { _ = try PlanningWorld.proxy(pair.value, option: "proxy=") }
            change.proxy = .set(pair.value == "auto" ? nil : pair.value)
        },
        Setting("dir") { pair, change, context throws(UsageError) in
            guard !pair.value.isEmpty else { throw UsageError("dir= needs a directory") }
            change.directory = context.absolute(pair.value)
        },
    ]

    // MARK: Settings of a download

    package static var downloadNames: [String] { downloadSettings.map(\.name) }

    /// First the settings without a command line option, or with values other than the option's; then the options that can be
    /// changed for a listed download.
    private static let downloadSettings: [Setting<RequestChange>] =
        [
            Setting("limit") { pair, change, _ throws(UsageError) in
                change.set(.rateLimit, \.rateLimit, try rate(pair))
            },
            Setting("priority") { pair, change, _ throws(UsageError) in
                change.set(.priority, \.priority, DownloadPriority(rawValue: try priority(pair)))
            },
            Setting("at") { pair, change, context throws(UsageError) in
                let isNone = pair.value == "none"
                let date = isNone ? nil : try TimeWord.parse(pair.value, now: context.now, zone: context.zone)
                change.set(.notBefore, \.notBefore, date)
            },
            Setting("metered") { pair, change, _ throws(UsageError) in
                change.set(.allowsMetered, \.network.allowsMetered, pair.value == "auto" ? nil : try flag(pair))
            },
            Setting("constrained") { pair, change, _ throws(UsageError) in
                change.set(.allowsConstrained, \.network.allowsConstrained, pair.value == "auto" ? nil : try flag(pair))
            },
            Setting("label") { pair, change, _ in change.set(.label, \.label, pair.value.isEmpty ? nil : pair.value) },
            Setting("url") { pair, change, _ throws(UsageError) in try setURL(pair.value, in: &change) },
            Setting("checksum") { pair, change, _ throws(UsageError) in
                let isNone = pair.value == "none"
                let checksum = isNone ? nil : try parsed(pair) { text throws(TextError) in try Checksum(parsing: text) }
                change.set(.checksum, \.checksum, checksum)
            },
            Setting("on-conflict") { pair, change, _ throws(UsageError) in
                guard let rule = ConflictRule(rawValue: pair.value) else {
                    throw UsageError("on-conflict=\(pair.value): write rename, overwrite, fail or skip")
                }
                change.set(.onConflict, \.onConflict, rule)
            },
            Setting("ip") { pair, change, _ throws(UsageError) in
                let family = pair.value == "auto" ? nil : try addressFamily(pair.value)
                change.set(.addressFamily, \.connection.addressFamily, family)
            },
        ] + settings(of: CommonOptions.table) + settings(of: RequestOptions.table) + settings(of: TrustOptions.table)

    private static func settings<Options>(of options: [RequestOption<Options>]) -> [Setting<RequestChange>] {
        options.filter { RequestChange.memberNames.contains($0.member.rawValue) }.map { option in
            Setting(option.name) { pair, change, context throws(UsageError) in
                try option.change(pair.value, in: &change, context.world)
            }
        }
    }

    private static func addressFamily(_ text: String) throws(UsageError) -> TransferSettings.AddressFamily {
        guard let family = TransferSettings.AddressFamily(rawValue: "v" + text) else {
            throw UsageError("ip=\(text): write 4, 6 or auto")
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

    /// Secrets apply to one server, so they cannot be set at once for downloads from several servers.
    static func checkServers(of urls: [String], _ change: RequestChange) throws(UsageError) {
        guard change.request.hasSecrets, !change.members.contains(.urls) else { return }
        let origins = Set(urls.map { try? DownloadURL($0) }.map { $0.map { Origin(of: $0) } })
        guard origins.count > 1 else { return }
        throw UsageError(
            "--user and --header are for one server, but these downloads are from \(origins.count): "
                + "name those of one server at a time")
    }

    /// Parses `low`, `normal`, `high` or an integer.
    package static func priority(_ pair: Pair) throws(UsageError) -> Int {
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

    static func flag(_ pair: Pair) throws(UsageError) -> Bool {
        switch pair.value {
        case "on", "yes", "true": true
        case "off", "no", "false": false
        default: throw UsageError("\(pair.name)=\(pair.value): write on or off")
        }
    }

    private static func count(_ pair: Pair) throws(UsageError) -> Int {
        let most = FerryAPI.mostAtOnce
        guard let number = Int(pair.value), 1...most ~= number else {
            throw UsageError("\(pair.name)=\(pair.value): write a number from 1 to \(most)")
        }
        return number
    }

    private static func rate(_ pair: Pair) throws(UsageError) -> ByteCount? {
        if pair.value == "none" || pair.value == "off" { return nil }
        let rate = try PlanningWorld.rate(pair.value, option: pair.name + "=")
        return rate > 0 ? rate : nil
    }

    private static func parsed<Value>(
        _ pair: Pair, _ parse: (String) throws(TextError) -> Value
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
