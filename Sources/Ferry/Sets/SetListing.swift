import FerryCore
import FerryEngine
import HTTPTypes
import NIOCore
import SystemPackage

/// What a source lists.
struct SetListing: Sendable {
    var entries: [SetEntry] = []
    /// What of the source cannot be used. Without any, a file that is not listed is gone from the source.
    var problems: [Reason] = []

    /// The paths of all listed files, also of those that are not wanted.
    var paths: Set<FilePath> = []
    /// The paths of directories of an index without anything in them.
    var emptyDirectories: [String] = []
    /// The URL of the first page of an index; `nil` of a list.
    var root: DownloadURL?
    /// The place of each wanted file in ``entries``.
    private var places: [FilePath: Int] = [:]

    /// Adds entries. Of two with one path the one that has it by itself counts, else the first: one file would replace
    /// the other.
    mutating func add(_ new: [SetEntry], _ filter: SetFilter) {
        for entry in new {
            paths.insert(entry.key)
            guard filter.accepts(entry.path) else { continue }
            guard let place = places[entry.key] else {
                places[entry.key] = entries.count
                entries.append(entry)
                continue
            }
            let other = entries[place]
            if other.sources == entry.sources { continue }
            let isBetter = entry.isExact && !other.isExact
            if isBetter { entries[place] = entry }
            let left = isBetter ? other : entry
            problems.append(.phrase(ErrorPhrase(.sameSetPath, "\(left.sources[0])", left.path)))
        }
    }
}

/// Reads the list of a set from its source.
struct SetReader: Sendable {
    let manager: DownloadManager
    let options: SyncOptions

    /// The maximum size of an index page in bytes.
    private static let mostPageBytes = 16 << 20
    private static let mostPages = 10_000
    private static let mostDepth = 64
    /// The maximum number of links of all pages.
    private static let mostLinks = 2_000_000
    /// Pages that are requested at the same time.
    private static let parallel = 6
    /// The time for all pages: a set that is being listed has one of the few places of the daemon.
    static let mostTime = Duration.seconds(1800)

    /// Throws if there is no list at all, or the task was cancelled before the list was whole; parts of it that cannot be
    /// used are ``SetListing/problems``.
    func read(_ source: SetSource) async throws(DownloadError) -> SetListing {
        let listing = try await readAll(source)
        // What was not read must not look like files that are gone.
        if Task.isCancelled { throw DownloadError(.cancelled, ErrorPhrase(.stopped)) }
        return listing
    }

    private func readAll(_ source: SetSource) async throws(DownloadError) -> SetListing {
        var listing = SetListing()
        switch source {
        case .entries(let entries): listing.add(entries, options.filter)
        case .file(let path, let base):
            let list = try await read(path, base)
            listing.problems = list.problems.map { "\(path): \($0)" }
            listing.add(list.entries, options.filter)
        case .url(let url) where url.isObject: try await list(url, &listing)
        case .url(let url): try await read(url, &listing)
        }
        guard !listing.entries.isEmpty else {
            let name = source.name
            if !listing.paths.isEmpty {
                throw DownloadError(
                    .invalidRequest, ErrorPhrase(.noneWanted, name, "\(listing.paths.count)"), recovery: .needsUser)
            }
            throw listing.problems.first.map { DownloadError(.invalidRequest, ErrorPhrase(.failedWith, name, $0)) }
                ?? DownloadError(.invalidRequest, ErrorPhrase(.emptySet, name), recovery: .needsUser)
        }
        return listing
    }

    /// Lists and pages are parsed on a file thread: the caller may be the main actor.
    private func read(_ path: String, _ base: DownloadURL?) async throws(DownloadError) -> SetList {
        let path = FilePath(DownloadManager.absolute(path))
        return try await EngineProvider.files.run { disk throws(DownloadError) in
            let bytes: [UInt8]
            do throws(FileError) {
                let file = try disk.fileSystem.open(path, .readOnly)
                defer { file.close() }
                let length = try file.status().length
                guard length <= ByteCount(SetList.mostBytes) else {
                    throw FileError(.read, path, kind: .endedEarly)
                }
                bytes = try file.read(0..<length)
            } catch { throw DownloadError(error) }
            return try SetList(bytes, base: base)
        }
    }

