import FerryCore
import FerryEngine
import HTTPTypes
import NIOCore
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// The list that is read from a source.
struct SetListing: Sendable {
    var entries: [SetEntry] = []
    /// The problems with entries and parts of the source that cannot be used. If there are none, a file that is not listed is
    /// gone from the source.
    var problems: [Reason] = []

    /// The number of listed files that are left out by the filter. They may far outnumber the others, so only their number is kept.
    var left = 0
    /// The patterns of the filter that no listed file has matched yet.
    private(set) var unusedPatterns: [String]
    /// The paths of empty directories of an index.
    var emptyDirectories: [String] = []
    /// Whether a limit or the time has ended the list of objects early. ``problems`` contains the reason.
    var isCut = false
    /// The URL of the first page of an index; `nil` for a list.
    var root: DownloadURL?
    /// The entries of a directory that are neither files nor directories and are reported, by relative path.
    private var skipped: [FilePath: SkippedFile.Kind] = [:]
    /// The skipped files, in the order of their paths.
    var skippedFiles: [SkippedFile] {
        skipped.map { SkippedFile(path: $0.key.string, kind: $0.value) }.sorted { SetPath.precedes($0.path, $1.path) }
    }
    /// The relative paths of entries of a directory that are not read, whether they are reported or not. Files at or below these
    /// paths do not count as gone from the source.
    private var unread: Set<FilePath> = []
    /// The pages of an index, by the path of their directory in the source. The value is the page if it is doubtful whether the
    /// page lists its directory, because it does not have the form of a server's list; otherwise `nil`.
    private var pages: [FilePath: DownloadURL?] = [:]
    /// Whether a file that is not listed may be missing only because a page is not that of a directory.
    private(set) var isDoubtful = false
    /// The index of each file in ``entries``.
    private var places: [FilePath: Int] = [:]

    /// The time from which the ages of files are measured.
    private let now: Date

    init(_ filter: SetFilter = SetFilter(), now: Date = Date()) {
        unusedPatterns = filter.include + filter.exclude
        self.now = now
    }

    /// Records which patterns a listed file matches, whether or not the file is selected.
    mutating func note(_ path: String) {
        if !unusedPatterns.isEmpty { unusedPatterns.removeAll { SetFilter.matches(path, $0) } }
    }

    /// Records a page of the index.
    mutating func note(_ page: DownloadURL, isDoubtful: Bool) {
        let names = root.flatMap { SetPath.names(of: page, below: $0) } ?? []
        pages[FilePath(SetPath.listed(names))] = .some(isDoubtful ? page : nil)
        if isDoubtful { self.isDoubtful = true }
    }

    /// Returns the page of the index that decides whether the file of a URL is listed, if this page is doubtful. It is the page of
    /// the nearest directory above the file that was read.
    func doubtfulPage(above url: DownloadURL) -> DownloadURL? {
        guard isDoubtful, let root, var names = SetPath.names(of: url, below: root) else { return nil }
        while names.popLast() != nil {
            if let page = pages[FilePath(SetPath.listed(names))] { return page }
        }
        return nil
    }

    /// Leaves out the entry at a path of a directory.
    ///
    /// - Parameter kind: How the entry is reported; `nil` if it is not reported. Default `nil`.
    mutating func skip(_ path: String, _ kind: SkippedFile.Kind? = nil) {
        unread.insert(FilePath(path))
        if let kind { skipped[FilePath(path)] = kind }
    }

    /// Whether a file, or a directory above it, was not read.
    func skips(_ path: FilePath) -> Bool {
        guard !unread.isEmpty else { return false }
        var place = path
        repeat {
            if unread.contains(place) { return true }
        } while place.removeLastComponent() && !place.isEmpty
        return false
    }

