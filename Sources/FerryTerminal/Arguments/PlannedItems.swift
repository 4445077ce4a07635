import Ferry
import FerryCore

/// The items of a plan in the order of the command: its arguments, then the entries of its lists.
///
/// Each entry is read and turned into a request when its turn comes, so memory does not grow with the lists. Each
/// iteration reads the lists again.
package struct PlannedItems: Sequence, Sendable {
    /// The arguments' items.
    let arguments: [GetPlan.Item]
    let lists: [ListFile]
    let planner: RequestPlanner
    let template: DownloadRequest
    /// The credentials and secret headers; `nil` if there are none.
    var grant: SecretGrant?

    /// The number of arguments and list entries; counts unusable entries too, and a directory as none.
    package func countFiles() -> Int {
        var count = arguments.count { if case .request = $0 { true } else { false } }
        for list in lists {
            var entries = URLList()
            var offset = 0
            while let bytes = try? list.read(at: offset), !bytes.isEmpty {
                offset += bytes.count
                entries.append(bytes)
                count += entries.countEntries()
            }
            entries.finish()
            count += entries.countEntries()
        }
        return count
    }

    /// Whether an argument is a directory with part files.
    var hasDirectories: Bool { arguments.contains { if case .parts = $0 { true } else { false } } }

    package func makeIterator() -> Iterator { Iterator(self) }

    package struct Iterator: IteratorProtocol, Sendable {
        private let items: PlannedItems
        private var planner: RequestPlanner
        private var nextArgument = 0
        private var lists: ArraySlice<ListFile>
        private var entries = URLList()
        private var offset = 0
        private var isRead = false

        fileprivate init(_ items: PlannedItems) {
            self.items = items
            planner = items.planner
            lists = items.lists[...]
        }

        package mutating func next() -> GetPlan.Item? {
            if nextArgument < items.arguments.count {
                nextArgument += 1
                return granted(items.arguments[nextArgument - 1])
            }
            while let list = lists.first {
                switch entries.next() {
                case .entry(let entry)?:
                    do {
                        return granted(.request(try planner.request(entry, template: items.template)))
                    } catch {
                        return unusable(list, "line \(entry.line): \(error.reason)")
                    }
                case .problem(let problem)?: return unusable(list, problem.whole)
                case nil where isRead: close()
                case nil:
                    do {
                        let bytes = try list.read(at: offset)
                        offset += bytes.count
                        entries.append(bytes)
                        isRead = bytes.isEmpty
                        if isRead { entries.finish() }
                    } catch {
                        close()
                        return unusable(list, "cannot be read to its end: \(error.reason)")
                    }
                }
            }
            return nil
        }

        private func granted(_ item: GetPlan.Item) -> GetPlan.Item { items.grant?.apply(to: item) ?? item }

        private func unusable(_ list: ListFile, _ reason: Reason) -> GetPlan.Item {
            .unusable(("\(list.name): \(reason)" as Reason).shown)
        }

        /// Continues with the next list.
        private mutating func close() {
            lists.removeFirst()
            entries = URLList()
            (offset, isRead) = (0, false)
        }
    }
}
