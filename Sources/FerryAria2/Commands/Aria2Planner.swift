import Ferry
import FerryCore
import FerryTerminal
import HTTPTypes

/// Translates the arguments of aria2c into the plan of a `ferry get` or of a daemon. Pure except for its ``PlanningWorld``.
struct Aria2Planner {
    enum Job: Sendable {
        case downloads(Run)
        /// The command has `--enable-rpc`.
        case service(Aria2Service)
    }

    /// The plan of the command, and its settings apart from the downloads.
    struct Run: Sendable {
        var plan: GetPlan
        var output: Aria2Output
        var hooks: Aria2Hooks
        var life: Aria2Life
        /// Warnings about options and lines that have no effect.
        var warnings: [String]
    }

    /// The options of the command without its secrets.
    let values: Aria2Values
    /// The secret headers of the command, and the name and password of `--http-user`.
    let secrets: (headers: HTTPFields, user: String?)
    let world: PlanningWorld
    /// The options of `ferry get` without arguments.
    private let standard: GetOptions
    /// Makes the identifier of a download: 16 hexadecimal digits.
    private let makeGID: () -> String

    /// - Parameters:
    ///   - standard: The options of `ferry get` without arguments.
    ///   - absolute: Resolves a path for a daemon, whose working directory differs.
    ///   - gid: Makes the identifier of a download.
    static func plan(
        _ arguments: Aria2Arguments, standard: GetOptions, world: PlanningWorld,
        absolute: @escaping @Sendable (String) -> String = OwnProgram.absolute, gid: @escaping () -> String
    ) throws(Aria2Failure) -> Job {
        var world = world
        var values = arguments.values
        if !values.flag("no-conf"), let text = try settings(values["conf-path"], world) {
            values = try Aria2Files.settings(text).merged(with: values)
        }
        if let path = values["netrc-path"] { world.environment["NETRC"] = path }
        if let hosts = values["no-proxy"] { world.environment["no_proxy"] = hosts }
        if values.flag("enable-rpc") {
            world.absolute = absolute
            world.directory = Paths.parent(of: absolute("file"))
        }
        let secrets: (headers: HTTPFields, user: String?)
        do throws(UsageError) { secrets = try values.takeSecrets(world) } catch {
            throw Aria2Failure(.unknown, error.message)
        }
        let planner = Aria2Planner(values: values, secrets: secrets, world: world, standard: standard, makeGID: gid)
        return values.flag("enable-rpc")
            ? .service(try planner.service(arguments.words)) : .downloads(try planner.run(arguments.words))
    }

    private static func settings(_ path: String?, _ world: PlanningWorld) throws(Aria2Failure) -> String? {
        if let path { return try read(path, world) }
        let home = world.environment["HOME"]
        let places = [
            home.map { $0 + "/.aria2/aria2.conf" },
            (world.environment["XDG_CONFIG_HOME"] ?? home.map { $0 + "/.config" }).map { $0 + "/aria2/aria2.conf" },
        ]
        guard let path = places.compactMap(\.self).first(where: { world.kind($0) == .file }) else { return nil }
        return try read(path, world)
    }

    private static func read(_ path: String, _ world: PlanningWorld) throws(Aria2Failure) -> String {
        do throws(UsageError) { return try world.readText(path) } catch {
            throw Aria2Failure(.unknown, "Failed to open the file \(path), cause: \(error.message)")
        }
    }

    private func run(_ words: [String]) throws(Aria2Failure) -> Run {
        let planned = try items(words)
        var downloads = planned.items
        // The same file is fetched once.
        var seen: Set<GetPlan.Item> = []
        downloads.removeAll { item in
            guard case .request(var request) = item else { return false }
            request.id = nil
            return !seen.insert(.request(request)).inserted
        }
        guard !downloads.isEmpty || values["input-file"] != nil else {
            throw Aria2Failure(.unknown, "Specify at least one URL.")
        }
        var options = try options(values)
        // For redirects, all downloads share one netrc setting, so one entry with its own route disables it for all.
        if planned.hasOwnRoutes { options.request.netrc = false }
        options.run.parallel = try parallel ?? 5
        options.request.limitRate = try values.size("max-overall-download-limit").map { "\($0)" }
        options.request.connections = max(16, downloads.map { $0.request?.maxConnections ?? 1 }.max() ?? 1)
        let output = try Aria2Output(values)
        let plan: GetPlan
        do throws(UsageError) {
            plan = try GetPlanner.plan(of: downloads, options, world: world)
        } catch { throw Aria2Failure(.unknown, error.message) }
        return Run(plan: plan, output: output, hooks: Aria2Hooks(values), life: try life, warnings: planned.warnings)
    }