    /// Leaves out the entries for which `reason` returns a value, and adds that value to the problems.
    mutating func leaveOut(_ reason: (SetEntry) -> Reason?) {
        let all = entries
        (entries, places) = ([], [:])
        for entry in all {
            if let reason = reason(entry) {
                problems.append(reason)
            } else {
                places[entry.key] = entries.count
                entries.append(entry)
            }
        }
    }

    /// Returns whether the filter selects a listed file. If not, records the patterns that the file matches, and counts the file.
    mutating func accepts(_ entry: SetEntry, _ filter: SetFilter) -> Bool {
        if filter.accepts(entry, now: now) { return true }
        note(entry.path)
        left += 1
        return false
    }

    /// Adds entries. Of two entries with the same path, the one whose path the source states exactly counts, otherwise the
    /// first one, because one file would replace the other.
    mutating func add(_ new: [SetEntry], _ filter: SetFilter) {
        for entry in new {
            guard accepts(entry, filter) else { continue }
            note(entry.path)
            guard let place = places[entry.key] else {
                places[entry.key] = entries.count
                entries.append(entry)
                continue
            }
            let other = entries[place]
            if other.hasSameSources(as: entry) {
                if other.contradicts(entry) { problems.append(.phrase(ErrorPhrase(.listedTwice, entry.name))) }
                continue
            }
            let isBetter = entry.isExact && !other.isExact
            if isBetter { entries[place] = entry }
            let left = isBetter ? other : entry
            problems.append(.phrase(ErrorPhrase(.sameSetPath, left.name, left.path)))
        }
    }
}

/// Reads the list of a set from its source.
struct SetReader: Sendable {
    /// The limits on the data of a source that is held in memory. They are checked during parsing, because the number of
    /// received bytes does not limit the memory.
    ///
    /// Files that a filter leaves out are not kept and do not count, so that a filter can select a few files of a large bucket.
    /// The number of pages limits how much is read.
    struct Limits: Sendable {
        /// The maximum number of links of all pages, or of objects.
        var entries = 2_000_000
        /// The maximum number of bytes of the URLs or keys of these entries.
        var bytes = 256 << 20
        /// The maximum number of links of pages that are read at the same time or wait for an earlier page, including links to
        /// files that are left out.
        var pendingLinks = 2_000_000
        /// The maximum number of bytes of the URLs of these pending links.
        var pendingBytes = 256 << 20
        /// The maximum number of index pages.
        var pages = 100_000
        /// The maximum number of pages of a list of objects, because pages may be empty.
        var objectPages = 10_000
    }

    let manager: DownloadManager
    let options: SyncOptions
    var limits = Limits()
    /// Whether the path of an object is its unchanged key, for a set that is stored as objects. Otherwise the path is made
    /// usable for a local file.
    var keepsKeys = false
    /// The absolute paths of local directories that are not read.
    var excluded: [FilePath] = []
    /// Called when a request for a part of the list has failed and is to be sent again, and once more when the delay has passed.
    var retrying: @Sendable (ListRetry) -> Void = { _ in }

    /// The number of bytes of an index page that are read. Its links are limited in any case; this limit stops a page that
    /// never ends.
    private static let mostPageBytes = 1 << 32
    /// The maximum size in bytes of a response that should be an index page but is not.
    private static let mostOtherBytes = 16 << 20
    private static let mostDepth = 64
    /// The maximum number of bytes of the links of a page.
    private static let mostPageLinkBytes = 64 << 20
    /// The maximum number of pages that are requested at the same time.
    private static let parallel = 6
    /// Reads the list of a source. Throws if there is no list at all, or if the task was cancelled before the list was
    /// complete. Parts that cannot be used are reported in ``SetListing/problems``.
    func read(_ source: SetSource) async throws(DownloadError) -> SetListing {
        let listing = try await readAll(source)
        // Files that were not listed because of the cancellation must not count as gone.
        if Task.isCancelled { throw DownloadError(.cancelled, ErrorPhrase(.stopped)) }
        return listing
    }

