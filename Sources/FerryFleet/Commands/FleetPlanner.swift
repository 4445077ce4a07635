import Ferry
import FerryCore
import FerryTerminal

/// Turns the arguments of the fleet's commands into values. Pure.
enum FleetPlanner {
    /// The number of rows in a partition of the tables.
    private static let partRows: ClosedRange<Int64> = FleetSchema.leaseRows...1_000_000_000
    private static let leases: ClosedRange<Duration> = .seconds(5)...Duration.seconds(86_400)
    private static let aheads: ClosedRange<Duration> = .zero...Duration.seconds(86_400)

    private static let priorities = -1000...1000
    private static let retentions: ClosedRange<Duration> = .zero...Duration.seconds(10_000 * 86_400)

    /// The batch that `ferry fleet add` stores.
    struct Addition: Sendable, Hashable {
        var name: String
        var directory: String
        var partRows: Int64
        var priority = 0
    }

    static func addition(_ arguments: FleetAddArguments) throws(UsageError) -> Addition {
        let into = arguments.into
        let prefix = try UploadTarget.prefix(into)
        guard prefix != nil || FleetBatch.isPlace(into) else {
            throw UsageError(
                "--into \(TextError.quote(into)): write an absolute path without . and .., for every worker")
        }
        guard partRows.contains(arguments.partRows), arguments.partRows % FleetSchema.leaseRows == 0 else {
            throw UsageError("--part-rows needs a multiple of 500, at most 1000000000")
        }
        let name = try FleetBatch.name(arguments.batch ?? standardName(arguments.list))
        return Addition(
            name: name, directory: prefix?.text ?? OwnProgram.absolute(into), partRows: arguments.partRows,
            priority: try priority(arguments.priority))
    }

    static func priority(_ number: Int) throws(UsageError) -> Int {
        guard priorities.contains(number) else { throw UsageError("a priority is a number from -1000 to 1000") }
        return number
    }

    /// The batches to remove.
    enum Removal: Sendable, Hashable {
        case named(String)
        /// The batches whose rows all ended at least this long ago.
        case done(Duration)
    }

    static func removal(_ arguments: FleetRemoveArguments) throws(UsageError) -> Removal {
        switch (arguments.batch, arguments.doneFor) {
        case (let name?, nil): .named(name)
        case (nil, let text?): .done(try duration(text, option: "--done-for", in: retentions))
        default: throw UsageError("give --batch or --done-for")
        }
    }

    /// The default name of a batch: the name of its list, with invalid characters replaced.
    static func standardName(_ list: String) -> String {
        let stem = FileExtension.split(Paths.name(of: list)).stem.asciiLowercased
        let name = stem.utf8.map { byte -> UInt8 in
            switch byte {
            case 0x61...0x7A, 0x30...0x39, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): byte
            default: UInt8(ascii: "-")
            }
        }
        let text = String(decoding: name.drop { !(0x61...0x7A ~= $0 || 0x30...0x39 ~= $0) }.prefix(64), as: UTF8.self)
        return text.isEmpty ? "batch" : text
    }

    /// The name of a host with a budget, in lower case.
    static func host(_ text: String) throws(UsageError) -> String {
        if text == BudgetTable.standard { return text }
        // In a URL, an IPv6 address is in brackets.
        let isAddress = text.utf8.contains(UInt8(ascii: ":"))
        guard let url = try? DownloadURL("http://\(isAddress ? "[\(text)]" : text)/"), url.path == "/",
            url.query == nil, url.port == 80, url.credentials == nil
        else { throw UsageError("\(TextError.quote(text)) is not a host name") }
        return FleetRow.host(of: url)
    }

    /// Parses a rate in starts per second.
    static func rate(_ text: String) throws(UsageError) -> Double {
        let number = text.dropping(suffix: "/s").map(String.init) ?? text
        guard number.utf8.allSatisfy({ 0x30...0x39 ~= $0 || $0 == UInt8(ascii: ".") }), let rate = Double(number),
            0.0001...100_000 ~= rate
        else { throw UsageError("--rate \(TextError.quote(text)): write it like 5/s or 0.5, from 0.0001 to 100000") }
        return rate
    }

    static func reasons(_ only: String?) throws(UsageError) -> [String]? {
        // Checked in the same way as for --retry-from.
        _ = try RetryFilter(only: only, directory: "/")
        return only?.split(at: ",").map(\.trimmedText)
    }

    private static func duration(
        _ text: String, option: String, in range: ClosedRange<Duration>
    ) throws(UsageError) -> Duration {
        do throws(TextError) {
            let duration = try DurationText.parse(text)
            guard range.contains(duration) else { throw TextError("it is too short or too long") }
            return duration
        } catch { throw UsageError("\(option): \(error.reason)") }
    }

    /// The port of a worker's metrics; `nil` if they are not served.
    static func metricsPort(_ arguments: WorkArguments) throws(UsageError) -> Int? {
        guard 0...65_535 ~= arguments.metricsPort ?? 0 else {
            throw UsageError("--metrics-port needs a number from 0 to 65535")
        }
        return arguments.metricsPort
    }

    /// Returns the plan of a worker from the arguments of `ferry work`.
    ///
    /// - Parameter standard: The options of `ferry get` with their defaults.
    static func work(
        _ arguments: WorkArguments, state directory: String, standard: GetOptions, world: PlanningWorld
    ) throws(UsageError) -> WorkerPlan {
        var options = standard
        options.run.parallel = arguments.parallel
        options.request.limitRate = arguments.limitRate
        let get = try GetPlanner.plan(of: [], options, world: world)
        var configuration = DownloadManager.Configuration.default(
            identifier: "fleet", directory: directory, stateDirectory: Paths.join(directory, "catalogue"))
        configuration.maxConcurrentDownloads = get.configuration.maxConcurrentDownloads
        configuration.rateLimit = get.configuration.rateLimit
        configuration.transfer = get.configuration.transfer
        try world.apply(arguments.common, secretsFor: arguments.headerServer, to: &configuration.transfer)
        let retries = try PlanningWorld.retries(arguments.retries, option: "--retries")
        // The worker itself delays rows whose server is unreachable, so that they occupy no slot of the manager. A server is given
        // up after as many failures as a row may have attempts.
        configuration.waitsForServers = false
        configuration.maxRetries = min(retries, DownloadRequest.mostRetries - 1) + 1
        // A worker has no user to wait for.
        configuration.waitsForUser = false
        // Another worker may hold the rows of listed downloads by now.
        configuration.parksListed = true
        var template = DownloadRequest(sources: [], destination: .directory(directory))
        template.syncsToDisk = !arguments.noFsync
        // Only this row has this path. An existing file is from a worker that was lost before it could report the file.
        template.onConflict = .overwrite
        template.maxRetries = 0
        template.network.allowsPrivate = arguments.allowPrivate
        let name = arguments.name ?? world.environment["HOSTNAME"] ?? "worker"
        guard 1...256 ~= name.utf8.count, PrintableText.escape(name) == name else {
            throw UsageError("--name needs 1 to 256 printable bytes")
        }
        return WorkerPlan(
            configuration: configuration, staging: Paths.join(directory, "staging"), template: template,
            bounds: try WorkerBounds(into: arguments.into ?? world.directory, allowsObjects: arguments.allowS3Sources),
            name: name, retries: retries,
            lease: try duration(arguments.lease, option: "--lease", in: leases),
            ahead: try duration(arguments.ahead, option: "--ahead", in: aheads),
            endsWhenDone: arguments.untilDone, allowsFailures: arguments.allowFailures, isVerbose: arguments.verbose)
    }
}