    private func service(_ words: [String]) throws(Aria2Failure) -> Aria2Service {
        let planned = try items(words)
        var warnings = planned.warnings
        if hasSecrets {
            warnings.append("credentials and secret headers of the command are not used for what clients add")
        }
        let ignored = Aria2Option.all.filter(\.isIgnoredWithRPC).map(\.name).sorted().filter { name in
            values[name].map { $0 != "false" } ?? false
        }
        if !ignored.isEmpty {
            let names = ignored.map { "--" + $0 }.joined(separator: ", ")
            warnings.append("ferry ignores \(names) with --enable-rpc")
        }
        let directory = values["dir"].flatMap { $0.isEmpty ? nil : $0 }.map(world.absolute) ?? world.directory
        // The defaults apply to every download that a client adds, from any server, so they exclude the command's secrets.
        var defaults = values.texts
        // These options belong to the command or to a single download.
        for name in ["dir", "out", "gid", "checksum"] { defaults[name] = nil }
        if !values.headers.isEmpty { defaults["header"] = values.headers.joined(separator: "\n") }
        let requests = planned.items.compactMap(\.request).map { request in
            var request = request
            // Converts the GID to the identifier that aria2's interface shows as this GID.
            request.id = request.id.flatMap { UInt64($0.rawValue, radix: 16) }.map(DownloadID.init(bits:))
            request.onDuplicate = .addAnother
            return request
        }
        return Aria2Service(
            port: try values.number("rpc-listen-port") ?? 6800,
            secret: values["rpc-secret"].flatMap { $0.isEmpty ? nil : $0 },
            directory: directory, parallel: try parallel ?? 5,
            rateLimit: try values.size("max-overall-download-limit"), defaults: defaults,
            requests: requests, life: try life, isQuiet: values.flag("quiet"), warnings: warnings)
    }

    private var parallel: Int? {
        get throws(Aria2Failure) { try values.number("max-concurrent-downloads") }
    }

    private var life: Aria2Life {
        get throws(Aria2Failure) {
            Aria2Life(
                process: try values.number("stop-with-process").map { Int32($0) },
                limit: try values.number("stop").flatMap { $0 > 0 ? .seconds($0) : nil })
        }
    }

    /// The downloads of the command with their secrets, and the warnings about them.
    private struct Planned {
        var items: [GetPlan.Item] = []
        var warnings: [String] = []
        /// Whether an entry of a list has its own route to the server.
        var hasOwnRoutes = false
    }

    /// Returns the downloads of the words and of the files that the options name. The secrets of the command are granted once
    /// for all of them.
    private func items(_ words: [String]) throws(Aria2Failure) -> Planned {
        var planned = Planned()
        if !values.ignored.isEmpty {
            planned.warnings = ["ferry ignores " + values.ignored.map { "--" + $0 }.joined(separator: ", ")]
        }
        var listed: [RoutedItem] = []
        if let path = values["input-file"] {
            let (entries, unknown) = try Aria2Files.entries(try Self.read(path, world))
            planned.warnings += unknown.map { "Unknown option: \($0)" }
            for entry in entries {
                if entry.values.headers.contains(where: { $0.utf8.hasPrefix("@") }) {
                    throw .option("header: a list cannot name a file")
                }
                let route: SecretGrant.Route = entry.values.bringsOwnRoute ? .ofEntry : .ofCommand
                for item in try items(entry.words, values.forEntry(entry.values)) {
                    listed.append(RoutedItem(item: item, route: route))
                }
            }
        }
        let documents = words.filter(isDocument) + [values["metalink-file"]].compactMap(\.self)
        for path in documents {
            for item in try documentItems(path) {
                if case .unusable(let line) = item {
                    planned.warnings.append(line)
                } else {
                    listed.append(RoutedItem(item: item))
                }
            }
        }
        let uris = words.filter { !isDocument($0) }
        var own: [GetPlan.Item] = []
        if values.flag("force-sequential") {
            for uri in uris { own += try items([uri], values) }
        } else if !uris.isEmpty {
            own = try items(uris, values)
        }
        let granted = try grantSecrets(to: listed, own, hasDocuments: !documents.isEmpty)
        planned.items = granted.items
        planned.warnings += granted.warnings
        planned.hasOwnRoutes = listed.contains { $0.route == .ofEntry }
        return planned
    }

