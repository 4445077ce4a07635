import FerryCore
import FerryEngine
import NIOCore
import SystemPackage

/// The objects of a bucket whose keys have a common prefix, as ListObjectsV2 lists them.
///
/// A store lists its keys in order, page by page, and each page can be requested only after the one before it. For a large
/// list, the directories after the last key are requested, and the ranges of keys between them are read concurrently:
///
///     page, page, page, page ─► directories after the last key ─► (last, a/] (a/, b/] … (y/, z/] ─► directories after z/ …
extension SetReader {
    /// Adds the objects below `prefix`. Keys that end with `/` stand for directories.
    func list(_ prefix: DownloadURL, _ listing: inout SetListing) async throws(DownloadError) {
        guard prefix.query == nil, let bucket = DownloadURL(bucket: prefix.host, key: []) else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.storeAnswered, "\(prefix)", "400"), recovery: .needsUser)
        }
        let objects = ObjectReader(
            reader: self, prefix: prefix, bucket: bucket, start: prefix.objectPrefix, end: listingEnd)
        // If keys are not in order, some may be missing between two ranges. The list is then read again, page by page.
        for inRanges in [true, false] {
            guard let found = try await objects.read(inRanges: inRanges, listing) else { continue }
            listing = found
            return
        }
    }

    /// Returns the objects below a prefix that can be files of a set, by their keys.
    func objects(below prefix: DownloadURL) async throws(DownloadError) -> [FilePath: SyncPlan.HeldFile] {
        var (listing, reader) = (SetListing(), self)
        reader.keepsKeys = true
        try await reader.list(prefix, &listing)
        if Task.isCancelled { throw DownloadError(.cancelled, ErrorPhrase(.stopped)) }
        if listing.isCut, let problem = listing.problems.last {
            throw DownloadError(.tooLarge, ErrorPhrase(.failedWith, prefix.text, problem), recovery: .needsUser)
        }
        var found: [FilePath: SyncPlan.HeldFile] = [:]
        for entry in listing.entries {
            guard let bytes = entry.totalBytes else { continue }
            found[entry.key] = SyncPlan.HeldFile(totalBytes: bytes, mark: entry.etag ?? "")
        }
        return found
    }
}

extension DownloadURL {
    /// The prefix of the keys of the objects below an `s3` URL: empty, or with a slash at its end.
    var objectPrefix: [UInt8] {
        let key = objectKey
        return key.isEmpty || key.last == UInt8(ascii: "/") ? key : key + [UInt8(ascii: "/")]
    }
}

/// Reads the list of the objects below a prefix.
private struct ObjectReader: Sendable {
    let reader: SetReader
    let prefix: DownloadURL
    let bucket: DownloadURL
    /// The prefix of all keys.
    let start: [UInt8]
    let end: Duration

    /// The number of pages that are read one after the other before the rest is split, because most lists are small.
    private static let firstPages = 4
    /// The maximum number of ranges into which a part of the list is split.
    private static let mostRanges = 32
    /// The maximum number of ranges that are read at the same time.
    private static let parallel = 6
    /// The maximum number of levels of directories that are listed to find keys at which to split.
    private static let mostLevels = 8

    /// The keys after `after`, up to and including `upTo`.
    private struct KeyRange: Sendable {
        var after: [UInt8]?
        var upTo: [UInt8]?

        func contains(_ key: [UInt8]) -> Bool {
            after.map { $0.lexicographicallyPrecedes(key) } != false
                && upTo.map { !$0.lexicographicallyPrecedes(key) } != false
        }
    }

    /// The part of a list that has been read.
    private struct State {
        var listing: SetListing
        var pageCount = 0
        private(set) var isFull = false
        private var count = 0
        private var bytes = 0
        private let reader: SetReader
        private let bucket: DownloadURL
        private let start: [UInt8]

        init(_ objects: ObjectReader, _ listing: SetListing) {
            (reader, bucket, start) = (objects.reader, objects.bucket, objects.start)
            self.listing = listing
        }

        /// Whether the list may have another page.
        var isWithinLimits: Bool {
            pageCount < reader.limits.objectPages && count <= reader.limits.entries && bytes <= reader.limits.bytes
        }

