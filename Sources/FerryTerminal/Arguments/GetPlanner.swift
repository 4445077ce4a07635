import Ferry
import FerryCore
import HTTPTypes

/// Turns the arguments of `ferry get` into a plan. Pure except for its ``PlanningWorld``.
package struct GetPlanner: Sendable {
    let options: GetOptions
    let world: PlanningWorld
    /// Some of the directories already prepared, so that a list of thousands of files prepares each seldom.
    var preparedDirectories: Set<String> = []
    var netrc: Netrc?

    private init(_ options: GetOptions, _ world: PlanningWorld) {
        self.options = options
        self.world = world
    }

    /// Returns the plan.
    ///
    /// - Throws: The first error. Directories are created and passwords requested only after all other checks.
    package static func plan(_ options: GetOptions, world: PlanningWorld) throws(UsageError) -> GetPlan {
        var planner = GetPlanner(options, world)
        let output = try planner.outputOptions()
        let targets = try planner.targets()
        try planner.checkSingles(targets)
        let configuration = try planner.configuration()
        let template = try planner.template()
        planner.netrc = try planner.readNetrc()
        let lists = try planner.openLists()
        let arguments = try planner.items(targets, template: template)
        var items = PlannedItems(arguments: arguments, lists: lists, planner: planner, template: template)
        items.grant = try planner.grant(for: items, targets)
        return GetPlan(configuration: configuration, items: items, output: output)
    }

    /// Parses `--header` and `--user` for an existing download, whose server receives them.
    static func access(
        headers: [String], user: String?, world: PlanningWorld
    ) throws(UsageError) -> (headers: HTTPFields, credentials: Credentials?) {
        var options = GetOptions()
        options.headers = headers
        options.user = user
        let planner = GetPlanner(options, world)
        return (try planner.headers(), try planner.credentials())
    }

    // MARK: Classification of arguments

    /// The kind of a positional argument.
    enum Target: Hashable {
        case url(DownloadURL)
        case part(String)
        case directory(String)
    }

    private func targets() throws(UsageError) -> [Target] {
        guard !(options.items.isEmpty && options.lists.isEmpty) else {
            throw UsageError("no URL given: give a URL, a part file, a directory, or -i LIST")
        }
        var targets: [Target] = []
        for item in options.items { targets.append(try target(item)) }
        let hasPart = targets.contains { if case .part = $0 { true } else { false } }
        let hasURL = targets.contains { if case .url = $0 { true } else { false } }
        if hasPart, hasURL {
            guard targets.count == 2, case .part = targets[0] else {
                throw UsageError("a new URL goes with one part file: ferry get NAME.part NEWURL")
            }
        }
        return targets
    }

    private func target(_ item: String) throws(UsageError) -> Target {
        if !item.utf8.contains("://") {
            let isPart = item.utf8.hasSuffix(".part") || item.utf8.hasSuffix(".part.ferry")
            switch world.kind(item) {
            case .directory: return .directory(item)
            case .file where isPart: return .part(item)
            case .file: throw UsageError("\(item) is a file and not a part file; to read URLs from it use -i")
            case .missing where isPart: throw UsageError("there is no part file \(item)")
            case .missing: break
            }
        }
        return .url(try url(item))
    }

    func url(_ text: String) throws(UsageError) -> DownloadURL {
        do {
            return try DownloadURL(text)
        } catch {
            throw UsageError(error.message)
        }
    }

    /// Checks the options that are valid for a single file only.
    private func checkSingles(_ targets: [Target]) throws(UsageError) {
        let urls = targets.count { if case .url = $0 { true } else { false } }
        let hasOneURL = urls == 1 && options.lists.isEmpty
        let hasOneFile =
            options.lists.isEmpty && (hasOneURL || (targets.count == 1 && urls == 0)) && !hasDirectory(targets)
        if options.output != nil {
            guard hasOneURL, targets.count == 1 else {
                throw UsageError("-o needs exactly one URL; in lists write out= under each URL")
            }
        }
        if !options.mirrors.isEmpty, !hasOneURL {
            throw UsageError(
                "--mirror needs exactly one URL; in lists write mirrors on one line, with tabs between them")
        }
        if let checksum = options.checksum, !checksum.utf8.hasPrefix("@"), !hasOneFile {
            throw UsageError("--checksum ALG:HEX needs exactly one URL; use --checksum @URL, or checksum= in a list")
        }
        if options.directory != nil, targets.contains(where: { if case .url = $0 { false } else { true } }) {
            throw UsageError("-d cannot be used with part files: they go on where they are")
        }
    }

    private func hasDirectory(_ targets: [Target]) -> Bool {
        targets.contains { if case .directory = $0 { true } else { false } }
    }

    private func outputOptions() throws(UsageError) -> OutputOptions {
        if options.quiet, options.verbose { throw UsageError("-q and -v contradict each other") }
        if options.json, options.print0 { throw UsageError("--json and --print0 cannot be used together") }
        let isStream = options.output == "-"
        if options.json, isStream { throw UsageError("--json and -o - both need standard output") }
        return OutputOptions(
            result: isStream ? .body : options.json ? .json : .paths(end: options.print0 ? 0 : 0x0A),
            detail: options.quiet ? .quiet : options.verbose ? .verbose : .normal,
            showsProgress: !(options.noProgress || options.quiet || options.json))
    }

    // MARK: Input files

    private func readNetrc() throws(UsageError) -> Netrc? {
        guard options.netrc, options.user == nil else { return nil }
        let path = world.environment["NETRC"] ?? world.environment["HOME"].map { Paths.join($0, ".netrc") }
        guard let path else { throw UsageError("--netrc: neither NETRC nor HOME is set") }
        let text = try read(path, what: "netrc file")
        do {
            return try Netrc(text)
        } catch {
            throw UsageError("\(path): \(error)")
        }
    }

    func read(_ path: String, what: String) throws(UsageError) -> String {
        try reading(what, path) { path throws(UsageError) in try world.readText(path) }
    }

    private func reading<Value>(
        _ what: String, _ path: String, _ body: (String) throws(UsageError) -> Value
    ) throws(UsageError) -> Value {
        do {
            return try body(path)
        } catch {
            throw UsageError("cannot read \(what) \(path == "-" ? "from standard input" : path): \(error.message)")
        }
    }

    private func openLists() throws(UsageError) -> [ListFile] {
        guard options.lists.count(where: { $0 == "-" }) <= 1 else {
            throw UsageError("-i - can be given once: there is one standard input")
        }
        var lists: [ListFile] = []
        for path in options.lists {
            lists.append(try reading("list", path) { path throws(UsageError) in try world.openList(path) })
        }
        return lists
    }
}
