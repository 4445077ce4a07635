import FerryCore
import FerryEngine
import HTTPTypes
import NIOCore
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// What a source lists.
struct SetListing: Sendable {
    var entries: [SetEntry] = []
    /// What of the source cannot be used. Without any, a file that is not listed is gone from the source.
    var problems: [Reason] = []

    /// The number of listed files that are not wanted. They may be many more than those that are, so nothing else of them
    /// is kept.
    var left = 0
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
            guard filter.accepts(entry.path) else {
                left += 1
                continue
            }
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
    /// What a source may be made into, in memory. It is counted while it is made: what a source sends says little of it.
    ///
    /// Files that a filter leaves out are not kept, and do not count: with one, a few files of a large bucket can be listed.
    /// How much is read is bounded by the number of pages.
    struct Limits: Sendable {
        /// Links of all pages, or objects.
        var entries = 2_000_000
        /// The bytes of their URLs, or keys.
        var bytes = 256 << 20
        /// Pages of a list of objects, which may be empty.
        var objectPages = 10_000
    }

    let manager: DownloadManager
    let options: SyncOptions
    var limits = Limits()
    /// Told when a part of the list is asked for again.
    var retrying: @Sendable (_ event: LocalizedEvent, _ url: DownloadURL) -> Void = { _, _ in }