        /// Returns the entries of the objects that the filter selects.
        mutating func entries(of found: some Sequence<S3ListPage.Object>) -> [SetEntry] {
            var entries: [SetEntry] = []
            for object in found where object.key.starts(with: start) && object.key.last != UInt8(ascii: "/") {
                let path = String(decoding: object.key.dropFirst(start.count), as: UTF8.self)
                guard !SetPath.isOwn(path) else { continue }
                do throws(DownloadError) {
                    // In a key, unlike in a list, `./` is a name.
                    if path.utf8.hasPrefix("./") {
                        throw DownloadError(.invalidRequest, ErrorPhrase(.notASetPath, TextError.quote(path)))
                    }
                    guard let url = DownloadURL(bucket: bucket.host, key: object.key) else { continue }
                    var entry =
                        reader.keepsKeys
                        ? try SetEntry(key: path, sources: [url], totalBytes: object.totalBytes)
                        : try SetEntry(
                            path: path, sources: [url], totalBytes: object.totalBytes,
                            safeNames: reader.options.safeNames)
                    guard reader.options.filter.accepts(entry.path) else {
                        listing.note(entry.path)
                        listing.left += 1
                        continue
                    }
                    (entry.etag, entry.lastModified) = (object.etag, object.lastModified)
                    entries.append(entry)
                } catch { listing.problems.append(error.reason) }
                // The object is kept as a file or as a problem, so it counts.
                count += 1
                bytes += object.key.count
            }
            return entries
        }

        mutating func add(_ entries: [SetEntry]) { listing.add(entries, reader.options.filter) }

        /// Ends the list with a problem.
        mutating func stop(_ problem: Reason) {
            listing.problems.append(problem)
            (listing.isCut, isFull) = (true, true)
        }
    }

    /// Returns the list with all objects. With `inRanges`, returns `nil` if the keys turn out not to be in order.
    func read(inRanges: Bool, _ listing: SetListing) async throws(DownloadError) -> SetListing? {
        var state = State(self, listing)
        var last: [UInt8]?
        var maySplit = inRanges
        var token: String?
        // A list that returns the same token twice would never end.
        var tokens: Set<Int> = []
        while true {
            let page = try await page(.init(prefix: start, token: token), &state)
            for object in page.objects {
                if let last, !last.lexicographicallyPrecedes(object.key) { maySplit = false }
                last = object.key
            }
            state.add(state.entries(of: page.objects))
            guard let next = page.continuation else { return state.listing }
            guard tokens.insert(next.hashValue).inserted, mayContinue(&state) else {
                if !state.isFull { state.stop(largeSet(state)) }
                return state.listing
            }
            token = next
            guard maySplit, state.pageCount >= Self.firstPages, let from = last else { continue }
            let split = try await points(after: from, &state)
            if split.points.count > 1 { return try await read(after: from, split, &state) }
            // The rest is at one level, so another request for keys at which to split it is not worthwhile.
            maySplit = false
        }
    }

    /// Reads the keys after `first` in ranges. Returns `nil` if they are not in order.
    private func read(
        after first: [UInt8], _ found: (points: [[UInt8]], isWhole: Bool), _ state: inout State
    ) async throws(DownloadError) -> SetListing? {
        var (after, split) = (first, found)
        while true {
            var ranges: [KeyRange] = []
            for point in split.points {
                ranges.append(KeyRange(after: ranges.last?.upTo ?? after, upTo: point))
            }
            // The rest is split again if the store may have more directories than it listed.
            let isLast = split.isWhole || split.points.count < 2
            if isLast { ranges.append(KeyRange(after: split.points.last ?? after)) }
            guard try await read(ranges, &state) else { return nil }
            if isLast || state.isFull { return state.listing }
            after = split.points.last ?? after
            split = try await points(after: after, &state)
        }
    }

    /// Reads ranges concurrently. Returns `false` if keys are not in order.
    private func read(_ ranges: [KeyRange], _ state: inout State) async throws(DownloadError) -> Bool {
        var found = ranges.map { _ in [SetEntry]() }
        var last = ranges.map(\.after)
        var tokens: Set<Int> = []
        let result: Result<Bool, DownloadError> = await withTaskGroup(
            of: (Int, Result<S3ListPage, DownloadError>).self
        ) { group in
            var (next, running) = (0, 0)
            func ask(_ index: Int, _ query: Query) {
                running += 1
                group.addTask {
                    do throws(DownloadError) {
                        let page = try await answer(query)
                        return (index, .success(page))
                    } catch { return (index, .failure(error)) }
                }
            }
            func start() {
                while running < Self.parallel, next < ranges.count {
                    ask(next, Query(prefix: self.start, after: ranges[next].after))
                    next += 1
                }
            }
            start()
            defer { group.cancelAll() }
            for await (index, result) in group {
                running -= 1
                let page: S3ListPage
                switch result {
                case .success(let answer): page = answer
                case .failure(let error): return .failure(error)
                }
                state.pageCount += 1
                for object in page.objects {
                    guard last[index].map({ $0.lexicographicallyPrecedes(object.key) }) != false else {
                        return .success(false)
                    }
                    last[index] = object.key
                }
                found[index] += state.entries(of: page.objects.lazy.filter { ranges[index].contains($0.key) })
                let isOver = page.objects.last.map { !ranges[index].contains($0.key) } ?? false
                if !isOver, let token = page.continuation {
                    guard tokens.insert(token.hashValue).inserted else { return .success(false) }
                    ask(index, Query(prefix: self.start, token: token))
                }
                if running > 0 || next < ranges.count, !mayContinue(&state) { break }
                start()
            }
            return .success(true)
        }
        for entries in found { state.add(entries) }
        return try result.get()
    }

