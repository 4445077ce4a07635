import Ferry
import FerryCore
import HTTPTypes

extension RequestPlanner {
    /// Returns the headers of the command, including secret ones.
    func headers() throws(UsageError) -> HTTPFields {
        try world.headers(options.common.header + cookieFields, referer: options.referer)
    }

    /// Returns the request fields that all files of the command share. Includes only the `headers` that are not secret.
    func template(_ headers: HTTPFields) throws(UsageError) -> DownloadRequest {
        var request = DownloadRequest(sources: [], destination: .directory(directory))
        request.uploadTo = upload?.object
        request.onConflict = try conflictRule()
        request.headers = headers.withoutSecrets
        if options.ipv4, options.ipv6 { throw UsageError("-4 and -6 contradict each other") }
        if options.ipv4 || options.ipv6 { request.connection.addressFamily = options.ipv4 ? .v4 : .v6 }
        guard options.cookieFiles.count <= 1 else { throw UsageError("--load-cookies takes one file") }
        for option in CommonOptions.table { try option.apply(options.common, to: &request, world) }
        for option in RequestOptions.table { try option.apply(options, to: &request, world) }
        for option in TrustOptions.table { try option.apply(trust, to: &request, world) }
        if options.noPrivate { request.network.allowsPrivate = false }
        if let text = files.checksum, localChecksums == nil {
            if let list = text.dropping(prefix: "@") {
                do throws(UsageError) {
                    request.checksumList =
                        list.utf8.contains("://") ? try url(String(list)) : try urlWithoutScheme(String(list))
                } catch { throw UsageError("--checksum: \(error.reason)") }
            } else if text == "none" {
                request.ignoresEarlierChecksum = true
            } else {
                do {
                    request.checksum = try Checksum(parsing: text)
                } catch {
                    throw UsageError("--checksum: \(error.reason)")
                }
            }
        }
        return request
    }

    /// The values of `--cookie` that are cookies.
    private var cookieFields: [String] { options.cookie.filter { $0.utf8.contains("=") }.map { "Cookie: " + $0 } }

    private func conflictRule() throws(UsageError) -> ConflictRule {
        guard let text = files.onConflict else { return .rename }
        guard let rule = ConflictRule(rawValue: text) else {
            throw UsageError("--on-conflict is one of rename, overwrite, fail, skip, not \(TextError.quote(text))")
        }
        return rule
    }

    /// Returns the requests for the command's arguments.
    mutating func items(_ targets: [Target], template: DownloadRequest) throws(UsageError) -> [GetPlan.Item] {
        if targets.count == 2, case .part(let path) = targets[0], case .url(let url) = targets[1] {
            var request = template
            request.sources = try sources(url)
            request.destination = .part(path)
            return [.request(try withChecksum(request))]
        }
        var items: [GetPlan.Item] = []
        var replaced: Set<String> = []
        for (index, target) in targets.enumerated() {
            var request = template
            switch target {
            case .url(let url):
                request.sources = try sources(url)
                if let upload {
                    let name = try names?.path(for: url, line: index + 1, number: index + 1)
                    request.uploadTo = try upload.object(named: name)
                    try prepare(upload.staging)
                } else {
                    request.destination = try destination(of: url, number: index + 1)
                    // The second file would replace the first one.
                    if request.onConflict == .overwrite, case .file(let path) = request.destination,
                        !replaced.insert(path).inserted
                    {
                        throw UsageError("several of the URLs would be written to \(path): give each a name of its own")
                    }
                }
                items.append(.request(goingOn(try withChecksum(request))))
            case .part(let path):
                request.destination = .part(path)
                items.append(.request(try withChecksum(request)))
            case .directory(let path):
                items.append(.parts(directory: path, request))
            }
        }
        return items
    }

