import FerryTesting
import Synchronization
import Testing

@testable import Ferry
@testable import FerryCore
@testable import FerryEngine

/// A store with a bucket of these keys, ten on each page.
private final class Store: Sendable {
    /// In which way it is not like the others.
    enum Habit: Sendable, CaseIterable {
        case none
        /// Its keys have an order of their own.
        case unordered
        /// It lists all keys from the first one on, whatever is asked for.
        case startsOver
        /// It does not know delimiters.
        case flat
        /// It refuses requests with delimiters.
        case refusing
        /// It needs too long for requests with delimiters.
        case overloaded
        /// Some of its pages are empty.
        case emptyPages
    }

    private let keys: [String]
    private let habit: Habit
    private let asked = Mutex<[Query]>([])

    struct Query: Sendable {
        var prefix = ""
        var after: String?
        var token: Int?
        var delimiter: String?

        /// Whether it asks for the first page of a range.
        var isRange: Bool { after != nil && delimiter == nil }

        init(_ url: DownloadURL) {
            for pair in (url.query ?? "").split(separator: "&") {
                let parts = pair.split(separator: "=", maxSplits: 1).map {
                    String(decoding: PercentEncoding.decode(Array($0.utf8)), as: UTF8.self)
                }
                guard parts.count == 2 else { continue }
                switch parts[0] {
                case "prefix": prefix = parts[1]
                case "start-after": after = parts[1]
                case "continuation-token": token = Int(parts[1])
                case "delimiter": delimiter = parts[1]
                default: break
                }
            }
        }
    }

    init(_ keys: [String], _ habit: Habit = .none) {
        self.keys = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        self.habit = habit
    }

    var queries: [Query] { asked.withLock { $0 } }

    /// What the store has for a query, in its order: keys, and prefixes that stand for several.
    private func names(_ query: Query) -> [(name: String, isPrefix: Bool)] {
        var found: [(name: String, isPrefix: Bool)] = []
        for key in keys where key.utf8.hasPrefix(query.prefix) {
            if let after = query.after, habit != .startsOver, !after.utf8.lexicographicallyPrecedes(key.utf8) {
                continue
            }
            let rest = key.utf8.dropFirst(query.prefix.utf8.count)
            guard query.delimiter != nil, habit != .flat, let slash = rest.firstIndex(of: UInt8(ascii: "/")) else {
                found.append((key, false))
                continue
            }
            let name = String(key[...slash])
            if found.last?.name != name { found.append((name, true)) }
        }
        return habit == .unordered ? found.reversed() : found
    }

    /// Answers a request; of those for ranges the first one waits for another, with `isHeld`.
    func transport(isHeld: Bool = false) -> PageTransport {
        @Sendable func isRange(_ url: DownloadURL, isFirst: Bool) -> Bool {
            Query(url).isRange && isFirst == (queries.count(where: \.isRange) == 1)
        }
        let order: PageTransport.Order = ({ isRange($0, isFirst: true) }, { isRange($0, isFirst: false) })
        let status = { @Sendable (url: DownloadURL) in
            self.habit == .overloaded && Query(url).delimiter != nil ? 504 : 200
        }
        return PageTransport(order: isHeld ? order : nil, status: status) { ("application/xml", self.page(Query($0))) }
    }

    private func page(_ query: Query) -> String {
        let last = asked.withLock { asked in
            asked.append(query)
            return asked.count - 1
        }
        if habit == .refusing, query.delimiter != nil { return "<Error></Error>" }
        // A token is a place in what its query has: the number of the query, and of names.
        let (number, place) = query.token.map { ($0 / 100_000, $0 % 100_000) } ?? (last, 0)
        let names = names(queries[number])
        let isEmpty = habit == .emptyPages && place == 0 && number == last
        let page = isEmpty ? [] : names.dropFirst(place).prefix(10)
        var text = page.map { name in
            name.isPrefix
                ? "<CommonPrefixes><Prefix>\(name.name)</Prefix></CommonPrefixes>"
                : "<Contents><Key>\(name.name)</Key><Size>1</Size></Contents>"
        }.joined()
        if place + page.count < names.count {
            let next = number * 100_000 + place + page.count
            text += "<IsTruncated>true</IsTruncated><NextContinuationToken>\(next)</NextContinuationToken>"
        }
        return "<ListBucketResult>\(text)</ListBucketResult>"
    }
}

