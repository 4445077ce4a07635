import Ferry
import FerryCore
import HTTPTypes

/// Converts the arguments of `ferry get` and `ferry add` into requests. Pure except for its ``PlanningWorld``.
package struct RequestPlanner: Sendable {
    let files: FileOptions
    let options: RequestOptions
    let trust: TrustOptions
    let world: PlanningWorld
    /// Directories that were already prepared, up to a limit, so that few directories of a long list are prepared twice.
    var preparedDirectories: Set<String> = []
    var netrc: Netrc?
    /// The checksum file on this machine that `--checksum @FILE` names.
    var checksums: (path: String, list: ChecksumList)?
    /// The name template for entries without a name.
    var names: NameTemplate?
    /// The destination of uploads; `nil` if files are not uploaded.
    var upload: UploadTarget?
    /// The secret headers of the command, for the servers of the ``SecretGrant``.
    var secretHeaders = HTTPFields()

    /// Returns the items of the command.
    ///
    /// - Throws: The first error. Directories are created and passwords requested only after all other checks.
    package static func items(
        _ files: FileOptions, _ options: RequestOptions, _ trust: TrustOptions, world: PlanningWorld
    ) throws(UsageError) -> PlannedItems {
        var files = files
        let documents = files.items.filter { Self.isDocument($0) && world.kind($0) == .file }
        files.items.removeAll { documents.contains($0) }
        files.lists += documents
        var planner = RequestPlanner(files: files, options: options, trust: trust, world: world)
        let targets = try planner.targets()
        try planner.checkSingles(targets)
        planner.upload = try UploadTarget(of: files, world)
        let headers = try planner.headers()
        planner.secretHeaders = headers.secrets
        let template = try planner.template(headers)
        planner.names =
            files.dedup
            ? try NameTemplate(parsing: files.name ?? NameTemplate.content, isOfContent: true)
            : try files.name.map { text throws(UsageError) in try NameTemplate(parsing: text) }
        let shard = try files.shard.map { text throws(UsageError) in try HostShard(parsing: text) }
        planner.netrc = try planner.readNetrc()
        planner.checksums = try planner.readChecksums()
        let lists = try planner.openLists()
        let arguments = try planner.items(targets, template: template)
        var items = PlannedItems(arguments: arguments, lists: lists, planner: planner, template: template, shard: shard)
        items.grant = try planner.grant(for: items, targets)
        return items
    }

    /// Whether the file name is that of a Metalink document, which is read as a list.
    private static func isDocument(_ name: String) -> Bool {
        name.utf8.hasSuffix(".meta4") || name.utf8.hasSuffix(".metalink")
    }

    /// Returns the limit in bytes per second; `nil` for none.
    static func rateLimit(_ options: RequestOptions) throws(UsageError) -> ByteCount? {
        guard let text = options.limitRate else { return nil }
        let rate = try PlanningWorld.rate(text, option: "--limit-rate")
        return rate > 0 ? rate : nil
    }

    // MARK: Classification of arguments

    /// The kind of a positional argument.
    enum Target: Hashable {
        case url(DownloadURL)
        case part(String)
        case directory(String)
    }

    private func targets() throws(UsageError) -> [Target] {
        if files.retryFrom != nil {
            guard files.items.isEmpty, files.lists.isEmpty else {
                throw UsageError("--retry-from takes the place of URLs and lists; give no others")
            }
            return []
        }
        guard !(files.items.isEmpty && files.lists.isEmpty) else {
            throw UsageError("no URL given: give a URL, a part file, a directory, or -i LIST")
        }
        var targets: [Target] = []
        for item in files.items {
            let target = try target(item)
            if !targets.contains(target) { targets.append(target) }
        }
        let hasPart = targets.contains { if case .part = $0 { true } else { false } }
        let hasURL = targets.contains { if case .url = $0 { true } else { false } }
        if hasPart, hasURL {
            guard targets.count == 2, case .part = targets[0] else {
                throw UsageError("a new URL needs exactly one part file: ferry get NAME.part NEWURL")
            }
        }
        return targets
    }

    private func target(_ item: String) throws(UsageError) -> Target {
        // For example after wget's `-O -`: `-O` takes no name here, so `-` remains as an argument.
        if item.hasSameBytes(as: "-") {
            throw UsageError("-: to write to standard output, use -o -; to read URLs from standard input, -i -")
        }
        if !item.utf8.contains("://") {
            let isPart = [ReservedName.part, .journal].contains { item.utf8.hasSuffix($0.text) }
            switch world.kind(item) {
            case .directory: return .directory(item)
            case .file where isPart: return .part(item)
            case .file where files.items.contains(where: { $0.utf8.contains("://") }): return .part(item)
            case .file:
                throw UsageError(
                    "\(item) is not a part file of ferry; to continue it: ferry get \(ShellWord.quote(item)) URL; "
                        + "to read URLs from it use -i")
            case .stream: throw UsageError("\(item) is a file and not a part file; to read URLs from it use -i")
            case .missing where isPart: throw UsageError("there is no part file \(item)")
            case .missing: return .url(try urlWithoutScheme(item))
            }
        }
        return .url(try url(item))
    }

    /// Returns the https URL for `HOST/PATH`, where the host is a name with a dot, an address or `localhost`.
    func urlWithoutScheme(_ text: String) throws(UsageError) -> DownloadURL {
        let host = text.utf8.prefix { $0 != UInt8(ascii: "/") }
        let isHost = host.contains(UInt8(ascii: ".")) || host.starts(with: "localhost".utf8)
        guard isHost, host.count < text.utf8.count, let first = host.first, first != UInt8(ascii: "."),
            let url = try? DownloadURL("https://" + text)
        else {
            throw UsageError(
                "\(TextError.quote(text)) is neither a file here nor a URL: a URL begins with https:// or http://")
        }
        return url
    }

    func url(_ text: String) throws(UsageError) -> DownloadURL {
        do {
            return try DownloadURL(text)
        } catch {
            throw UsageError(error.reason)
        }
    }

    /// Checks the options that are valid for a single file only.
    private func checkSingles(_ targets: [Target]) throws(UsageError) {
        let urls = targets.count { if case .url = $0 { true } else { false } }
        if files.only != nil, files.retryFrom == nil { throw UsageError("--only needs --retry-from") }
        if files.shard != nil, files.lists.isEmpty, files.retryFrom == nil {
            throw UsageError("--shard divides a list; give -i LIST")
        }
        if files.trustList, files.lists.isEmpty, files.retryFrom == nil {
            throw UsageError("--trust-list needs -i LIST or --retry-from FILE")
        }
        if files.dedup, let option = files.output != nil ? "-o" : files.onConflict != nil ? "--on-conflict" : nil {
            throw UsageError("--dedup and \(option) cannot be used together")
        }
        if files.name != nil || files.dedup, targets.contains(where: { if case .url = $0 { false } else { true } }) {
            let option = files.dedup ? "--dedup" : "--name"
            throw UsageError("\(option) works only with URLs and lists: part files keep their names")
        }
        if options.netrc, urls == 0, files.lists.isEmpty, files.retryFrom == nil {
            throw UsageError("--netrc works only with URLs and lists; with a part file alone write --user NAME@HOST")
        }
        if files.name != nil, files.retryFrom != nil, !files.dedup {
            throw UsageError("--name and --retry-from cannot be used together: each file keeps its path")
        }
        if files.name != nil, files.output != nil { throw UsageError("--name and -o cannot be used together") }
        let hasOneURL = urls == 1 && files.lists.isEmpty
        let hasOneFile =
            files.lists.isEmpty && (hasOneURL || (targets.count == 1 && urls == 0)) && !hasDirectory(targets)
        if files.output != nil {
            guard hasOneURL, targets.count == 1 else {
                throw UsageError("-o needs exactly one URL; in lists write out= under each URL")
            }
        }
        if !files.mirror.isEmpty, !hasOneURL {
            throw UsageError(
                "--mirror needs exactly one URL; in lists write mirrors on one line, with spaces between them")
        }
        if let checksum = files.checksum, !checksum.utf8.hasPrefix("@"), checksum != "none", !hasOneFile {
            throw UsageError("--checksum ALG:HEX needs exactly one URL; use --checksum @FILE, or checksum= in a list")
        }
        if localChecksums != nil, hasDirectory(targets) {
            throw UsageError("--checksum @FILE goes with URLs and part files, not with directories")
        }
        if files.directory != nil, targets.contains(where: { if case .url = $0 { false } else { true } }) {
            throw UsageError("-d cannot be used with part files: they stay where they are")
        }
    }

    private func hasDirectory(_ targets: [Target]) -> Bool {
        targets.contains { if case .directory = $0 { true } else { false } }
    }

    // MARK: Input files

    /// Reads the `--netrc` file; `nil` without the option, or if `--user` takes precedence.
    func readNetrc() throws(UsageError) -> Netrc? {
        guard options.netrc, options.user == nil else { return nil }
        let path = world.environment["NETRC"] ?? world.environment["HOME"].map { Paths.join($0, ".netrc") }
        guard let path else { throw UsageError("--netrc: neither NETRC nor HOME is set") }
        let text = try world.read(path, what: "netrc file")
        do {
            return try Netrc(text)
        } catch {
            throw UsageError("\(path): \(error)")
        }
    }

    /// The path that `--checksum @FILE` names; `nil` for a URL.
    var localChecksums: String? {
        guard let text = files.checksum?.dropping(prefix: "@"), !text.utf8.contains("://") else { return nil }
        return world.kind(String(text)) == .missing ? nil : String(text)
    }

    private func readChecksums() throws(UsageError) -> (path: String, list: ChecksumList)? {
        guard let path = localChecksums else { return nil }
        let list = ChecksumList(try world.read(path, what: "checksum file"))
        guard !list.entries.isEmpty else { throw UsageError("--checksum: there is no checksum in \(path)") }
        return (path, list)
    }

    private func openLists() throws(UsageError) -> [ListFile] {
        guard files.lists.count(where: { $0 == "-" }) <= 1 else {
            throw UsageError("-i - can be given only once: there is one standard input")
        }
        var lists: [ListFile] = []
        for path in files.lists {
            lists.append(
                try PlanningWorld.naming("list", path) { () throws(UsageError) in try world.openList(path) })
        }
        if let path = files.retryFrom {
            let filter = try RetryFilter(only: files.only, directory: OwnProgram.plain(directory))
            var list = try PlanningWorld.naming("list", path) { () throws(UsageError) in try world.openList(path) }
            list.results = filter
            lists.append(list)
        }
        return lists
    }
}