    /// Returns the keys, in order, at which the rest after `key` can be split: the directories beside one of the directories
    /// that contain the key. `isWhole` is `true` if the store listed all of them.
    private func points(
        after key: [UInt8], _ state: inout State
    ) async throws(DownloadError) -> (points: [[UInt8]], isWhole: Bool) {
        var points: Set<[UInt8]> = []
        var level = start
        var isWhole = true
        // Requests contain keys as text. Replacing invalid UTF-8 would start at a different key and skip the keys in between.
        guard String(validating: key, as: UTF8.self) != nil else { return ([], true) }
        for _ in 0..<Self.mostLevels {
            let page: S3ListPage
            do throws(DownloadError) {
                page = try await self.page(Query(prefix: level, after: key, delimiter: "/"), &state)
            } catch {
                // Some stores support only plain lists, and some take too long for lists of directories.
                guard error.code == .refused || error.phrase?.key == .setAnswered else { throw error }
                return ([], true)
            }
            if page.continuation != nil { isWhole = false }
            points.formUnion(
                page.prefixes.filter {
                    $0.starts(with: level) && key.lexicographicallyPrecedes($0)
                        && String(validating: $0, as: UTF8.self) != nil
                })
            let own = page.prefixes.first { $0.count > level.count && key.starts(with: $0) }
            guard points.count < 2, let own, mayContinue(&state) else { break }
            level = own
        }
        let sorted = points.sorted { $0.lexicographicallyPrecedes($1) }
        let step = max(1, (sorted.count + Self.mostRanges - 1) / Self.mostRanges)
        return (stride(from: step - 1, to: sorted.count, by: step).map { sorted[$0] }, isWhole)
    }

    /// Returns whether more of the list may be read. If not, records the reason.
    private func mayContinue(_ state: inout State) -> Bool {
        if !state.isWithinLimits {
            state.stop(largeSet(state))
        } else if reader.now() >= end {
            state.stop(reader.late(prefix))
        }
        return !state.isFull
    }

    private func largeSet(_ state: State) -> Reason {
        .phrase(ErrorPhrase(.largeSet, "\(prefix)", "\(state.pageCount)"))
    }

    // MARK: Requests

    /// The parameters of a request to the store.
    private struct Query: Sendable {
        var prefix: [UInt8]
        var after: [UInt8]?
        var token: String?
        var delimiter: String?
    }

    private func page(_ query: Query, _ state: inout State) async throws(DownloadError) -> S3ListPage {
        state.pageCount += 1
        return try await answer(query)
    }

    private func answer(_ query: Query) async throws(DownloadError) -> S3ListPage {
        var parameters = [
            (name: "list-type", value: "2"), ("encoding-type", "url"),
            ("prefix", String(decoding: query.prefix, as: UTF8.self)),
        ]
        if let delimiter = query.delimiter { parameters.append(("delimiter", delimiter)) }
        if let token = query.token {
            parameters.append(("continuation-token", token))
        } else if let after = query.after {
            parameters.append(("start-after", String(decoding: after, as: UTF8.self)))
        }
        let url = bucket.with(query: parameters)
        let bytes = try await reader.answer(to: url, until: end) { response throws(DownloadError) in
            let body = try await response.body.collect(upTo: S3ListPage.mostBytes)
            return Array(buffer: body)
        }
        return try await EngineProvider.files.run { [bucket] _ throws(DownloadError) in
            do throws(TextError) { return try S3ListPage(parsing: bytes) } catch {
                throw DownloadError(.refused, ErrorPhrase(.failedWith, "\(bucket)", error.whole))
            }
        }
    }
}