@Suite("Lists of objects", .timeLimit(.minutes(10)))
struct ObjectListTests {
    private func listing(
        _ store: Store, _ filter: SetFilter = SetFilter(), isHeld: Bool = false
    ) async throws -> SetListing {
        try await Workshop.run { shop in
            let manager = shop.manager(engine: shop.engine(transport: store.transport(isHeld: isHeld))) {
                $0.maxRetries = 0
            }
            let result: Result<SetListing, DownloadError>
            do throws(DownloadError) {
                var options = SyncOptions()
                options.filter = filter
                let reader = SetReader(manager: manager, options: options)
                let listing = try await reader.read(.url(try DownloadURL("s3://bucket/p/")))
                result = .success(listing)
            } catch { result = .failure(error) }
            await manager.shutdown()
            return try result.get()
        }
    }

    /// The paths of the objects that are files, in the order of their keys.
    private static func paths(_ keys: [String]) -> [String] {
        keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.filter { !$0.utf8.hasSuffix("/") }
            .compactMap { $0.dropping(prefix: "p/").map { String($0) } }
    }

    /// Keys in directories, some of which are large, deep, or stand alone.
    private static func tree(_ random: inout SeededGenerator) -> [String] {
        var directories = ["p/"]
        for _ in 0..<Int.random(in: 0..<40, using: &random) {
            let parent = directories.randomElement(using: &random) ?? "p/"
            directories.append(
                parent + "\(["a", "b-", "Z", "d.x", "é"].randomElement(using: &random) ?? "")\(directories.count)/")
        }
        var keys: Set<String> = ["q/not", "p"]
        for _ in 0..<Int.random(in: 1..<900, using: &random) {
            let directory = directories.randomElement(using: &random) ?? "p/"
            keys.insert(directory + "\(Int.random(in: 0..<1000, using: &random))")
        }
        // Objects that stand for directories.
        for directory in directories.shuffled(using: &random).prefix(5) { keys.insert(directory) }
        return Array(keys)
    }

    @Test(
        "Objects: a list that is read in ranges has every object once, in the order of the keys, whatever its store is like",
        arguments: Store.Habit.allCases)
    fileprivate func trees(habit: Store.Habit) async throws {
        for seed in 0..<12 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let keys = Self.tree(&random)
            let paths = Self.paths(keys)
            guard !paths.isEmpty else { continue }
            let listing = try await listing(Store(keys, habit))
            let found = listing.entries.map(\.path)
            #expect(listing.problems.isEmpty, "seed \(seed)")
            #expect((habit == .unordered ? found.reversed() : found) == paths, "seed \(seed)")
        }
    }

    @Test("Objects: the ranges of a large list are read side by side, with few requests more")
    func together() async throws {
        let keys = (0..<30).flatMap { directory in (0..<40).map { "p/data/\(100 + directory)/\(100 + $0)" } }
        let store = Store(keys)
        let listing = try await listing(store, isHeld: true)
        #expect(listing.entries.map(\.path) == Self.paths(keys) && listing.problems.isEmpty)
        #expect(store.queries.count(where: \.isRange) > 6)
        #expect(store.queries.count < 2 * keys.count / 10)
        // A small one is read page by page.
        let small = Store(Array(keys.prefix(40)))
        #expect(try await self.listing(small).entries.count == 40)
        #expect(small.queries.count == 4)
    }

    @Test("Objects: a store that answers 504 to requests with delimiters is asked for the rest page by page")
    func overloaded() async throws {
        let keys = (0..<10).flatMap { directory in (0..<10).map { "p/\(100 + directory)/\(100 + $0)" } }
        let store = Store(keys, .overloaded)
        let listing = try await listing(store)
        #expect(listing.entries.map(\.path) == Self.paths(keys) && listing.problems.isEmpty)
        #expect(store.queries.count == 11 && store.queries.count { $0.delimiter != nil } == 1)
        #expect(store.queries.allSatisfy { !$0.isRange })
    }

    /// The key `p/./dot` became the file `dot`.
    @Test("Objects: keys with . or .. between slashes are problems, at the beginning too")
    func dots() async throws {
        let listing = try await listing(Store(["p/./dot", "p/../up", "p/a/./b", "p/a/../c", "p/.hidden", "p/d"]))
        #expect(listing.entries.map(\.path) == [".hidden", "d"])
        #expect(listing.problems.count == 4, "\(listing.problems)")
    }

    @Test("Objects: a filter counts what it leaves out once, also in ranges")
    func filtered() async throws {
        let keys = (0..<300).map { "p/\(1000 + $0)/\($0 % 3 == 0 ? "a.bin" : "b.log")" }
        let listing = try await listing(Store(keys), SetFilter(include: ["*.bin"]))
        #expect(listing.entries.count == 100 && listing.left == 200 && listing.problems.isEmpty)
    }
}
