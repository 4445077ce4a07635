package import Ferry
import FerryCore

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
        var configuration = try planner.configuration()
        var request = options.request
        request.connections = planner.descriptors.connections
        let items = try RequestPlanner.items(options.files, request, options.trust, world: world)
        configuration.transfer.netrc = items.netrc
        if options.files.dedup, options.outcome.results == nil {
            throw UsageError("--dedup needs --results: its lines say which file has the content of a URL")
        }
        if let results = options.outcome.results, results != "-", let earlier = options.files.retryFrom,
            world.isSameFile(results, earlier)
        {
            throw UsageError(
                "--results and --retry-from name the same file; give another name for the new results")
        }
        return GetPlan(
            configuration: configuration, items: items, output: output, results: options.outcome.results,
            allowsFailures: options.outcome.allowFailures)
    }

    /// Returns the plan for requests that are already planned.
    package static func plan(
        of items: [GetPlan.Item], _ options: GetOptions, world: PlanningWorld
    ) throws(UsageError) -> GetPlan {
        let planner = GetPlanner(options: options, world: world)
        let most = planner.descriptors.connections
        let fitting = items.map { item -> GetPlan.Item in
            guard case .request(var request) = item else { return item }
            request.maxConnections = min(request.maxConnections, most)
            return .request(request)
        }
        let requests = RequestPlanner(
            files: options.files, options: options.request, trust: options.trust, world: world)
        let planned = PlannedItems(
            arguments: fitting, lists: [], planner: requests,
            template: DownloadRequest(sources: [], destination: .directory(world.directory)))
        var configuration = try planner.configuration()
        configuration.transfer.netrc = try requests.readNetrc()
        return GetPlan(
            configuration: configuration, items: planned, output: try planner.outputOptions(),
            allowsFailures: options.outcome.allowFailures)
    }

    private func outputOptions() throws(UsageError) -> OutputOptions {
        if options.show.quiet, options.show.verbose { throw UsageError("-q and -v contradict each other") }
        if options.show.json, options.show.print0 { throw UsageError("--json and --print0 cannot be used together") }
        if options.show.noPaths, let other = options.show.json ? "--json" : options.show.print0 ? "--print0" : nil {
            throw UsageError("--no-paths and \(other) cannot be used together")
        }
        let isStream = options.files.output.flatMap(RequestPlanner.descriptor) == 1
        if options.show.json, isStream { throw UsageError("--json and -o - both need standard output") }
        let hasResults = options.outcome.results == "-"
        if hasResults {
            let other = options.show.json ? "--json" : options.show.print0 ? "--print0" : isStream ? "-o -" : nil
            if let other { throw UsageError("--results - and \(other) both need standard output") }
        }
        let shown: OutputOptions.Result = options.show.noPaths ? .nothing : .paths(end: options.show.print0 ? 0 : 0x0A)
        let paths = hasResults ? .results : shown
        return OutputOptions(
            result: isStream ? .body : options.show.json ? .json : paths,
            detail: options.show.quiet ? .quiet : options.show.verbose ? .verbose : .normal,
            showsProgress: !(options.show.noProgress || options.show.quiet || options.show.json))
    }

    /// Returns the manager's configuration.
    func configuration() throws(UsageError) -> DownloadManager.Configuration {
        guard options.run.parallel >= 1 else { throw UsageError("-j needs a number of 1 or more") }
        if options.outcome.allowFailures, options.outcome.results == nil {
            throw UsageError("--allow-failures needs --results: its lines say which files have failed")
        }
        var request = DownloadRequest.plain
        try RequestOptions.connections.apply(options.request, to: &request, world)
        var configuration = DownloadManager.Configuration.ephemeral
        configuration.maxConcurrentDownloads = descriptors.parallel
        configuration.rateLimit = try RequestPlanner.rateLimit(options.request)
        configuration.failsWhenRefused = options.run.failWhenRefused
        configuration.server.sharesWithGroup = options.run.sharedGroup
        configuration.server.hostBudget = try hostBudget()
        if let most = options.run.domainConnections {
            guard most >= 1 else { throw UsageError("--domain-connections needs a number of 1 or more") }
            configuration.server.domainBudget.connections = most
        }
        configuration.transfer = try transferSettings()
        return configuration
    }

    /// Returns the budget of each host.
    private func hostBudget() throws(UsageError) -> HostBudget {
        var budget = HostBudget()
        if let most = options.run.hostConnections {
            guard most >= 1 else { throw UsageError("--host-connections needs a number of 1 or more") }
            budget.connections = most
        }
        if let text = options.run.hostDelay {
            do throws(TextError) { budget.delay = try DurationText.parse(text) } catch {
                throw UsageError("--host-delay \(text): \(error.reason)")
            }
        }
        return budget
    }

    /// The requested parallelism, reduced to what the limit of open files allows.
    var descriptors: DescriptorPolicy {
        // An explicit request for more than the default limit per host takes precedence.
        let perHost = max(TransferSettings().connectionsPerHost, options.request.connections, options.run.parallel)
        return DescriptorPolicy(
            limit: world.openFileLimit, parallel: options.run.parallel, connections: options.request.connections,
            connectionsPerHost: perHost)
    }

    /// Returns the connection settings of the environment, with the limit per host.
    private func transferSettings() throws(UsageError) -> TransferSettings {
        var settings = TransferSettings()
        settings.proxy = try proxies()
        settings.caFile = TransferSettings.caFile(in: world.environment)
        settings.s3 = S3Settings(environment: world.environment)
        settings.connectionsPerHost = descriptors.connectionsPerHost
        settings.tracesRequests = options.show.verbose
        return settings
    }

    /// Returns the proxies of the environment. With `--proxy`, only the exceptions in the environment apply.
    private func proxies() throws(UsageError) -> ProxySettings {
        var environment = world.environment
        if options.request.proxy != nil {
            environment = environment.filter { ["no_proxy", "NO_PROXY"].contains($0.key) }
        }
        do throws(TextError) { return try ProxySettings(environment: environment) } catch {
            throw UsageError(error.reason)
        }
    }
}

