import Ferry
import FerryCore

/// The items of a plan in the order of the command: its arguments, then the entries of its lists.
///
/// Each entry is read and turned into a request when its turn comes, so memory does not grow with the lists. Each
/// iteration reads the lists again.
package struct PlannedItems: Sequence, Sendable {
    /// What is said where there is none.
    static let empty: Reason = "there is no URL in the list"

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
        for list in lists { count += ListReader(list).countEntries() }
        return count
    }

    /// Whether a list is a document that someone else may have written.
    var hasDocuments: Bool { lists.contains { ListReader($0).isDocument } }

    /// Whether an argument is a directory with part files.
    var hasDirectories: Bool { arguments.contains { if case .parts = $0 { true } else { false } } }

    package func makeIterator() -> Iterator { Iterator(self) }

    package struct Iterator: IteratorProtocol, Sendable {
        private let items: PlannedItems
        private var planner: RequestPlanner
        private var nextArgument = 0
        private var readers: ArraySlice<ListReader>

        fileprivate init(_ items: PlannedItems) {
            self.items = items
            planner = items.planner
            readers = items.lists.map(ListReader.init)[...]
        }

        package mutating func next() -> GetPlan.Item? {
            if nextArgument < items.arguments.count {
                nextArgument += 1
                return granted(items.arguments[nextArgument - 1])
            }
            while let index = readers.indices.first {
                let list = readers[index].list
                do {
                    switch try readers[index].next() {
                    case .entry(let entry)?:
                        do {
                            return granted(.request(try planner.request(entry, template: items.template)))
                        } catch {
                            return unusable(list, "line \(entry.line): \(error.reason)")
                        }
                    case .problem(let problem)?: return unusable(list, problem.whole)
                    case nil: readers.removeFirst()
                    }
                } catch {
                    readers.removeFirst()
                    return unusable(list, error.reason)
                }
            }
            return nil
        }

        private func granted(_ item: GetPlan.Item) -> GetPlan.Item { items.grant?.apply(to: item) ?? item }

        private func unusable(_ list: ListFile, _ reason: Reason) -> GetPlan.Item {
            .unusable(("\(list.name): \(reason)" as Reason).shown)
        }
    }
}

/// Reads the entries of one list: URLs by line, of which one piece is in memory at a time, or a Metalink document.
struct ListReader: Sendable {
    let list: ListFile
    private var lines = URLList()
    private var document: ArraySlice<URLList.Item>?
    private var offset = 0
    private var isRead = false

    /// The maximum size of a document, in bytes.
    private static let mostDocumentBytes = PlainXML.Limits().bytes

    init(_ list: ListFile) { self.list = list }

    /// Whether the list is a document, as far as it can be read.
    var isDocument: Bool { ((try? list.read(at: 0)).map(Metalink.isDocument)) ?? false }

    /// Returns the number of entries; counts unusable entries too.
    func countEntries() -> Int {
        var (reader, count) = (self, 0)
        if isDocument {
            while (try? reader.next()) != nil { count += 1 }
            return count
        }
        while let bytes = try? list.read(at: reader.offset), !bytes.isEmpty {
            reader.offset += bytes.count
            reader.lines.append(bytes)
            count += reader.lines.countEntries()
        }
        reader.lines.finish()
        return count + reader.lines.countEntries()
    }

    /// Returns the next entry or problem; `nil` at the end.
    ///
    /// - Throws: Why no more can be read.
    mutating func next() throws(UsageError) -> URLList.Item? {
        while true {
            if document != nil { return document?.popFirst() }
            if let item = lines.next() { return item }
            if isRead { return nil }
            let bytes = try read()
            if offset == bytes.count, Metalink.isDocument(bytes) {
                try readDocument(from: bytes)
            } else {
                lines.append(bytes)
                if isRead { lines.finish() }
            }
        }
    }

    private mutating func read() throws(UsageError) -> [UInt8] {
        do throws(UsageError) {
            let bytes = try list.read(at: offset)
            offset += bytes.count
            isRead = bytes.isEmpty
            return bytes
        } catch { throw UsageError("cannot be read to its end: \(error.reason)") }
    }

    private mutating func readDocument(from start: [UInt8]) throws(UsageError) {
        var bytes = start
        while !isRead, bytes.count <= Self.mostDocumentBytes { bytes += try read() }
        do throws(TextError) { document = try Metalink(parsing: bytes).items[...] } catch {
            throw UsageError(error.whole)
        }
    }
}