    // MARK: Over HTTP

    /// The response to a request for a list.
    private struct Page {
        enum Content {
            /// The links of an index page; its bytes are not kept, as a level may have thousands of pages.
            case index([DownloadURL])
            case list([UInt8])
        }
        var url: DownloadURL
        var content: Content
    }

    private func page(_ url: DownloadURL, most: Int) async throws(DownloadError) -> Page {
        let response = try await manager.fetch(url, for: options.request)
        guard response.head.status == 200 else {
            let code: DownloadError.Code = [401, 407].contains(response.head.status) ? .credentials : .refused
            throw DownloadError(
                code, ErrorPhrase(.setAnswered, "\(url)", "\(response.head.status)"),
                recovery: .needsUser)
        }
        let type = response.head.values(.contentType).first
        let isPage = type.flatMap { MediaType($0) }?.isHTML == true
        let bytes = Array(
            buffer: try await response.body.collect(upTo: isPage ? min(most, Self.mostPageBytes) : most))
        let start = String(decoding: bytes.prefix(256), as: UTF8.self).trimmedText.asciiLowercased
        guard isPage || start.utf8.hasPrefix("<!doctype html") || start.utf8.hasPrefix("<html") else {
            return Page(url: response.url, content: .list(bytes))
        }
        let links = await EngineProvider.files.run { _ in
            HTMLTag.links(in: bytes, at: response.url, most: Self.mostLinks)
        }
        return Page(url: response.url, content: .index(links))
    }

