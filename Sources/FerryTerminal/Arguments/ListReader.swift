import Ferry
package import FerryCore

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Data
#else
    import struct Foundation.Data
#endif

/// Reads the entries of one list: the lines of a URL list or a results file, one piece of which is in memory at a time,
/// or a Metalink document.
package struct ListReader: Sendable {
    private enum Content {
        case lines(URLList)
        case document(ArraySlice<URLList.Found>)
        case results(TextLines, RetryFilter)
    }

    let list: ListFile
    private var content: Content
    private var offset: Int
    private var isRead = false

    /// The maximum size of a document, in bytes.
    private static let mostDocumentBytes = PlainXML.Limits().bytes
    /// The size of the sample from which the number of entries in a longer list is estimated.
    private static let sampleBytes = 1 << 17

    /// - Parameter place: The entry to begin with; `nil` for the first entry, and for documents.
    package init(_ list: ListFile, startingAt place: URLList.Place? = nil) {
        self.list = list
        offset = place?.offset ?? 0
        content =
            if let filter = list.results {
                .results(
                    TextLines(
                        mostBytes: ResultsFile.mostLineBytes, startingAt: offset, after: (place?.line ?? 1) - 1), filter
                )
            } else {
                .lines(URLList(startingAt: place) { try? JSONValue(Data($0)) })
            }
    }

    /// Whether the list is a Metalink document; `false` if it cannot be read.
    var isDocument: Bool {
        list.results == nil && ((try? list.read(at: 0)).map(Metalink.isDocument)) ?? false
    }

    /// Returns the number of entries; counts unusable entries too. Reads the whole list.
    ///
    /// - Parameter shard: The part of the hosts whose entries count; `nil` for all.
    func countEntries(in shard: HostShard? = nil) -> Int {
        var (reader, count) = (self, 0)
        if list.results == nil, shard == nil, !isDocument {
            return reader.countLines(upTo: .max)
        }
        while let found = try? reader.next() {
            if found.endsEntry, found.belongs(to: shard) { count += 1 }
        }
        return count
    }

    /// Returns the number of entries in a list of `size` bytes, estimated from its first ones.
    func estimateEntries(size: Int, in shard: HostShard?) -> Int {
        var reader = self
        let count: Int
        if list.results == nil {
            count = reader.countLines(upTo: Self.sampleBytes)
        } else {
            var wanted = 0
            while reader.offset < Self.sampleBytes, (try? reader.next()) != nil { wanted += 1 }
            count = wanted
        }
        let share = Double(size) / Double(max(1, reader.offset)) / Double(shard?.count ?? 1)
        return Int((Double(count) * share).rounded())
    }

    private mutating func countLines(upTo most: Int) -> Int {
        guard case .lines(var lines) = content else { return 0 }
        var count = 0
        while offset < most, let bytes = try? list.read(at: offset), !bytes.isEmpty {
            offset += bytes.count
            lines.append(bytes)
            count += lines.countEntries()
        }
        lines.finish()
        return count + lines.countEntries()
    }

    /// Returns the next entry or problem; `nil` at the end.
    ///
    /// - Throws: If the rest of the list cannot be read.
    package mutating func next() throws(UsageError) -> URLList.Found? {
        while true {
            if let found = nextFound() { return found }
            if isRead { return nil }
            let bytes = try read()
            switch content {
            case .lines(var lines):
                if offset == bytes.count, Metalink.isDocument(bytes) {
                    try readDocument(from: bytes)
                } else {
                    // Otherwise, a picture or a program would be reported as thousands of unusable lines.
                    guard offset != bytes.count || !bytes.contains(0) || URLList.isUTF16(bytes[...]) else {
                        throw UsageError("its bytes are not text, so it is not a list")
                    }
                    content = .document([])
                    if isRead { lines.finish() } else { lines.append(bytes) }
                    content = .lines(lines)
                }
            case .results(var lines, let filter):
                content = .document([])
                // An incomplete last line is ignored.
                if !isRead { lines.append(bytes) }
                content = .results(lines, filter)
            case .document: return nil
            }
        }
    }

    private mutating func nextFound() -> URLList.Found? {
        switch content {
        case .document(var items):
            defer { content = .document(items) }
            if items.isEmpty { isRead = true }
            return items.popFirst()
        case .lines(var lines):
            content = .document([])
            defer { content = .lines(lines) }
            return lines.nextFound()
        case .results(var lines, let filter):
            content = .document([])
            defer { content = .results(lines, filter) }
            while let line = lines.next() {
                if let found = filter.item(line) { return found }
            }
            return nil
        }
    }

    private mutating func read() throws(UsageError) -> [UInt8] {
        do throws(UsageError) {
            var bytes = try list.read(at: offset)
            // Text that is appended to a results file meanwhile may be the results of this run.
            if list.results != nil, let size = list.size { bytes = Array(bytes.prefix(max(0, size - offset))) }
            offset += bytes.count
            isRead = bytes.isEmpty
            return bytes
        } catch {
            throw offset == 0
                ? UsageError("cannot be read: \(error.reason)")
                : UsageError("cannot be read to its end: \(error.reason)")
        }
    }

    private mutating func readDocument(from start: [UInt8]) throws(UsageError) {
        var bytes = start
        while !isRead, bytes.count <= Self.mostDocumentBytes { bytes += try read() }
        isRead = false
        do throws(TextError) {
            let items = try Metalink(parsing: bytes).items.enumerated().map { index, item in
                // One line may contain several files.
                URLList.Found(item, at: URLList.Place(line: index + 1, offset: 0), endsEntry: true)
            }
            content = .document(items[...])
        } catch { throw UsageError(error.whole) }
    }
}

extension URLList.Found {
    /// Whether the entry belongs to a part of the hosts.
    func belongs(to shard: HostShard?) -> Bool {
        guard let shard else { return true }
        return switch item {
        case .entry(let entry): shard.contains(entry.urls.first?.host)
        case .problem: shard.contains(url?.host)
        }
    }
}
