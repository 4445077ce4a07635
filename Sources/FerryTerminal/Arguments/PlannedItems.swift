import Ferry
package import FerryCore

/// The items of a plan in the order of the command: its arguments, then the entries of its lists.
///
/// Each entry is read and turned into a request only when it is next, so memory does not grow with the lists. Each iteration reads
/// the lists again.
package struct PlannedItems: Sequence, Sendable {
    /// The message for an empty list.
    static let empty: Reason = "there is no URL in the list"

    /// The arguments' items.
    let arguments: [GetPlan.Item]
    let lists: [ListFile]
    let planner: RequestPlanner
    let template: DownloadRequest
    /// The credentials and secret headers; `nil` if there are none.
    var grant: SecretGrant?
    /// The part of the hosts whose entries are requested; `nil` for all.
    var shard: HostShard?

    /// The `--netrc` file, for the hosts of redirects.
    var netrc: Netrc? { planner.netrc }

    /// Returns the number of arguments and list entries. Includes unusable entries, but not directories. Reads all lists.
    package func countFiles() -> Int {
        lists.reduce(requestCount) { $0 + ListReader($1).countEntries(in: shard) }
    }

    /// Returns the number of ``countFiles()`` immediately, estimated for long lists. Entries of a pipe are not included.
    package func estimateFiles() -> (count: Int, isEstimate: Bool) {
        var (count, isEstimate) = (requestCount, false)
        for list in lists {
            if list.isPipe {
                isEstimate = true
            } else if let size = list.size, size > Self.mostCountedBytes, !ListReader(list).isDocument {
                count += ListReader(list).estimateEntries(size: size, in: shard)
                isEstimate = true
            } else {
                count += ListReader(list).countEntries(in: shard)
            }
        }
        return (count, isEstimate)
    }

    /// The size of a list, in bytes, beyond which its entries are estimated.
    private static let mostCountedBytes = 1 << 20

    private var requestCount: Int { arguments.count { if case .request = $0 { true } else { false } } }

    /// Whether a list may make its reader wait.
    var waits: Bool { lists.contains { $0.isPipe } }

    /// Whether a list is a document that someone else may have written.
    var hasDocuments: Bool { lists.contains { ListReader($0).isDocument } }

    /// Whether the files are uploaded to a store.
    var uploads: Bool { planner.upload != nil }

    /// Whether an argument is a directory with part files.
    var hasDirectories: Bool { arguments.contains { if case .parts = $0 { true } else { false } } }

    package func makeIterator() -> Iterator { Iterator(self, resuming: nil) }

    /// Returns an iterator that continues an earlier run: first the entries that were open, then those after the last one.
    package func makeIterator(resuming cursor: BatchCursor?) -> Iterator { Iterator(self, resuming: cursor) }

    /// An item and its entry in a list.
    package struct Placed: Sendable {
        package fileprivate(set) var item: GetPlan.Item
        /// `nil` for an argument, and for a problem that does not exclude its entry.
        package var place: ListPlace?
        /// The columns of the entry in the list.
        package var columns: JSONValue?
        /// The excluded entry.
        package var unusable: UnusableEntry?
    }

    package struct Iterator: IteratorProtocol, Sendable {
        private let items: PlannedItems
        private var planner: RequestPlanner
        private var nextArgument = 0
        private var current: Int
        private var reader: ListReader?
        /// The number of the last entry.
        private var number: Int
        private let cursor: BatchCursor?
        /// The entries that were open when the earlier run ended.
        private var open: ArraySlice<ListPlace>
        private var openReader: ListReader?
        /// The last entry that `openReader` has read.
        private var lastReopened: ListPlace?

        /// The maximum distance between two entries that the same reader reads.
        private static let mostSkippedBytes = 1 << 16

        fileprivate init(_ items: PlannedItems, resuming cursor: BatchCursor?) {
            self.items = items
            planner = items.planner
            self.cursor = cursor
            open = (cursor?.open.values.sorted { $0.key < $1.key } ?? [])[...]
            current = cursor?.last?.list ?? 0
            number = cursor?.last?.number ?? items.arguments.count
            reader = items.lists.dropFirst(current).first.map { ListReader($0, startingAt: cursor?.last?.start) }
        }

        package mutating func next() -> GetPlan.Item? { nextPlaced()?.item }

        /// Returns the next item with its entry.
        package mutating func nextPlaced() -> Placed? {
            if nextArgument < items.arguments.count {
                nextArgument += 1
                return granted(Placed(item: items.arguments[nextArgument - 1]))
            }
            while let place = open.popFirst() { if let placed = reopened(place) { return placed } }
            while current < items.lists.count {
                do throws(UsageError) {
                    if let found = try reader?.next() {
                        if let placed = placed(found) { return placed }
                        continue
                    }
                    endList()
                } catch {
                    let list = items.lists[current]
                    endList()
                    return Placed(item: unusable(list, error.reason))
                }
            }
            return nil
        }

        private mutating func endList() {
            current += 1
            reader = items.lists.dropFirst(current).first.map { ListReader($0) }
        }

        /// Returns the item for an entry or a problem; `nil` if this run does not request it.
        private mutating func placed(_ found: URLList.Found) -> Placed? {
            let key = ListPlace.Key(list: current, line: found.place.line)
            // The reader begins with the last entry of the earlier run.
            if let last = cursor?.last, key <= last.key { return nil }
            if found.endsEntry { number += 1 }
            guard found.belongs(to: items.shard), cursor?.isWanted(key) ?? true else { return nil }
            return placed(
                found,
                ListPlace(
                    list: current, line: found.place.line, offset: found.place.offset, number: number,
                    earlier: found.earlier))
        }

        private mutating func placed(_ found: URLList.Found, _ place: ListPlace) -> Placed {
            let list = items.lists[place.list]
            switch found.item {
            case .entry(let entry):
                do throws(UsageError) {
                    let request = try planner.request(entry, template: items.template, number: place.number)
                    return granted(Placed(item: .request(request), place: place, columns: entry.columns))
                } catch {
                    return Placed(
                        item: unusable(list, "line \(entry.line): \(error.reason)"), place: place,
                        unusable: UnusableEntry(
                            place: place, url: entry.urls.first, columns: entry.columns, reason: error.reason))
                }
            case .problem(let problem):
                let item = unusable(list, problem.whole)
                guard found.endsEntry else { return Placed(item: item) }
                let entry = UnusableEntry(
                    place: place, url: found.url, columns: found.columns, reason: problem.reason)
                return Placed(item: item, place: place, unusable: entry)
            }
        }

        /// Rereads an entry and returns its item; `nil` if the list no longer has the entry.
        mutating func reopened(_ place: ListPlace) -> Placed? {
            guard items.lists.indices.contains(place.list) else { return nil }
            // Consecutive entries are read by one reader. So is a document, because the entries are requested in order.
            if let last = lastReopened, last.list == place.list, last.line < place.line,
                place.offset - last.offset <= Self.mostSkippedBytes
            {
            } else {
                openReader = ListReader(items.lists[place.list], startingAt: place.start)
            }
            lastReopened = place
            while let found = try? openReader?.next(), found.place.line <= place.line {
                if found.place.line == place.line, found.endsEntry { return placed(found, place) }
            }
            return nil
        }

        private func granted(_ placed: Placed) -> Placed {
            var placed = placed
            if let grant = items.grant { placed.item = grant.apply(to: placed.item) }
            return placed
        }

        private func unusable(_ list: ListFile, _ reason: Reason) -> GetPlan.Item {
            .unusable(("\(list.name): \(reason)" as Reason).shown)
        }
    }
}