    private func read(_ url: DownloadURL, _ listing: inout SetListing) async throws(DownloadError) {
        let first = try await page(url, most: SetList.mostBytes)
        if case .list(let bytes) = first.content {
            // A list on another server, as of the files of a release, is there alone: its names are below the given address.
            // allow(origin): which URL names are below; nothing is sent.
            let base = options.base ?? (first.url.origin == url.origin ? first.url : url)
            let list = try await EngineProvider.files.run { _ throws(DownloadError) in try SetList(bytes, base: base) }
            listing.problems = list.problems.map { "\(url): \($0)" }
            for object in list.entries.compactMap({ $0.sources.first(where: \.isObject) }) {
                listing.problems.append(.phrase(ErrorPhrase(.objectOfServer, "\(url)", "\(object)")))
            }
            listing.add(list.entries.filter { !$0.sources.contains(where: \.isObject) }, options.filter)
            return
        }
        guard first.url.path.utf8.hasSuffix("/") else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.notAnIndex, "\(url)"), recovery: .needsUser)
        }
        guard Self.isSameServer(first.url, url) else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.setRedirected, "\(url)", "\(first.url)"),
                suggestion: ErrorPhrase(.giveThatAddress), recovery: .needsUser)
        }
        listing.root = first.url
        await crawl(from: first, &listing)
    }

    /// Whether the first page is of the server that was named: the same one, or its https where http was.
    static func isSameServer(_ answered: DownloadURL, _ asked: DownloadURL) -> Bool {
        // allow(origin): which server's files make the set; nothing is sent.
        if answered.origin == asked.origin { return true }
        return asked.host == answered.host && asked.scheme == .http && answered.scheme == .https
            && asked.port == 80 && answered.port == 443
    }

    /// Reads the pages below the first one, level by level.
    private func crawl(from first: Page, _ listing: inout SetListing) async {
        let root = first.url
        var seen: Set<String> = [root.text]
        var level: [Page] = [first]
        var (pageCount, queryCount) = (1, 0)
        let end = now() + Self.mostTime
        for depth in 0... {
            var directories: [DownloadURL] = []
            for page in level {
                guard case .index(let links) = page.content else { continue }
                var isEmpty = true
                for link in links where seen.insert(link.text).inserted {
                    // Orders of the page itself have its path; other links with a query may be files.
                    if link.query != nil, link.path != page.url.path, link.path.utf8.hasPrefix(root.path) {
                        queryCount += 1
                    }
                    // Not below the page: its parent, other servers.
                    guard SetPath.path(of: link, below: page.url) != nil,
                        let path = SetPath.path(of: link, below: root), !SetPath.isOwn(path)
                    else { continue }
                    isEmpty = false
                    if link.path.utf8.hasSuffix("/") {
                        if !options.filter.prunes(path) { directories.append(link) }
                        continue
                    }
                    do throws(DownloadError) {
                        listing.add([try SetEntry(path: path, sources: [link])], options.filter)
                    } catch { listing.problems.append(error.reason) }
                }
                if isEmpty, options.filter.include.isEmpty, let path = SetPath.path(of: page.url, below: root) {
                    listing.emptyDirectories += [SetPath.make(path)].compactMap(\.self)
                }
            }
            if directories.isEmpty { break }
            if let most = options.maxDepth, depth >= most { break }
            guard depth < Self.mostDepth else {
                listing.problems.append(.phrase(ErrorPhrase(.deepSet, "\(root)", "\(Self.mostDepth)")))
                break
            }
            pageCount += directories.count
            guard pageCount <= Self.mostPages, seen.count < Self.mostLinks else {
                let count = pageCount - directories.count
                listing.problems.append(.phrase(ErrorPhrase(.largeSet, "\(root)", "\(count)")))
                break
            }
            level = await pages(directories, below: root, until: end, &listing)
            if now() >= end {
                listing.problems.append(Self.late(root))
                break
            }
        }
        if queryCount > 0 {
            listing.problems.append(.phrase(ErrorPhrase(.linksWithQuery, "\(root)", "\(queryCount)")))
        }
    }

    func now() -> Duration { manager.scheduler?.clock.now() ?? SystemClock().now() }

    static func late(_ root: DownloadURL) -> Reason {
        .phrase(ErrorPhrase(.slowSet, "\(root)", "\(mostTime.components.seconds / 60)"))
    }

    private func pages(
        _ urls: [DownloadURL], below root: DownloadURL, until end: Duration, _ listing: inout SetListing
    ) async -> [Page] {
        var found: [Int: Page] = [:]
        var problems: [Int: Reason] = [:]
        await withTaskGroup(of: (Int, Result<Page, DownloadError>).self) { group in
            var next = 0
            func start() {
                guard next < urls.count, !Task.isCancelled, now() < end else { return }
                let index = next
                next += 1
                group.addTask {
                    do throws(DownloadError) {
                        let page = try await page(urls[index], most: Self.mostPageBytes)
                        return (index, .success(page))
                    } catch { return (index, .failure(error)) }
                }
            }
            for _ in 0..<Self.parallel { start() }
            for await (index, result) in group {
                switch result {
                case .success(let page):
                    let isBelow = page.url == root || SetPath.path(of: page.url, below: root) != nil
                    if !isBelow {
                        problems[index] = .phrase(ErrorPhrase(.setLeavesServer, "\(urls[index])", "\(page.url)"))
                    } else if case .index = page.content {
                        found[index] = page
                    } else {
                        problems[index] = .phrase(ErrorPhrase(.notAnIndex, "\(urls[index])"))
                    }
                case .failure(let error):
                    let isNamed = error.message.utf8.contains(urls[index].redacted)
                    problems[index] = isNamed ? error.reason : "\(urls[index]): \(error.reason)"
                }
                start()
            }
        }
        listing.problems += problems.sorted { $0.key < $1.key }.map(\.value)
        return urls.indices.compactMap { found[$0] }
    }
}

extension SetSource {
    /// The source in messages.
    var name: String {
        switch self {
        case .url(let url): url.redacted
        case .file(let path, _): path
        case .entries: "the set"
        }
    }
}
