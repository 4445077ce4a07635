import Ferry
import FerryAPI
import FerryCore

/// Turns the arguments of `ferry sync` and `ferry repair` into options and requests. Pure except for its
/// ``PlanningWorld``.
struct SyncPlanner: Sendable {
    /// The options of the run, without files.
    private let options: GetOptions
    private let world: PlanningWorld

    init(
        _ standard: GetOptions, _ request: RequestOptions, _ trust: TrustOptions, _ run: RunOptions,
        _ show: OutputFlags,
        world: PlanningWorld
    ) {
        var options = standard
        (options.request, options.trust, options.run, options.show) = (request, trust, run, show)
        self.options = options
        self.world = world
    }

    /// Returns the plan of a run of these requests.
    func plan(_ requests: [DownloadRequest] = []) throws(UsageError) -> GetPlan {
        var plan = try GetPlanner.plan(of: requests.map { .request($0) }, options, world: world)
        plan.isOfSet = true
        return plan
    }

    /// Returns the request from which all others are derived. Prompts for credentials last.
    ///
    /// - Parameter url: A URL on the server that receives the credentials; `nil` if none is known, so that `--user` must name
    ///   the server.
    func template(for url: DownloadURL?) throws(UsageError) -> DownloadRequest {
        let planner = RequestPlanner(
            files: options.files, options: options.request, trust: options.trust, world: world)
        let headers = try planner.headers()
        let request = try planner.template(headers)
        var (credentials, server): (Credentials?, Origin?)
        if let text = options.request.user {
            let word = url == nil ? try UserWord(namingServer: text) : try UserWord(text)
            server = word.server
            credentials = try world.credentials(of: word)
        } else if let netrc = try planner.readNetrc() {
            guard let url else { throw UsageError("--netrc needs a URL, whose server gets the password") }
            credentials = netrc.credentials(for: url.host)
        }
        return SecretGrant.ofSet(request, credentials: credentials, headers: headers.secrets, server: server)
    }

    /// Returns the location of the set, with absolute, normalized paths.
    func destination(_ arguments: SyncArguments) throws(UsageError) -> SyncDestination {
        guard !arguments.destination.isEmpty else { throw UsageError.emptyDirectory }
        guard let prefix = try UploadTarget.prefix(arguments.destination) else {
            guard arguments.staging == nil else { throw UsageError("--staging needs s3://… as the destination") }
            return .directory(OwnProgram.plain(arguments.destination))
        }
        if arguments.backupDir != nil {
            throw UsageError("--backup-dir goes with a directory: a bucket keeps versions of objects itself")
        }
        return .objects(
            prefix, staging: OwnProgram.plain(arguments.staging ?? StateDirectory.staging(world.environment)))
    }

    func source(_ arguments: SyncArguments) throws(UsageError) -> (SetSource, SyncOptions) {
        var sync = SyncOptions()
        sync.filter = SetFilter(include: arguments.include, exclude: arguments.exclude)
        try bound(&sync.filter, arguments)
        if let depth = arguments.depth, depth < 0 { throw UsageError("--depth needs a number of 0 or more") }
        sync.maxDepth = arguments.depth
        sync.base = try arguments.base.map { text throws(UsageError) in
            // The last component of a base URL is a directory.
            try Self.url(text.utf8.hasSuffix("/") ? text : text + "/")
        }
        (sync.safeNames, sync.trustsListing) = (arguments.safeNames, arguments.trustListing)
        if !sync.safeNames, let home = world.environment["HOME"], Paths.isAbsolute(home),
            case .directory(let directory) = try destination(arguments), world.isPlace(home, directory)
        {
            throw UsageError(
                "hidden files of the source would be settings of your programs in \(arguments.destination): name a directory below it, or give --safe-names"
            )
        }
        sync.deletesGone = arguments.delete
        if let text = arguments.maxDelete {
            guard arguments.delete else { throw UsageError("--max-delete needs --delete") }
            guard let limit = DeletionLimit(text) else {
                throw UsageError(
                    "--max-delete needs a number of files, or a percentage up to 100%, not \(TextError.quote(text))")
            }
            sync.maxDeletions = limit
        }
        if let text = arguments.backupDir {
            if text.isEmpty { throw UsageError("--backup-dir needs a directory") }
            sync.backupDirectory = OwnProgram.plain(text)
        }
        let source: SetSource
        var server = sync.base
        let text = arguments.source
        if !text.utf8.contains("://"), world.kind(text) == .file {
            source = .file(text, base: sync.base)
        } else if text.utf8.contains("://") {
            let url = try Self.url(text)
            (source, server) = (.url(url), url)
        } else if world.kind(text) == .directory {
            try checkDirectory(text, arguments)
            source = .directory(OwnProgram.plain(text))
        } else {
            throw UsageError("there is no list \(text); a URL begins with https:// or http://")
        }
        if options.request.user != nil || options.request.netrc, case .file = source, sync.base == nil {
            throw UsageError("--user and --netrc are for the server of the source: give its URL, or --base URL")
        }
        sync.request = try template(for: server)
        switch arguments.onConflict {
        case nil, "fail": sync.replacesOthers = false
        case "overwrite": sync.replacesOthers = true
        case let word?:
            throw UsageError(
                "--on-conflict of ferry sync is fail (the default) or overwrite, not \(TextError.quote(word))")
        }
        return (source, sync)
    }