/// The validated configuration and requests of one `ferry get`.
package struct GetPlan: Sendable {
    /// One argument or list entry to download.
    package enum Item: Sendable, Hashable {
        case request(DownloadRequest)
        /// All part files in a directory, each with a copy of this request.
        case parts(directory: String, DownloadRequest)
        /// A line of a list that cannot be used, with the list's name and the line number. Other lines are not
        /// affected.
        case unusable(String)

        /// The item's request; `nil` for an unusable line.
        package var request: DownloadRequest? {
            switch self {
            case .request(let request), .parts(_, let request): request
            case .unusable: nil
            }
        }
    }

    package var configuration: DownloadManager.Configuration
    package var items: PlannedItems
    package var output: OutputOptions
    /// The path of the results, `-` for standard output; `nil` for none.
    package var results: String?
    /// Whether the exit code ignores files that have failed.
    package var allowsFailures = false
    /// The options of the command as words of a shell, see ``GivenOptions``.
    var givenOptions = ""
    /// Whether the files belong to a set, whose commands have other options.
    var isOfSet = false
    /// Whether damaged files are repaired.
    var isOfRepair = false
    /// The template of file names by content; `nil` without `--dedup`.
    var contentNames: NameTemplate? { items.planner.names.flatMap { $0.isOfContent ? $0 : nil } }
    /// The maximum number of files that are submitted and have not ended.
    var window: Int { max(256, 4 * min(1 << 16, configuration.maxConcurrentDownloads)) }
    /// The maximum number of such files from one host, while the lists may have entries of other hosts.
    var hostShare: Int { max(32, 2 * min(1 << 16, configuration.maxConcurrentDownloads)) }
}

/// The bytes of a list of files, which can be read more than once.
package struct ListFile: Sendable {
    /// The path as given, or "standard input".
    package let name: String
    /// The size in bytes; `nil` if it is unknown.
    package let size: Int?
    /// Whether to wait for bytes that have not been written yet.
    package let isPipe: Bool
    /// Which of its lines are requested, if it is a results file.
    var results: RetryFilter?
    private let readBytes: @Sendable (_ offset: Int) throws(UsageError) -> [UInt8]

    /// - Parameter readBytes: Returns some of the bytes from the offset on; no bytes at the end.
    package init(
        name: String, size: Int? = nil, isPipe: Bool = false,
        readBytes: @escaping @Sendable (_ offset: Int) throws(UsageError) -> [UInt8]
    ) {
        (self.name, self.size, self.isPipe) = (name, size, isPipe)
        self.readBytes = readBytes
    }

    /// Creates a list with this text.
    package init(name: String, text: String) {
        let bytes = Array(text.utf8)
        self.init(name: name, size: bytes.count) { bytes.dropFirst($0).isEmpty ? [] : Array(bytes[$0...]) }
    }

    func read(at offset: Int) throws(UsageError) -> [UInt8] { try readBytes(offset) }
}