    private func readAll(_ source: SetSource) async throws(DownloadError) -> SetListing {
        var listing = SetListing(options.filter, now: manager.scheduler?.clock.date() ?? Date())
        switch source {
        case .entries(let entries): listing.add(entries, options.filter)
        case .file(let path, let base):
            let list = try await read(path, base)
            listing.problems = list.problems.map { "\(path): \($0)" }
            listing.add(list.entries, options.filter)
        case .directory(let path): try await walk(path, &listing)
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

    /// Lists and pages are parsed on a file thread, because the caller may be the main actor.
    private func read(_ path: String, _ base: DownloadURL?) async throws(DownloadError) -> SetList {
        let path = FilePath(DownloadManager.absolute(path))
        return try await EngineProvider.files.run { [options] disk throws(DownloadError) in
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
            return try SetList(bytes, base: base, safeNames: options.safeNames)
        }
    }

    // MARK: Over HTTP

    /// The response to a request for a list.
    private struct Page {
        enum Content {
            /// The links of an index page. Its bytes are not kept, because a level may have thousands of pages.
            ///
            /// The Boolean value is whether the page has an empty list.
            case index([LinkReader.Link], Defect?, Bool, LinkBudget.Share)
            case list([UInt8], mayBeCut: Bool)
        }
        /// Why an index page does not prove that a file that it does not list is gone.
        enum Defect {
            /// The page exceeds a limit, so the last links are missing.
            case tooLarge
            /// The page ended with the connection, but not with `</html>`.
            case mayBeCut
            /// The page has a field for a password, as one to sign in does.
            case asksForPassword
            /// The page does not have the form of a server's list.
            case unlikeAList
        }
        var url: DownloadURL
        var content: Content
    }

    /// The total of links and bytes held by pages that are being read or wait for an earlier page.
    private final class LinkBudget: Sendable {
        private let left: Mutex<(links: Int, bytes: Int)>

        init(_ limits: Limits) { left = Mutex((limits.pendingLinks, limits.pendingBytes)) }

        /// The share of one page, which is returned to the budget when the object is deinitialized.
        final class Share: Sendable {
            private let budget: LinkBudget
            private let taken = Mutex((links: 0, bytes: 0))

            init(of budget: LinkBudget) { self.budget = budget }

            /// Sets the share to the current size of the page. Returns `false` if the budget does not suffice.
            func hold(_ links: Int, _ bytes: Int) -> Bool {
                taken.withLock { taken in
                    let isTaken = budget.left.withLock { left in
                        let rest = (
                            links: left.links - (links - taken.links), bytes: left.bytes - (bytes - taken.bytes)
                        )
                        guard rest.links >= 0, rest.bytes >= 0 else { return false }
                        left = rest
                        return true
                    }
                    if isTaken { taken = (links, bytes) }
                    return isTaken
                }
            }

            deinit {
                let taken = taken.withLock { $0 }
                budget.left.withLock { $0 = ($0.links + taken.links, $0.bytes + taken.bytes) }
            }
        }
    }

    /// The links of a page that is being received. Only large pieces are parsed on a file thread, because waking the thread
    /// takes longer than parsing a small piece.
    private final class PageLinks: Sendable {
        private let url: DownloadURL
        private let share: LinkBudget.Share
        private let reader: Mutex<LinkReader>

        init(at url: DownloadURL, _ limits: Limits, _ budget: LinkBudget) {
            (self.url, share) = (url, LinkBudget.Share(of: budget))
            reader = Mutex(
                LinkReader(at: url, most: limits.entries, mostBytes: min(limits.bytes, SetReader.mostPageLinkBytes)))
        }

        /// Adds bytes. Returns `false` if there are too many links.
        func append(_ bytes: ByteBuffer) async -> Bool {
            if bytes.readableBytes <= Self.mostInline { return add(bytes) }
            return await EngineProvider.files.run { [self] _ in add(bytes) }
        }

        private static let mostInline = 64 << 10

        private func add(_ bytes: ByteBuffer) -> Bool {
            reader.withLock { reader in
                reader.append(bytes.readableBytesView)
                return !reader.isFull && share.hold(reader.links.count, reader.linkBytes)
            }
        }

        /// Returns the page after its last bytes have been added.
        ///
        /// - Parameters:
        ///   - isRead: Whether all bytes have been added.
        ///   - mayBeCut: Whether the end of the connection ended the page.
        func page(isRead: Bool, mayBeCut: Bool) -> Page {
            reader.withLock { reader in
                reader.finish()
                let defect: Page.Defect?
                if !isRead || reader.isFull || !share.hold(reader.links.count, reader.linkBytes) {
                    defect = .tooLarge
                } else if mayBeCut, reader.lastMark != .documentEnd {
                    defect = .mayBeCut
                } else {
                    defect = reader.hasPasswordField ? .asksForPassword : reader.hasListForm ? nil : .unlikeAList
                }
                return Page(url: url, content: .index(reader.links, defect, reader.hasEmptyList, share))
            }
        }
    }

    /// - Parameter most: The maximum size of a list in bytes.
    private func page(
        _ url: DownloadURL, most: Int, until end: Duration, _ budget: LinkBudget
    ) async throws(DownloadError) -> Page {
        try await answer(to: url, until: end) { [limits] response throws(DownloadError) in
            let links = PageLinks(at: response.url, limits, budget)
            let mayBeCut = response.body.endsWithConnection
            let type = response.head.values(.contentType).first.flatMap { MediaType($0) }
            if type?.isHTML == true {
                let isRead = try await response.body.read(upTo: Self.mostPageBytes) { await links.append($0) }
                return links.page(isRead: isRead, mayBeCut: mayBeCut)
            }
            let bytes = try await response.body.collect(upTo: most)
            let start = String(decoding: bytes.readableBytesView.prefix(256), as: UTF8.self).trimmedText.asciiLowercased
            guard start.utf8.hasPrefix("<!doctype html") || start.utf8.hasPrefix("<html") else {
                return Page(url: response.url, content: .list(Array(buffer: bytes), mayBeCut: mayBeCut))
            }
            let isRead = await links.append(bytes)
            return links.page(isRead: isRead, mayBeCut: mayBeCut)
        }
    }

    /// Requests a part of the list until the response has status 200 and its body could be read. Returns the result of `read`.
    ///
    /// Transient failures are retried after the same delays as for downloads: no connection, a body that is cut off, a server
    /// that requests a delay. If the server never responds, a one-shot run ends as soon as a download would. No retry starts
    /// after `end`.
    func answer<Content>(
        to url: DownloadURL, until end: Duration, _ read: (UpstreamResponse) async throws(DownloadError) -> Content
    ) async throws(DownloadError) -> Content {
        guard let scheduler = manager.scheduler else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.runsElsewhere))
        }
        let settings = scheduler.configuration.driverSettings.with(options.request)
        var retry = RetryPolicy(maxRetries: settings.maxRetries)
        var hasAnswered = false
        while true {
            let failure: DownloadError
            var answer: Int?
            do throws(DownloadError) {
                let response = try await manager.fetch(url, for: options.request)
                hasAnswered = true
                if response.head.status == 200 { return try await read(response) }
                answer = response.head.status
                failure = Self.refusal(of: url, response.head, at: scheduler.clock.date())
            } catch { failure = error }
            // A body that is too slow is not requested again, so that other sets can run in place of this one.
            guard case .transient(let wish) = failure.recovery, failure.phrase?.key != .slowBody,
                case .retry(let delay, let attempt) = retry.failed(
                    wish: wish, most: hasAnswered ? nil : settings.maxFirstRetries,
                    random: scheduler.environment.random()),
                end - delay > now()
            else { throw failure }
            let reason = answer.map { Reason(.serverAnswered, "\($0)") } ?? failure.reason
            var next = ListRetry(
                url: url, error: failure, event: .retrying(attempt: attempt, delay: delay, reason: reason),
                until: scheduler.clock.date().addingTimeInterval(delay / .seconds(1)))
            retrying(next)
            do { try await scheduler.clock.sleep(for: delay) } catch {
                throw DownloadError(.cancelled, ErrorPhrase(.stopped))
            }
            next.isDue = true
            retrying(next)
        }
    }

    /// Returns the error for a response that does not contain a part of a list; a transient error if the server requests a
    /// delay.
    private static func refusal(of url: DownloadURL, _ head: ResponseHead, at now: Date) -> DownloadError {
        let phrase = ErrorPhrase(.setAnswered, "\(url)", "\(head.status)")
        if case .busy(_, let wish) = ResponseVerdict.judge(head, asked: .whole, now: now) {
            return DownloadError(.network, phrase, recovery: .transient(retryAfter: wish))
        }
        let code: DownloadError.Code = [401, 407].contains(head.status) ? .credentials : .refused
        return DownloadError(code, phrase, recovery: .needsUser)
    }

    private func read(_ url: DownloadURL, _ listing: inout SetListing) async throws(DownloadError) {
        let end = listingEnd
        let budget = LinkBudget(limits)
        let first = try await page(url, most: SetList.mostBytes, until: end, budget)
        if case .list(let bytes, let mayBeCut) = first.content {
            // If the request was redirected to another server, as for the files of a release, that server has only the list.
            // Relative names are then resolved against the given URL.
            // allow(origin): decides against which URL names are resolved; nothing is sent.
            let base = options.base ?? (first.url.origin == url.origin ? first.url : url)
            let list = try await EngineProvider.files.run { [options] _ throws(DownloadError) in
                try SetList(bytes, base: base, safeNames: options.safeNames, mayBeCut: mayBeCut)
            }
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
        // A list may have been replaced by another page of its server.
        guard url.path.utf8.hasSuffix("/") || first.url.path == url.path + "/" else {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.setLeadsElsewhere, "\(url)", "\(first.url)"),
                suggestion: ErrorPhrase(.giveThatAddress), recovery: .needsUser)
        }
        listing.root = first.url
        await crawl(from: first, until: end, budget, &listing)
    }

    /// Whether the first page came from the requested server: from the same origin, or from https on the same host instead of
    /// http.
    static func isSameServer(_ answered: DownloadURL, _ asked: DownloadURL) -> Bool {
        // allow(origin): decides which server's files belong to the set; nothing is sent.
        if answered.origin == asked.origin { return true }
        return asked.host == answered.host && asked.scheme == .http && answered.scheme == .https
            && asked.port == 80 && answered.port == 443
    }

    /// Whether a directory's page has the path of the requested one, which may be encoded differently.
    private static func isSameDirectory(_ answered: DownloadURL, _ asked: DownloadURL, below root: DownloadURL) -> Bool
    {
        guard answered.path.utf8.hasSuffix("/"), let names = SetPath.names(of: answered, below: root),
            let wanted = SetPath.names(of: asked, below: root)
        else { return false }
        return SetPath.listed(names).hasSameBytes(as: SetPath.listed(wanted))
    }

    /// The content of the pages of an index, in their order.
    private struct Crawl {
        let root: DownloadURL
        let filter: SetFilter
        let safeNames: Bool
        let limits: Limits
        var listing: SetListing
        /// The directories of the next level.
        var directories: [DownloadURL] = []
        var pageCount = 1
        private(set) var isFull = false
        private(set) var queryCount = 0
        private var seen: Set<String>
        private var textLength = 0

        init(_ root: DownloadURL, _ options: SyncOptions, _ limits: Limits, _ listing: SetListing) {
            (self.root, self.limits, self.listing) = (root, limits, listing)
            (filter, safeNames) = (options.filter, options.safeNames)
            seen = [root.text]
        }

        mutating func take(_ page: Page) {
            guard !isFull, case .index(let links, let defect, let hasEmptyList, _) = page.content else { return }
            var isEmpty = true
            // The unwanted paths of this page, which may contain a link twice.
            var unwanted: Set<String> = []
            let withSlash = Set(links.lazy.map(\.url.path).filter { $0.utf8.hasSuffix("/") })
            for (link, row) in links.lazy.map({ ($0.url, $0.row) }) {
                if let path = unwantedPath(of: link, on: page) {
                    isEmpty = false
                    listing.note(path)
                    if unwanted.insert(path).inserted { listing.left += 1 }
                    continue
                }
                guard seen.insert(link.text).inserted else { continue }
                textLength += link.text.utf8.count
                guard seen.count <= limits.entries, textLength <= limits.bytes else { return fill() }
                // Links that sort the page have the path of the page itself; other links with a query may be files.
                if link.query != nil, link.path != page.url.path, link.path.utf8.hasPrefix(root.path) {
                    queryCount += 1
                }
                // Links that are not below the page lead to its parent or to other servers.
                guard SetPath.names(of: link, below: page.url) != nil,
                    let names = SetPath.names(of: link, below: root)
                else { continue }
                let listed = SetPath.listed(names)
                let isDirectory = link.path.utf8.hasSuffix("/")
                if !isDirectory, SetPath.isOwn(listed) { continue }
                isEmpty = false
                if isDirectory {
                    // A pattern for directories matches the files in them.
                    let kept = SetPath.make(names: names, safeNames: safeNames) ?? listed
                    if filter.prunes(kept) { listing.note(kept + "/*") } else { directories.append(link) }
                    continue
                }
                // A file cannot have the path of a directory.
                if withSlash.contains(link.path + "/") {
                    listing.problems.append(.phrase(ErrorPhrase(.sameSetPath, "\(link)", listed)))
                    continue
                }
                do throws(DownloadError) {
                    var entry = try SetEntry(names: names, sources: [link], safeNames: safeNames)
                    entry.row = row
                    listing.add([entry], filter)
                } catch { listing.problems.append(error.reason) }
            }
            switch defect {
            case .tooLarge: return fill()
            case .mayBeCut: return listing.problems.append(.phrase(ErrorPhrase(.cutPage, "\(page.url)")))
            case .asksForPassword:
                return listing.problems.append(.phrase(ErrorPhrase(.pageWithPassword, "\(page.url)")))
            case .unlikeAList, nil: break
            }
            let namesEntry = links.contains { SetPath.names(of: $0.url, below: page.url) != nil }
            guard page.url == root || namesEntry || Self.isEmpty(links, at: page.url, hasEmptyList: hasEmptyList) else {
                return listing.problems.append(.phrase(ErrorPhrase(.pageWithoutEntries, "\(page.url)")))
            }
            listing.note(page.url, isDoubtful: namesEntry && defect == .unlikeAList)
            if isEmpty, filter.include.isEmpty, let names = SetPath.names(of: page.url, below: root) {
                listing.emptyDirectories += [SetPath.make(names: names, safeNames: safeNames)].compactMap(\.self)
            }
        }

        /// Whether a page that names no entry is known to be that of an empty directory: it leads to its parent or has an empty
        /// list, and leads to no other page of the server.
        private static func isEmpty(_ links: [LinkReader.Link], at page: DownloadURL, hasEmptyList: Bool) -> Bool {
            // allow(origin): decides what a page lists; nothing is sent.
            let own = links.lazy.map(\.url).filter { $0.origin == page.origin }
            guard own.allSatisfy({ $0.path.utf8.hasSuffix("/") && page.path.utf8.hasPrefix($0.path) }) else {
                return false
            }
            let parent = page.path.utf8.dropLast().lastIndex(of: UInt8(ascii: "/")).map { String(page.path[...$0]) }
            return hasEmptyList || own.contains { $0.path == parent }
        }

        /// Returns the path of a link to a file that the filter leaves out; `nil` for all other links.
        private func unwantedPath(of link: DownloadURL, on page: Page) -> String? {
            guard !filter.isEmpty, !link.path.utf8.hasSuffix("/"), SetPath.names(of: link, below: page.url) != nil,
                let names = SetPath.names(of: link, below: root), !SetPath.isOwn(SetPath.listed(names)),
                let kept = SetPath.make(names: names, safeNames: safeNames), !filter.accepts(kept)
            else { return nil }
            return kept
        }

        mutating func fill() {
            isFull = true
            listing.problems.append(.phrase(ErrorPhrase(.largeSet, "\(root)", "\(pageCount)")))
        }
    }

    /// Reads the pages below the first one, level by level.
    private func crawl(
        from first: Page, until end: Duration, _ budget: LinkBudget, _ listing: inout SetListing
    ) async {
        let root = first.url
        var crawl = Crawl(root, options, limits, listing)
        crawl.take(first)
        for depth in 0... {
            let directories = crawl.directories
            crawl.directories = []
            if directories.isEmpty || crawl.isFull { break }
            if let most = options.maxDepth, depth >= most { break }
            guard depth < Self.mostDepth else {
                crawl.listing.problems.append(.phrase(ErrorPhrase(.deepSet, "\(root)", "\(Self.mostDepth)")))
                break
            }
            let readable = directories.prefix(limits.pages - crawl.pageCount)
            crawl.pageCount += readable.count
            await read(Array(readable), until: end, budget, &crawl)
            if now() >= end {
                crawl.listing.problems.append(late(root))
                break
            }
            if readable.count < directories.count {
                crawl.listing.problems.append(.phrase(ErrorPhrase(.manyDirectories, "\(root)", "\(limits.pages)")))
                break
            }
        }
        if crawl.queryCount > 0 {
            crawl.listing.problems.append(.phrase(ErrorPhrase(.linksWithQuery, "\(root)", "\(crawl.queryCount)")))
        }
        listing = crawl.listing
    }

    /// The time at which reading the list of this source must end.
    var listingEnd: Duration { options.listingTime.map { now() + $0 } ?? .seconds(Int64.max) }

    func now() -> Duration { manager.scheduler?.clock.now() ?? SystemClock().now() }

    func late(_ root: DownloadURL) -> Reason {
        .phrase(ErrorPhrase(.slowSet, "\(root)", "\((options.listingTime ?? .zero).components.seconds / 60)"))
    }

    /// Reads the pages of a level. The pages are processed in order, and only a few wait for an earlier page, so that the links of
    /// only a few pages are in memory.
    private func read(
        _ urls: [DownloadURL], until end: Duration, _ budget: LinkBudget, _ crawl: inout Crawl
    ) async {
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
                            let page = try await page(urls[index], most: Self.mostOtherBytes, until: end, budget)
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
                    let isBelow = page.url == crawl.root || SetPath.names(of: page.url, below: crawl.root) != nil
                    if isBelow, case .index = page.content {
                        early[index] = page
                    } else if isBelow {
                        problems[index] = .phrase(ErrorPhrase(.notAnIndex, "\(urls[index])"))
                    }
                    // Another page does not show what the directory has.
                    if !Self.isSameDirectory(page.url, urls[index], below: crawl.root) {
                        problems[index] = .phrase(ErrorPhrase(.setLeadsElsewhere, "\(urls[index])", "\(page.url)"))
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
    /// The name of the source in messages.
    var name: String {
        switch self {
        case .url(let url): url.redacted
        case .file(let path, _), .directory(let path): path
        case .entries: "the set"
        }
    }
}