    private func isDocument(_ word: String) -> Bool {
        (word.utf8.hasSuffix(".meta4") || word.utf8.hasSuffix(".metalink")) && world.kind(word) == .file
    }

    // MARK: Downloads

    /// Returns the download of these URIs. With both `-P` and `-Z`, returns one download for each expanded URI.
    private func items(_ words: [String], _ values: Aria2Values) throws(Aria2Failure) -> [GetPlan.Item] {
        var uris = words
        if values.flag("parameterized-uri") {
            uris = []
            for word in words { uris += try Aria2Pattern.expand(word) }
        }
        for uri in uris {
            let scheme = uri.lowercased()
            guard scheme.utf8.hasPrefix("http://") || scheme.utf8.hasPrefix("https://") else {
                throw Aria2Failure(.unknown, "Unrecognized URI or unsupported protocol: \(TextError.quote(uri))")
            }
        }
        if values.flag("parameterized-uri"), values.flag("force-sequential") {
            var items: [GetPlan.Item] = []
            for uri in uris { items.append(try item([uri], values)) }
            return items
        }
        return [try item(uris, values)]
    }

    private func item(_ uris: [String], _ values: Aria2Values) throws(Aria2Failure) -> GetPlan.Item {
        var options = try options(values)
        options.files.items = [uris[0]]
        var seen: Set<String> = [uris[0]]
        let mirrors = uris.filter { seen.insert($0).inserted }
        options.files.mirror = Array(mirrors.prefix(DownloadRequest.mostSources - 1))
        if let name = values["out"], !name.isEmpty { options.files.output = name == "-" ? "./-" : name }
        if let text = values["checksum"] {
            do throws(TextError) { _ = try Checksum(parsing: text) } catch { throw .option("--checksum: \(error)") }
            options.files.checksum = text
        }
        if values["referer"] == "*" { options.request.referer = uris[0] }
        let isSecure = uris[0].lowercased().utf8.hasPrefix("https://")
        options.request.proxy = try proxy(values, isSecure ? "https" : "http")
        var hosts: Set<String> = []
        for uri in uris { if let host = (try? DownloadURL(uri))?.host { hosts.insert(host) } }
        options.request.connections = try connections(values, hosts: max(1, hosts.count))
        guard let item = try planned(options).first, case .request(var request) = item else {
            throw Aria2Failure(.unknown, "Unrecognized URI or unsupported protocol: \(TextError.quote(uris[0]))")
        }
        try complete(&request, values)
        return .request(request)
    }

    private func documentItems(_ path: String) throws(Aria2Failure) -> [GetPlan.Item] {
        var options = try options(values)
        options.files.lists = [path]
        options.request.proxy = try proxy(values, "https")
        options.request.connections = try connections(values, hosts: 16)
        let items = try planned(options)
        if case .unusable(let line)? = items.first, !items.contains(where: { $0.request != nil }) {
            throw Aria2Failure(.metalink, line)
        }
        return try items.map { item throws(Aria2Failure) -> GetPlan.Item in
            guard case .request(var request) = item else { return item }
            try complete(&request, values)
            return .request(request)
        }
    }

    private func planned(_ options: GetOptions) throws(Aria2Failure) -> [GetPlan.Item] {
        if let directory = options.files.directory {
            do throws(UsageError) { try world.prepareDirectory(directory) } catch {
                throw Aria2Failure(.cannotMakeDirectory, error.message)
            }
        }
        do throws(UsageError) {
            return Array(try RequestPlanner.items(options.files, options.request, options.trust, world: world))
        } catch { throw Aria2Failure(.unknown, error.message) }
    }

