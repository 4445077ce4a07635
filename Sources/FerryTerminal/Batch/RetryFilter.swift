import FerryCore

/// Selects the lines of an earlier results file that are requested again, and limits where their files may be.
package struct RetryFilter: Sendable, Hashable {
    /// The words; if these and the statuses are empty, every failure is selected.
    private let words: Set<String>
    private let statuses: Set<Int>
    /// The absolute directory that no path may leave.
    private let directory: String

    /// - Parameter only: The value of `--only`: words and HTTP statuses with commas between them; `nil` for all failures.
    package init(only: String?, directory: String) throws(UsageError) {
        var (words, statuses): (Set<String>, Set<Int>) = ([], [])
        for part in only?.split(at: ",", omittingEmptySubsequences: false) ?? [] {
            let word = part.trimmedText
            if let status = Int(word), FailureReason.statuses.contains(status) {
                statuses.insert(status)
            } else if FailureReason.words.contains(word) {
                words.insert(word)
            } else {
                let all = FailureReason.words.joined(separator: ", ")
                throw UsageError("--only \(TextError.quote(word)): there are \(all), and HTTP statuses")
            }
        }
        (self.words, self.statuses) = (words, statuses)
        // Paths are compared as text, because symbolic links below the directory were made by its user.
        self.directory = directory
    }

    private func isWanted(_ line: ResultLine) -> Bool {
        switch line.status {
        // The request of an unusable entry is unknown; it must be corrected in its list.
        case .ok, .duplicate, .unusable: false
        case .failed, .cancelled:
            words.isEmpty && statuses.isEmpty || words.contains(line.reason ?? "")
                || line.httpStatus.map(statuses.contains) ?? false
        }
    }

    /// Returns the entry of a line; `nil` if it is not requested again.
    func item(_ line: TextLines.Line) -> URLList.Found? {
        if line.isTooLong { return problem("this line is no result", line) }
        if line.bytes.isEmpty || line.bytes.starts(with: BatchCheckpoint.mark) { return nil }
        guard let result = ResultsReader.decode(ResultLine.self, line.bytes) else {
            return problem("this line is no result", line)
        }
        guard isWanted(result) else { return nil }
        do throws(TextError) {
            let entry = try entry(of: result, line: line.number)
            return URLList.Found(
                .entry(entry), at: URLList.Place(line: line.number, offset: line.offset), endsEntry: true,
                earlier: URLList.Earlier(list: result.list, line: result.line))
        } catch {
            return problem(error.reason, line)
        }
    }

    private func entry(of result: ResultLine, line: Int) throws(TextError) -> URLList.Entry {
        var urls: [DownloadURL] = []
        for text in [result.url].compactMap(\.self) + (result.mirrors ?? []) {
            do { urls.append(try DownloadURL(text)) } catch { throw TextError(error.reason) }
        }
        guard !urls.isEmpty, urls.count <= DownloadRequest.mostSources else {
            throw TextError("the result has no URL; correct its line in the list")
        }
        var entry = URLList.Entry(urls: urls, line: line)
        entry.out = try result.path.map { path throws(TextError) in try inside(path) }
        entry.dir = try result.directory.map { path throws(TextError) in try inside(path) }
        entry.columns = result.columns
        entry.checksum = try result.checksum.map { text throws(TextError) in try Checksum(parsing: text) }
        return entry
    }

    /// Returns the path if it is the directory itself or lies below it.
    private func inside(_ path: String) throws(TextError) -> String {
        let isPlain =
            !path.utf8.contains(0) && Paths.isAbsolute(path)
            && path.split(at: "/").allSatisfy { $0 != "." && $0 != ".." }
        guard isPlain, Paths.isPlace(path, in: directory) else {
            throw TextError("its path \(TextError.quote(path)) is not below \(directory); name its directory with -d")
        }
        return path
    }

    private func problem(_ reason: Reason, _ line: TextLines.Line) -> URLList.Found {
        let place = URLList.Place(line: line.number, offset: line.offset)
        return URLList.Found(
            .problem(URLList.Problem(line: line.number, reason: reason)), at: place, endsEntry: true)
    }
}