    /// Returns the directory or name of an entry that is not below the current download directory or the working
    /// directory, or is hidden there; `nil` if there is none.
    private func placeElsewhere(_ entry: URLList.Entry) -> String? {
        let places = [entry.dir, entry.out].compactMap(\.self)
        guard !places.isEmpty else { return nil }
        let homes = [world.absolute(directory), world.directory].map(OwnProgram.plain)
        func staysBelow(_ place: String) -> Bool {
            var rest = place
            if Paths.isAbsolute(place) {
                guard let home = homes.first(where: { Paths.isPlace(place, in: $0) }) else { return false }
                rest = String(decoding: place.utf8.dropFirst(home.utf8.count), as: UTF8.self)
            }
            return rest.split(at: "/").allSatisfy { $0.utf8.elementsEqual(".".utf8) || !$0.utf8.hasPrefix(".") }
        }
        return places.first { !staysBelow($0) }
    }

    /// Returns the request of a list entry, after preparing its directory.
    ///
    /// - Parameters:
    ///   - number: The number of the entry in the run.
    mutating func request(
        _ entry: URLList.Entry, template: DownloadRequest, number: Int
    ) throws(UsageError) -> DownloadRequest {
        if !files.trustList, let place = placeElsewhere(entry) {
            throw UsageError(
                "\(TextError.quote(place)) leads out of the directory in use, or to a hidden name; --trust-list allows it"
            )
        }
        var request = template
        request.sources = entry.urls.map { SecretGrant.with(netrc, $0) }
        let own = decidesChecksums ? nil : entry.checksum
        request.checksum = own ?? template.checksum
        request.expectedBytes = entry.size
        if !template.ignoresEarlierChecksum { request.pieces = entry.pieces }
        for field in try PlanningWorld.permitted(entry.headers) { request.headers.append(field) }
        if let upload, let url = entry.urls.first {
            var name = entry.out
            if name == nil { name = try names?.path(for: url, line: entry.line, number: number) }
            request.uploadTo = try upload.object(named: name, in: entry.dir)
            try prepare(upload.staging)
            return own == nil ? try withChecksum(request) : request
        }
        let directory = entry.dir.map(world.absolute) ?? self.directory
        if let out = entry.out {
            request.destination = .file(try file(Paths.join(directory, out)))
        } else if let names, !names.isOfContent, let url = entry.urls.first {
            let name = try names.path(for: url, line: entry.line, number: number)
            request.destination = .file(try file(Paths.join(directory, name)))
        } else {
            request.destination = .directory(directory)
            try prepare(directory)
        }
        return goingOn(own == nil ? try withChecksum(request) : request)
    }

    /// With `-c`, returns a request that resumes an existing file which another program began. Its bytes are compared
    /// first. If they differ from the server's, the request fails instead of choosing another name silently.
    private func goingOn(_ request: DownloadRequest) -> DownloadRequest {
        guard files.familiar.goesOn, request.uploadTo == nil, let url = request.sources.first else { return request }
        let path: String
        switch request.destination {
        case .file(let named): path = named
        case .directory(let directory, .exact(let name)): path = Paths.join(directory, name)
        case .directory(let directory, _): path = Paths.join(directory, SafeName.make(nil, url: url, finalURL: nil))
        case .part, .stream: return request
        }
        guard world.kind(path) == .file, ReservedName(Paths.name(of: path)) == nil,
            world.journalOrigins(path + ReservedName.part.text).isEmpty, !world.hasDownloaded(path, url.text)
        else { return request }
        var request = request
        let isEmpty = world.fileSize(path) == 0
        if files.onConflict == nil { request.onConflict = isEmpty ? .overwrite : .fail }
        request.destination = isEmpty ? .file(path) : .part(path)
        return request
    }

    /// Whether `--checksum` replaces the checksums of a list: `none` replaces all of them, any other value those of an
    /// earlier run, which are older than this command.
    private var decidesChecksums: Bool {
        files.checksum == "none" || files.checksum != nil && files.retryFrom != nil
    }

