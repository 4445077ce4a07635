package import FerryCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The files that a list names. The format is recognized by the content: a Metalink document, JSON lines (including Ferry's
/// manifests), comma- or tab-separated values with a heading, checksums in the format of `sha256sum`, otherwise one URL per
/// line.
package struct SetList: Sendable {
    /// The maximum size of a list in bytes.
    static let mostBytes = 1 << 28

    package private(set) var entries: [SetEntry] = []
    /// The lines that cannot be used, each in the form `line 3: reason`, and why the end of the list may be missing.
    package private(set) var problems: [Reason] = []
    /// The URL of the directory against which relative names are resolved.
    private let base: DownloadURL?
    private let safeNames: Bool

    /// - Parameters:
    ///   - bytes: The whole list.
    ///   - base: The URL against which relative names are resolved: that of the list itself, or of a directory.
    ///   - safeNames: See ``SyncOptions/safeNames``.
    ///   - mayBeCut: Whether the end of the connection ended the list, so that only the list itself can prove that it is whole.
    ///     Default false.
    /// - Throws: An error that states why the whole list cannot be used.
    package init(
        _ bytes: [UInt8], base: DownloadURL?, safeNames: Bool = false, mayBeCut: Bool = false
    ) throws(DownloadError) {
        (self.base, self.safeNames) = (base, safeNames)
        if Metalink.isDocument(bytes) {
            do throws(TextError) {
                for item in try Metalink(parsing: bytes).items { add(item) }
            } catch { throw DownloadError(.invalidRequest, error.whole).suggesting(ErrorPhrase(.listForms)) }
            return
        }
        var lines = TextLines(mostBytes: URLList.mostLineBytes)
        lines.append(bytes)
        lines.finish()
        guard let first = lines.first(where: { Self.isContent($0.bytes) })?.text.trimmedText else { return }
        if first.utf8.first == UInt8(ascii: "{") {
            addJSON(lines, mayBeCut: mayBeCut)
            return
        }
        if first.utf8.first == UInt8(ascii: "[") {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.jsonArray), suggestion: ErrorPhrase(.listForms), recovery: .needsUser)
        }
        if let heading = Heading(first) {
            addRows(bytes, heading)
        } else if first.utf8.elementsEqual(Self.clearsigned.utf8)
            || ChecksumList(String(first)).entries.first?.name != nil
        {
            try addChecksums(bytes)
        } else if Self.isBinary(bytes) {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.notAList), suggestion: ErrorPhrase(.getOneFile), recovery: .needsUser)
        } else {
            addURLs(bytes)
        }
        if mayBeCut { problems.append(.phrase(ErrorPhrase(.cutList))) }
    }

    /// The first line of a text with a signature (RFC 9580 §7). Only lists of checksums are signed in this form, and the other
    /// lines of the signature are none of theirs.
    private static let clearsigned = "-----BEGIN PGP SIGNED MESSAGE-----"

    /// Whether the bytes are not text. Text contains no zero bytes, except in UTF-16, which is refused with an error of its
    /// own.
    private static func isBinary(_ bytes: [UInt8]) -> Bool {
        !URLList.isUTF16(bytes[...]) && bytes.prefix(8192).contains(0)
    }

    private static func isContent(_ line: ArraySlice<UInt8>) -> Bool {
        line.first { !ASCII.isWhiteSpace($0) }.map { $0 != UInt8(ascii: "#") } ?? false
    }

    // MARK: URLs, Metalink

    private mutating func addURLs(_ bytes: [UInt8]) {
        var list = URLList()
        list.append(bytes)
        list.finish()
        while let item = list.next() { add(item) }
    }

    private mutating func add(_ item: URLList.Item) {
        switch item {
        case .problem(let problem): problems.append(problem.whole)
        case .entry(let entry):
            let path = entry.out.map { out in entry.dir.map { Paths.join($0, out) } ?? out }
            add(path, below: entry.dir, entry.urls, line: entry.line) { file in
                (file.totalBytes, file.checksum, file.pieces) = (entry.size, entry.checksum, entry.pieces)
            }
        }
    }

    /// Adds a file. If the list states no path, the file has the name in its first URL, below `directory`.
    private mutating func add(
        _ path: String?, below directory: String? = nil, _ urls: [DownloadURL], line: Int,
        _ body: (inout SetEntry) -> Void
    ) {
        do throws(DownloadError) {
            var entry: SetEntry
            if let path {
                entry = try SetEntry(path: path, sources: urls, safeNames: safeNames)
            } else {
                var names = directory.map(SetPath.names(in:)) ?? []
                if names.last?.isEmpty == true { names.removeLast() }
                names.append(SetPath.name(of: urls[0]))
                entry = try SetEntry(names: names, sources: urls, safeNames: safeNames)
            }
            body(&entry)
            entries.append(entry)
        } catch { problems.append("line \(line): \(error.reason)") }
    }

    // MARK: Checksums

    private mutating func addChecksums(_ bytes: [UInt8]) throws(DownloadError) {
        guard let base else { throw DownloadError(.invalidRequest, ErrorPhrase(.noSetBase), recovery: .needsUser) }
        // A list may state several digests of a file; the strongest one counts. Files are matched by the names in the list.
        var places: [[UInt8]: Int] = [:]
        for (index, line) in ChecksumList(String(decoding: bytes, as: UTF8.self)).entries.enumerated() {
            guard let name = line.name else { continue }
            let bytes = Array(name.utf8)
            if let place = places[bytes], let old = entries[place].checksum {
                if old.algorithm.strength < line.checksum.algorithm.strength { entries[place].checksum = line.checksum }
                // A different digest by the same algorithm becomes an entry of its own, which ``SetListing`` reports.
                if old.algorithm != line.checksum.algorithm || old == line.checksum { continue }
            }
            let count = entries.count
            do throws(DownloadError) {
                let url = try base.resolving(Self.reference(name))
                add(name, [url], line: index + 1) { $0.checksum = line.checksum }
            } catch { problems.append("line \(index + 1): \(error.reason)") }
            if entries.count > count, places[bytes] == nil { places[bytes] = count }
        }
    }

    /// Returns the relative reference of a file name, in which `?`, `#` and `%` are characters of the name.
    private static func reference(_ name: String) -> String {
        "./"
            + name.split(at: "/", omittingEmptySubsequences: false).map { PercentEncoding.encodeAll(String($0)) }
            .joined(separator: "/").replacing("%2E", by: ".")
    }

    // MARK: JSON lines

    private mutating func addJSON(_ lines: TextLines, mayBeCut: Bool) {
        var lineCount = 0
        /// The number in the last line, if this is the end of a manifest.
        var stated: Int?
        var isManifest = false
        for line in lines where Self.isContent(line.bytes) {
            lineCount += 1
            stated = nil
            guard !line.isTooLong, JSONStructure.isShallow(line.bytes, depth: 8),
                let members = try? JSONValue(Data(line.bytes)).members
            else {
                problems.append("line \(line.number): not a JSON object")
                continue
            }
            if members.count == 1, case .whole(let number)? = members["files"] {
                (stated, isManifest) = (number, true)
                lineCount -= 1
                continue
            }
            isManifest = isManifest || Self.isRecord(members)
            let count = entries.count
            add(line.number) { name in members[name].flatMap { Self.text($0, of: name) } }
            // The URLs after the first are mirrors. A line with a problem has added no file to which they could belong.
            if let urls = members["urls"]?.items, urls.count > 1, entries.count > count {
                let others = urls.dropFirst().prefix(DownloadRequest.mostSources - 1)
                entries[count].sources += others.compactMap { $0.string.flatMap { try? DownloadURL($0) } }
            }
        }
        if let stated {
            if stated != lineCount {
                problems.append(.phrase(ErrorPhrase(.shortList, "\(lineCount)", "\(stated)")))
            }
        } else if isManifest {
            problems.append(.phrase(ErrorPhrase(.cutManifest)))
        } else if mayBeCut {
            problems.append(.phrase(ErrorPhrase(.cutList)))
        }
    }

    /// Returns the text of a member; of a list, that of its first item. A size or digest that is not a text or a number is returned
    /// too, to become a problem: if it were ignored, the file would not be compared with it.
    private static func text(_ value: JSONValue, of name: String) -> String? {
        switch value {
        case .null: nil
        case .text(let text): text
        case .whole(let number): String(number)
        case .number(let number): String(number)
        case .list(let items): items.first.flatMap { text($0, of: name) }
        case .flag(let flag): isEvidence(name) ? String(flag) : nil
        case .object: isEvidence(name) ? "{}" : nil
        }
    }

    private static let sizeNames = ["totalBytes", "size", "bytes", "length"]
    private static let checksumNames = ["checksum", "digest"]
    private static let digestNames = ["sha512", "sha256", "sha1", "md5"]

    private static func isEvidence(_ name: String) -> Bool {
        sizeNames.contains(name) || checksumNames.contains(name) || digestNames.contains(name)
    }

    /// Whether only the manifest of a set has such a line.
    private static func isRecord(_ members: [String: JSONValue]) -> Bool {
        members["path"] != nil && members["urls"] != nil
            && (members["problem"] != nil || members["proof"] != nil && members["completedAt"] != nil)
    }

    /// Adds the file whose members or columns `value` returns.
    private mutating func add(_ line: Int, _ value: (String) -> String?) {
        func first(_ names: [String]) -> String? { names.lazy.compactMap(value).first { !$0.isEmpty } }
        let path = first(["path", "name", "file", "filename", "out"])
        do throws(DownloadError) {
            let url: DownloadURL
            if let text = first(["url", "urls", "source", "href"]) {
                if let base { url = try base.resolving(text) } else { url = try DownloadURL(text) }
            } else if let base, let path {
                url = try base.resolving(Self.reference(path))
            } else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.noSetBase), recovery: .needsUser)
            }
            let digest = try checksum(first)
            let size = first(Self.sizeNames)
            let bytes = size.flatMap { ASCII.size(Array($0.utf8)) }
            if let size, bytes == nil {
                throw DownloadError(
                    .invalidRequest,
                    ErrorPhrase(.notInRange, TextError.quote(size), "0", "\(ByteCount.bound - 1)"))
            }
            add(path, [url], line: line) { file in
                (file.totalBytes, file.checksum) = (bytes, digest)
                (file.etag, file.lastModified) = (value("etag"), value("lastModified"))
            }
        } catch { problems.append("line \(line): \(error.reason)") }
    }

    private func checksum(_ first: ([String]) -> String?) throws(DownloadError) -> Checksum? {
        do throws(TextError) {
            if let text = first(Self.checksumNames) { return try Checksum(parsing: text) }
            for name in Self.digestNames {
                if let text = first([name]) { return try Checksum(parsing: "\(name)=\(text)") }
            }
            return nil
        } catch { throw DownloadError(.invalidRequest, error.reason) }
    }

    // MARK: Separated values

    /// The names of the columns.
    private struct Heading {
        let separator: UInt8
        let columns: [String: Int]

        /// Returns `nil` if no column of the line is for the URL or the path.
        init?(_ line: String) {
            separator = line.utf8.contains(0x09) ? 0x09 : UInt8(ascii: ",")
            var rows = SeparatedRows(Array(line.utf8), separator: separator)
            let names = rows.next()?.fields?.map { $0.trimmedText.asciiLowercased } ?? []
            var columns: [String: Int] = [:]
            for (index, name) in names.enumerated() where columns[name] == nil { columns[name] = index }
            guard columns["url"] ?? columns["path"] != nil else { return nil }
            self.columns = columns
        }
    }

    private mutating func addRows(_ bytes: [UInt8], _ heading: Heading) {
        for row in SeparatedRows(bytes, separator: heading.separator).dropFirst() {
            guard let fields = row.fields else {
                problems.append("line \(row.line): \(Reason.phrase(ErrorPhrase(.unclosedQuote)))")
                continue
            }
            add(row.line) { name in
                guard let column = heading.columns[name.asciiLowercased], fields.indices.contains(column) else {
                    return nil
                }
                return fields[column].trimmedText
            }
        }
    }
}