    /// The maximum size of an index page in bytes.
    private static let mostPageBytes = 16 << 20
    private static let mostPages = 10_000
    private static let mostDepth = 64
    /// The maximum number of bytes of the links of a page.
    private static let mostPageLinkBytes = 64 << 20
    /// Pages that are requested at the same time.
    private static let parallel = 6
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
            if listing.left > 0 {
                throw DownloadError(
                    .invalidRequest, ErrorPhrase(.noneWanted, name, "\(listing.left)"), recovery: .needsUser)
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
            case index([DownloadURL], isWhole: Bool)
            case list([UInt8])
        }
        var url: DownloadURL
        var content: Content
    }

    private func page(_ url: DownloadURL, most: Int) async throws(DownloadError) -> Page {
        func isPage(_ response: UpstreamResponse) -> Bool {
            response.head.values(.contentType).first.flatMap { MediaType($0) }?.isHTML == true
        }
        let (response, bytes) = try await answer(to: url) { isPage($0) ? min(most, Self.mostPageBytes) : most }
        let isPage = isPage(response)
        let start = String(decoding: bytes.prefix(256), as: UTF8.self).trimmedText.asciiLowercased
        guard isPage || start.utf8.hasPrefix("<!doctype html") || start.utf8.hasPrefix("<html") else {
            return Page(url: response.url, content: .list(bytes))
        }
        let found = await EngineProvider.files.run { [limits] _ in
            HTMLTag.links(
                in: bytes, at: response.url, most: limits.entries, mostBytes: min(limits.bytes, Self.mostPageLinkBytes))
        }
        return Page(url: response.url, content: .index(found.links, isWhole: found.isWhole))
    }

    /// Asks for a part of the list until the response has status 200 and a whole body, and returns both.
    ///
    /// What may pass is tried again after the delays of downloads: no connection, a body that breaks off, a server that asks
    /// to wait. Where nothing answers, a one-shot run ends as soon as a download would.
    func answer(
        to url: DownloadURL, most: (UpstreamResponse) -> Int
    ) async throws(DownloadError) -> (response: UpstreamResponse, bytes: [UInt8]) {
        guard let scheduler = manager.scheduler else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.runsElsewhere))
        }
        let settings = scheduler.configuration.driverSettings
        var retry = RetryPolicy(maxAttempts: settings.maxAttempts)
        var hasAnswered = false
        while true {
            let failure: DownloadError
            var answer: Int?
            do throws(DownloadError) {
                let response = try await manager.fetch(url, for: options.request)
                hasAnswered = true
                if response.head.status == 200 {
                    let body = try await response.body.collect(upTo: most(response))
                    return (response, Array(buffer: body))
                }
                answer = response.head.status
                failure = Self.refusal(of: url, response.head, at: scheduler.clock.date())
            } catch { failure = error }
            // A body that does not come in its time is given up, so that the set gives its place to others.
            guard case .transient(let wish) = failure.recovery, failure.phrase?.key != .slowBody,
                case .retry(let delay, let attempt) = retry.failed(
                    wish: wish, most: hasAnswered ? nil : settings.maxFirstAttempts,
                    random: scheduler.environment.random())
            else { throw failure }
            let reason = answer.map { Reason(.serverAnswered, "\($0)") } ?? failure.reason
            retrying(.retrying(attempt: attempt, delay: delay, reason: reason), url)
            do { try await scheduler.clock.sleep(for: delay) } catch {
                throw DownloadError(.cancelled, ErrorPhrase(.stopped))
            }
        }
    }

    /// Returns the error of a response that is no part of a list: a transient one if its server asks to wait.
    private static func refusal(of url: DownloadURL, _ head: ResponseHead, at now: Date) -> DownloadError {
        let recovery: DownloadError.Recovery =
            if case .busy(_, let wish) = ResponseVerdict.judge(head, asked: .whole, now: now) {
                .transient(retryAfter: wish)
            } else { .needsUser }
        let code: DownloadError.Code = [401, 407].contains(head.status) ? .credentials : .refused
        return DownloadError(code, ErrorPhrase(.setAnswered, "\(url)", "\(head.status)"), recovery: recovery)
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

    /// What the pages of an index have, in their order.
    private struct Crawl {
        let root: DownloadURL
        let filter: SetFilter
        let limits: Limits
        var listing: SetListing
        /// The directories of the level that follows.
        var directories: [DownloadURL] = []
        var pageCount = 1
        private(set) var isFull = false
        private(set) var queryCount = 0
        private var seen: Set<String>
        private var textLength = 0

        init(_ root: DownloadURL, _ filter: SetFilter, _ limits: Limits, _ listing: SetListing) {
            (self.root, self.filter, self.limits, self.listing) = (root, filter, limits, listing)
            seen = [root.text]
        }

        mutating func take(_ page: Page) {
            guard !isFull, case .index(let links, let isWhole) = page.content else { return }
            var isEmpty = true
            // Of this page, which may have a link twice.
            var unwanted: Set<String> = []
            for link in links {
                if let path = unwantedPath(of: link, on: page) {
                    isEmpty = false
                    if unwanted.insert(path).inserted { listing.left += 1 }
                    continue
                }
                guard seen.insert(link.text).inserted else { continue }
                textLength += link.text.utf8.count
                guard seen.count <= limits.entries, textLength <= limits.bytes else { return fill() }
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
                    if !filter.prunes(path) { directories.append(link) }
                    continue
                }
                do throws(DownloadError) {
                    listing.add([try SetEntry(path: path, sources: [link])], filter)
                } catch { listing.problems.append(error.reason) }
            }
            if !isWhole { return fill() }
            if isEmpty, filter.include.isEmpty, let path = SetPath.path(of: page.url, below: root) {
                listing.emptyDirectories += [SetPath.make(path)].compactMap(\.self)
            }
        }

        /// Returns the path of a link to a file that the filter leaves out; `nil` for all other links.
        private func unwantedPath(of link: DownloadURL, on page: Page) -> String? {
            guard !filter.isEmpty, !link.path.utf8.hasSuffix("/"), SetPath.path(of: link, below: page.url) != nil,
                let path = SetPath.path(of: link, below: root), !SetPath.isOwn(path), let safe = SetPath.make(path),
                !filter.accepts(safe)
            else { return nil }
            return safe
        }

        mutating func fill() {
            isFull = true
            listing.problems.append(.phrase(ErrorPhrase(.largeSet, "\(root)", "\(pageCount)")))
        }
    }

    /// Reads the pages below the first one, level by level.
    private func crawl(from first: Page, _ listing: inout SetListing) async {
        let root = first.url
        var crawl = Crawl(root, options.filter, limits, listing)
        crawl.take(first)
        let end = options.listingTime.map { now() + $0 } ?? .seconds(Int64.max)
        for depth in 0... {
            let directories = crawl.directories
            crawl.directories = []
            if directories.isEmpty || crawl.isFull { break }
            if let most = options.maxDepth, depth >= most { break }
            guard depth < Self.mostDepth else {
                crawl.listing.problems.append(.phrase(ErrorPhrase(.deepSet, "\(root)", "\(Self.mostDepth)")))
                break
            }
            guard crawl.pageCount + directories.count <= Self.mostPages else {
                crawl.fill()
                break
            }
            crawl.pageCount += directories.count
            await read(directories, until: end, &crawl)
            if now() >= end {
                crawl.listing.problems.append(late(root))
                break
            }
        }
        if crawl.queryCount > 0 {
            crawl.listing.problems.append(.phrase(ErrorPhrase(.linksWithQuery, "\(root)", "\(crawl.queryCount)")))
        }
        listing = crawl.listing
    }

    func now() -> Duration { manager.scheduler?.clock.now() ?? SystemClock().now() }

    func late(_ root: DownloadURL) -> Reason {
        .phrase(ErrorPhrase(.slowSet, "\(root)", "\((options.listingTime ?? .zero).components.seconds / 60)"))
    }

    /// Reads the pages of a level. Each is taken in its order, and few wait for one before them, so that memory has the links
    /// of few pages.
    private func read(_ urls: [DownloadURL], until end: Duration, _ crawl: inout Crawl) async {
        var early: [Int: Page?] = [:]
        var problems: [Int: Reason] = [:]
        await withTaskGroup(of: (Int, Result<Page, DownloadError>).self) { group in
            var (next, taken, running) = (0, 0, 0)
            func start() {
                while running < Self.parallel, next < min(urls.count, taken + 2 * Self.parallel), !Task.isCancelled,
                    now() < end
                {
                    let index = next
                    next += 1
                    running += 1
                    group.addTask {
                        do throws(DownloadError) {
                            let page = try await page(urls[index], most: Self.mostPageBytes)
                            return (index, .success(page))
                        } catch { return (index, .failure(error)) }
                    }
                }
            }
            start()
            for await (index, result) in group {
                running -= 1
                early[index] = .some(nil)
                switch result {
                case .success(let page):
                    let isBelow = page.url == crawl.root || SetPath.path(of: page.url, below: crawl.root) != nil
                    if !isBelow {
                        problems[index] = .phrase(ErrorPhrase(.setLeavesServer, "\(urls[index])", "\(page.url)"))
                    } else if case .index = page.content {
                        early[index] = page
                    } else {
                        problems[index] = .phrase(ErrorPhrase(.notAnIndex, "\(urls[index])"))
                    }
                case .failure(let error):
                    let isNamed = error.message.utf8.contains(urls[index].redacted)
                    problems[index] = isNamed ? error.reason : "\(urls[index]): \(error.reason)"
                }
                while let page = early.removeValue(forKey: taken) {
                    if let page { crawl.take(page) }
                    taken += 1
                }
                if crawl.isFull {
                    group.cancelAll()
                    break
                }
                start()
            }
        }
        crawl.listing.problems += problems.sorted { $0.key < $1.key }.map(\.value)
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
