import Ferry
import FerryCore
import HTTPTypes

/// Turns the arguments of `ferry get` into a plan. Pure except for its ``PlanningWorld``.
package struct GetPlanner: Sendable {
    private let options: GetOptions
    private let world: PlanningWorld

    /// Returns the plan.
    ///
    /// - Throws: The first error. Directories are created and passwords requested only after all other checks.
    package static func plan(_ options: GetOptions, world: PlanningWorld) throws(UsageError) -> GetPlan {
        let planner = GetPlanner(options: options, world: world)
        let output = try planner.outputOptions()
        let configuration = try planner.configuration()
        var request = options.request
        request.connections = planner.descriptors.connections
        let items = try RequestPlanner.items(options.files, request, options.trust, world: world)
        return GetPlan(configuration: configuration, items: items, output: output)
    }

    private func outputOptions() throws(UsageError) -> OutputOptions {
        if options.show.quiet, options.show.verbose { throw UsageError("-q and -v contradict each other") }
        if options.show.json, options.show.print0 { throw UsageError("--json and --print0 cannot be used together") }
        let isStream = options.files.output.map(RequestPlanner.standardOutput.contains) ?? false
        if options.show.json, isStream { throw UsageError("--json and -o - both need standard output") }
        return OutputOptions(
            result: isStream ? .body : options.show.json ? .json : .paths(end: options.show.print0 ? 0 : 0x0A),
            detail: options.show.quiet ? .quiet : options.show.verbose ? .verbose : .normal,
            showsProgress: !(options.show.noProgress || options.show.quiet || options.show.json))
    }

    /// Returns the manager's configuration.
    func configuration() throws(UsageError) -> DownloadManager.Configuration {
        guard options.run.parallel >= 1 else { throw UsageError("-j needs a number of 1 or more") }
        _ = try RequestPlanner.connections(options.request)
        var configuration = DownloadManager.Configuration.ephemeral
        configuration.maxConcurrentDownloads = descriptors.parallel
        configuration.rateLimit = try RequestPlanner.rateLimit(options.request)
        if let text = options.run.minFree {
            configuration.minFreeBytes = try PlanningWorld.size(text, option: "--min-free")
        }
        configuration.sharesWithGroup = options.run.sharedGroup
        if let text = options.run.stallTimeout {
            configuration.stallTimeout = try duration(text, option: "--stall-timeout")
        }
        if let text = options.run.retries { configuration.maxAttempts = try retries(text) }
        configuration.transfer = try transferSettings()
        return configuration
    }

    /// The requested parallelism, reduced to what the limit of open files allows.
    var descriptors: DescriptorPolicy {
        // An explicit request for more than the default limit per host takes precedence.
        let perHost = max(TransferSettings().connectionsPerHost, options.request.connections, options.run.parallel)
        return DescriptorPolicy(
            limit: world.openFileLimit, parallel: options.run.parallel, connections: options.request.connections,
            connectionsPerHost: perHost)
    }

    private func transferSettings() throws(UsageError) -> TransferSettings {
        var settings = TransferSettings()
        if let text = options.run.connectTimeout {
            settings.connectTimeout = try duration(text, option: "--connect-timeout")
        }
        if let text = options.run.userAgent {
            settings.userAgent = try PlanningWorld.field("User-Agent", text, option: "--user-agent").value
        }
        settings.proxy = try proxy()
        if let path = options.run.caFile {
            guard PEMText.holdsCertificate(try world.read(path, what: "CA file")) else {
                throw UsageError("--ca-file: \(path) holds no certificate in PEM form")
            }
            settings.caFile = path
        }
        settings.insecure = options.run.insecure
        if options.run.ipv4, options.run.ipv6 { throw UsageError("-4 and -6 contradict each other") }
        settings.allowsPrivate = !options.request.noPrivate
        settings.addressFamily = options.run.ipv4 ? .v4 : options.run.ipv6 ? .v6 : .any
        if let path = options.run.loadCookies {
            settings.cookies = CookieJar(netscapeFile: try world.read(path, what: "cookie file"))
        }
        settings.connectionsPerHost = descriptors.connectionsPerHost
        return settings
    }

    private func proxy() throws(UsageError) -> ProxySettings {
        let environment = world.environment
        guard let text = options.run.proxy else {
            do {
                return try ProxySettings(environment: environment)
            } catch {
                throw UsageError(error.message)
            }
        }
        let noProxy = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        return try PlanningWorld.value("--proxy") { () throws(TextError) in
            try ProxySettings(explicit: text, noProxy: noProxy)
        }
    }

    private func duration(_ text: String, option: String) throws(UsageError) -> Duration {
        let duration = try PlanningWorld.value(option) { () throws(TextError) in try DurationText.parse(text) }
        guard duration > .zero else { throw UsageError("\(option) needs more than 0 seconds") }
        return duration
    }

    private func retries(_ text: String) throws(UsageError) -> Int? {
        if text == "inf" { return nil }
        guard let number = Int(text), number >= 0 else {
            throw UsageError("--retries needs a number or inf, not \(TextError.quote(text))")
        }
        return number
    }
}