    /// Sets the properties for which `ferry get` has no option, and looks for an unfinished file.
    private func complete(_ request: inout DownloadRequest, _ values: Aria2Values) throws(Aria2Failure) {
        let gid = values["gid"] ?? makeGID()
        guard gid.utf8.count == 16, let number = UInt64(gid, radix: 16), number != 0 else {
            throw .option("--gid must be 16 hexadecimal digits, and not 0")
        }
        request.id = DownloadID(rawValue: gid.lowercased())
        request.rateLimit = try values.size("max-download-limit")
        request.minSpeed = try values.size("lowest-speed-limit")
        request.startsPaused = values.flag("enable-rpc") && values.flag("pause")
        let path: String
        switch request.destination {
        case .file(let file): path = file
        case .directory(let directory, let name):
            var own = request.sources.first.map { SafeName.make(nil, url: $0, finalURL: nil) } ?? ""
            if case .exact(let exact) = name { own = exact }
            path = Paths.join(directory, own)
        case .part, .stream: return
        }
        // Samples of an unfinished file are compared before its bytes are used. Without a control file, aria2 treats the
        // existing bytes as the beginning of the file. A file that Ferry has downloaded is complete, whatever a control file
        // beside it says.
        let isHalf =
            (world.kind(path + ReservedName.aria2Control.text) == .file || values.flag("continue"))
            && !request.sources.contains { world.hasDownloaded(path, $0.text) }
        if isHalf, world.kind(path) == .file, world.kind(Paths.journal(of: path)) == .missing {
            request.destination = .part(path)
        }
    }

    // MARK: Options

    private func options(_ values: Aria2Values) throws(Aria2Failure) -> GetOptions {
        var options = standard
        options.files.directory = values["dir"].flatMap { $0.isEmpty ? nil : $0 }
        options.files.onConflict =
            values.flag("allow-overwrite")
            ? ConflictRule.overwrite.rawValue : values.flag("auto-file-renaming", default: true) ? nil : "fail"
        options.trust.noMtime = !values.flag("remote-time")
        options.request.common.header = values.headers
        options.request.common.userAgent = values["user-agent"]
        if let referer = values["referer"], referer != "*" { options.request.referer = referer }
        options.request.loadCookies = values["load-cookies"]
        options.request.caFile = values["ca-certificate"]
        options.request.insecure = !values.flag("check-certificate", default: true)
        options.request.ipv4 = values.flag("disable-ipv6")
        options.request.common.connectTimeout = try values.number("connect-timeout").map { "\($0)" }
        options.request.stallTimeout = try values.number("timeout").map { "\($0)" }
        let tries = try values.number("max-tries") ?? 5
        options.request.retries = tries == 0 ? "inf" : String(tries - 1)
        if let user = values["http-user"] {
            options.request.user = user + ":" + (values["http-passwd"] ?? "")
        } else {
            options.request.netrc = readsNetrc(values)
        }
        return options
    }

    /// Returns the maximum number of connections, as in aria2, except that `-s` and `-x`, where they are missing, limit it to
    /// 16 instead of to their small defaults.
    private func connections(_ values: Aria2Values, hosts: Int) throws(Aria2Failure) -> Int {
        let split = try values.number("split")
        let perServer = try values.number("max-connection-per-server")
        return min(split ?? 16, perServer.map { $0 * hosts } ?? 16, 256)
    }

    /// Returns the proxy for a scheme; `none` for an empty value, which overrides the environment.
    private func proxy(_ values: Aria2Values, _ scheme: String) throws(Aria2Failure) -> String? {
        guard let name = ["\(scheme)-proxy", "all-proxy"].first(where: { values[$0] != nil }), let text = values[name]
        else { return nil }
        if text.isEmpty { return "none" }
        guard let user = values["\(name)-user"] else { return text }
        let credentials = [user, values["\(name)-passwd"] ?? ""].map(PercentEncoding.encodeAll).joined(separator: ":")
        let bare = text.dropping(prefix: "http://") ?? text[...]
        let host = bare.utf8.lastIndex(of: UInt8(ascii: "@")).map { bare[bare.utf8.index(after: $0)...] } ?? bare
        return "http://\(credentials)@\(host)"
    }
}