    /// Returns the request with its checksum from the file of `--checksum @FILE`: the checksum of the name in the URL, otherwise
    /// of the name that the user specifies.
    private func withChecksum(_ request: DownloadRequest) throws(UsageError) -> DownloadRequest {
        guard let (path, list) = checksums else { return request }
        var names = request.sources.prefix(1).map { SafeName.make(nil, url: $0, finalURL: nil) }
        switch request.destination {
        case .file(let path): names.append(Paths.name(of: path))
        case .part(let path):
            let name = Paths.name(of: path)
            let stem = [ReservedName.journal, .part].lazy.compactMap { name.dropping(suffix: $0.text) }.first
            names.append(String(stem ?? name[...]))
        case .directory, .stream: break
        }
        guard let checksum = names.lazy.compactMap(list.checksum(for:)).first else {
            throw UsageError("--checksum: \(path) has no checksum of \(names.joined(separator: " or "))")
        }
        var request = request
        request.checksum = checksum
        return request
    }

    private func sources(_ url: DownloadURL) throws(UsageError) -> [DownloadURL] {
        var sources = [url]
        for mirror in files.mirror { sources.append(try self.url(mirror)) }
        return sources.map { SecretGrant.with(netrc, $0) }
    }

    /// The directory of files without a directory of their own.
    var directory: String { upload?.staging ?? files.directory.map(world.absolute) ?? world.directory }

    /// The descriptor of this process that a value of `-o` stands for.
    static func descriptor(_ output: String) -> Int32? {
        switch output {
        case "-", "/dev/stdout": return 1
        case "/dev/stderr": return 2
        default:
            let number = output.dropping(prefix: "/dev/fd/") ?? output.dropping(prefix: "/proc/self/fd/")
            return number.flatMap { Int32($0) }.flatMap { $0 > 0 ? $0 : nil }
        }
    }

    private mutating func destination(
        of url: DownloadURL, number: Int
    ) throws(UsageError) -> DownloadRequest.Destination {
        switch files.output {
        case let output?:
            if let descriptor = Self.descriptor(output) {
                guard descriptor <= 2 || world.kind(output) != .missing else {
                    throw UsageError("-o \(output): the descriptor is not open")
                }
                return .stream(descriptor)
            }
            guard !output.isEmpty else { throw UsageError("-o needs a name") }
            let path = Paths.join(directory, output)
            if files.familiar.keepsDirectories, world.kind(Paths.parent(of: path)) == .missing {
                throw UsageError("there is no directory \(Paths.parent(of: path)); --create-dirs makes it", code: .disk)
            }
            if world.kind(path) == .stream { return .stream(try world.openStream(path)) }
            return .file(try file(path))
        case nil:
            if let names, !names.isOfContent {
                var name = names.isName ? Self.dotName(of: url) : nil
                if name == nil { name = try names.path(for: url, line: number, number: number) }
                return .file(try file(Paths.join(directory, name ?? "")))
            }
            try prepare(directory)
            return .directory(directory, name: Self.dotName(of: url).map { .exact($0) } ?? .suggested)
        }
    }

    /// Returns the name of a dot file at the end of a URL on the command line, where the user sees it; `nil` for every
    /// other URL. No server, redirect or list can choose such a name.
    private static func dotName(of url: DownloadURL) -> String? {
        let name = String(decoding: url.lastPathSegment, as: UTF8.self)
        guard let rest = name.dropping(prefix: ".").map(String.init),
            SafeName.sanitize(rest)?.utf8.elementsEqual(rest.utf8) == true
        else { return nil }
        return name
    }

    private mutating func file(_ path: String) throws(UsageError) -> String {
        let name = Paths.name(of: path)
        guard !path.utf8.hasSuffix("/"), name != ".", name != "..", world.kind(path) != .directory else {
            throw UsageError("\(path) is a directory; -d puts files into one")
        }
        try prepare(Paths.parent(of: path))
        return path
    }

    private static let mostPrepared = 1000

    private mutating func prepare(_ directory: String) throws(UsageError) {
        guard !directory.isEmpty else { throw UsageError("-d needs a directory") }
        if preparedDirectories.contains(directory) { return }
        try world.prepareDirectory(directory)
        if preparedDirectories.count == Self.mostPrepared { preparedDirectories = [] }
        preparedDirectories.insert(directory)
    }
}