    /// Throws if a directory of this machine cannot be the source.
    private func checkDirectory(_ path: String, _ arguments: SyncArguments) throws(UsageError) {
        guard case .objects = try destination(arguments) else {
            let source = path.utf8.hasSuffix("/") ? path : path + "/"
            let words = "\(ShellWord.quote(source)) \(ShellWord.quote(arguments.destination))"
            throw UsageError(
                "\(path) is a directory: ferry sync stores it in s3://BUCKET/PREFIX/; rsync -a \(words) copies it here")
        }
        if arguments.base != nil { throw UsageError("--base is for the names in a list, and \(path) is a directory") }
        if options.request.user != nil || options.request.netrc {
            throw UsageError("--user and --netrc are for the server of the source, and \(path) is a directory")
        }
    }

    private func bound(_ filter: inout SetFilter, _ arguments: SyncArguments) throws(UsageError) {
        func size(_ text: String?, _ option: String) throws(UsageError) -> ByteCount? {
            guard let text else { return nil }
            return try PlanningWorld.size(text, option: option)
        }
        func time(_ text: String?, _ option: String) throws(UsageError) -> Duration? {
            guard let text else { return nil }
            return try PlanningWorld.duration(text, option: option)
        }
        filter.largerThan = try size(arguments.largerThan, "--larger-than")
        filter.smallerThan = try size(arguments.smallerThan, "--smaller-than")
        filter.newerThan = try time(arguments.newerThan, "--newer-than")
        filter.olderThan = try time(arguments.olderThan, "--older-than")
        if filter.hasBounds, arguments.delete {
            throw UsageError("--delete cannot be used with filters of size and age: what they leave out is not known")
        }
    }

    /// Returns the set for the daemon, with absolute paths. Throws for credentials, which the daemon does not keep, and for all
    /// other options that a set does not have, because the daemon has its own settings.
    func daemonSet(_ arguments: SyncArguments, standard: GetOptions) throws(UsageError) -> NewSet {
        if arguments.dryRun { throw UsageError("--dry-run and --daemon cannot be used together") }
        if arguments.backupDir != nil { throw UsageError("--backup-dir and --daemon cannot be used together") }
        let (run, usual) = (arguments.run, standard.run)
        for (isGiven, option) in [
            (run.parallel != usual.parallel, "-j"), (run.hostConnections != nil, "--host-connections"),
            (run.domainConnections != nil, "--domain-connections"), (run.hostDelay != nil, "--host-delay"),
            (run.sharedGroup, "--shared-group"), (run.failWhenRefused, "--fail-when-refused"),
            (arguments.request.limitRate != nil, "--limit-rate"), (arguments.request.user != nil, "--user"),
            (arguments.request.netrc, "--netrc"), (arguments.show.print0, "--print0"),
            (arguments.show.verbose, "--verbose"),
        ] where isGiven { throw Self.refuse(option) }
        let (source, options) = try source(arguments)
        let plain = SyncPlanner(
            standard, standard.request, standard.trust, standard.run, standard.show, world: world)
        if options.request != (try plain.template(for: nil)) { throw Self.refuse("an option of requests") }
        if options.filter.hasBounds { throw Self.refuse("a filter of size or age") }
        guard case .directory(let directory) = try destination(arguments) else {
            throw UsageError("a set of the daemon is kept in a directory: leave out --daemon to sync into s3://")
        }
        var set = NewSet(directory: directory)
        switch source {
        case .url(let url): set.url = try Self.withoutCredentials(url)
        case .file(let path, _): set.list = OwnProgram.absolute(path)
        case .directory, .entries: break
        }
        if !arguments.include.isEmpty { set.include = arguments.include }
        if !arguments.exclude.isEmpty { set.exclude = arguments.exclude }
        set.depth = options.maxDepth
        set.base = try options.base.map { url throws(UsageError) in try Self.withoutCredentials(url) }
        if options.safeNames { set.safeNames = true }
        if options.trustsListing { set.trustsListing = true }
        if options.deletesGone { set.deletesGone = true }
        set.maxDelete = arguments.maxDelete
        if options.replacesOthers { set.replacesOthers = true }
        return set
    }

    private static func refuse(_ option: String) -> UsageError {
        UsageError("\(option) cannot be used with --daemon, which has its own settings")
    }

    private static func withoutCredentials(_ url: DownloadURL) throws(UsageError) -> String {
        guard url.credentials == nil else {
            throw UsageError("the daemon keeps no credentials for a set: leave out --daemon")
        }
        return url.text
    }

    static func url(_ text: String) throws(UsageError) -> DownloadURL {
        do throws(DownloadError) { return try DownloadURL(text) } catch { throw UsageError(error.reason) }
    }
}
