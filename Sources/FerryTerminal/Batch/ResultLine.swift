import Ferry
package import FerryCore

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The result of one file of a run: a line of `--results`. A test compares its members with the table in docs/cli.md.
package struct ResultLine: Sendable, Hashable, Codable {
    /// How a file ended.
    package enum Status: String, Sendable, Hashable, Codable {
        case ok
        case failed
        case cancelled
        /// The entry is not a valid request.
        case unusable
        /// The file of another entry of the run, which has its own line.
        case duplicate
    }

    /// The URL with its query, without user info; `nil` if no URL is usable, and for a part file.
    package var url: String?
    package var mirrors: [String]?
    /// An absolute path, or the URL of an object. For a failed file, present only if its name does not depend on the server.
    package var path: String?
    /// The directory, or the prefix of objects, of a failed file without a path.
    package var directory: String?
    package var bytes: ByteCount?
    package var status: Status
    /// See ``FailureReason/word``.
    package var reason: String?
    package var message: String?
    package var httpStatus: Int?
    /// The digest of the file, if it was compared with an expected one or names the file.
    package var digest: String?
    /// The expected digest of a failed file.
    package var checksum: String?
    package var proof: Proof?
    package var wasAlreadyComplete: Bool?
    /// With `--dedup`, whether another entry's file has the same content, so that no file was added.
    package var isDuplicate: Bool?
    package var time: Date
    /// The number of attempts in this run.
    package var attempts: Int?
    /// The number of the list, from 1; `nil` if there is only one.
    package var list: Int?
    /// The line of the entry; `nil` for an argument. With `--retry-from`, ``list`` and ``line`` are those of the earlier result.
    package var line: Int?
    /// With `--retry-from`, the line in the results file.
    package var entry: Int?
    /// The columns of the entry in the list.
    package var columns: JSONValue?

    /// Creates a line with the members that are known from the request.
    package init(_ subject: ResultSubject, _ status: Status, _ date: Date) {
        let request = subject.request
        url = request.sources.first?.text
        let others = request.sources.dropFirst().map(\.text)
        mirrors = others.isEmpty ? nil : others
        self.status = status
        time = date
        columns = subject.columns
        if let earlier = subject.place?.earlier {
            (list, line, entry) = (earlier.list, earlier.line, subject.place?.line)
        } else {
            (list, line) = (subject.list, subject.place?.line)
        }
        switch (request.uploadTo, request.destination) {
        case (let object?, _) where object.path.utf8.last == UInt8(ascii: "/"): directory = object.text
        case (let object?, _): path = object.text
        case (nil, .file(let path)), (nil, .part(let path)): self.path = OwnProgram.plain(path)
        case (nil, .directory(let directory, _)): self.directory = OwnProgram.plain(directory)
        case (nil, .stream): break
        }
    }

    /// Returns the line of a completed file.
    ///
    /// - Parameter attempts: `nil` for a file that was not requested.
    package static func completed(
        _ file: FinishedDownload, _ subject: ResultSubject, attempts: Int?, _ date: Date
    ) -> ResultLine {
        var line = ResultLine(subject, .ok, date)
        line.path = file.path.isEmpty ? nil : file.path
        line.directory = nil
        line.bytes = file.totalBytes
        line.proof = file.proof
        if file.proof == .digest { line.digest = subject.request.checksum?.description }
        if file.wasAlreadyComplete { line.wasAlreadyComplete = true }
        line.attempts = attempts
        return line
    }

    /// Returns the line with the digest that names the file, and whether the file is a duplicate.
    func naming(_ stored: ContentStore.Stored) -> ResultLine {
        var line = self
        if let checksum = stored.file.checksum { line.digest = checksum.description }
        if stored.isDuplicate { line.isDuplicate = true }
        return line
    }

    /// Returns the line of a failed or cancelled file.
    package static func failed(
        _ error: DownloadError, _ subject: ResultSubject, attempts: Int?, _ date: Date
    ) -> ResultLine {
        let reason = FailureReason(error)
        var line = ResultLine(subject, error.code == .cancelled ? .cancelled : .failed, date)
        line.reason = reason.word
        line.httpStatus = reason.httpStatus
        line.message = error.message
        line.checksum = subject.request.checksum?.description
        line.attempts = attempts
        return line
    }

    /// Returns the line of an entry that is not a valid request.
    static func unusable(_ entry: UnusableEntry, list: Int?, _ date: Date) -> ResultLine {
        var line = ResultLine(
            url: entry.url?.text, status: .unusable, reason: DownloadError.Code.invalidRequest.rawValue,
            message: entry.reason.description, time: date, list: list, line: entry.place.line)
        line.columns = entry.columns
        return line
    }

    private init(
        url: String?, status: Status, reason: String, message: String, time: Date, list: Int?, line: Int
    ) {
        (self.url, self.status, self.reason, self.message) = (url, status, reason, message)
        (self.time, self.list, self.line) = (time, list, line)
    }

    /// The line, without a line feed.
    package var text: String { JSONLine.of(self).text }
}

/// The request that a result is about, and its list entry.
package struct ResultSubject: Sendable {
    package let request: DownloadRequest
    /// The entry; `nil` for an argument.
    package let place: ListPlace?
    /// The number of its list; `nil` if there is only one.
    let list: Int?
    /// The columns of the entry in the list.
    let columns: JSONValue?

    package init(request: DownloadRequest, place: ListPlace?, list: Int? = nil, columns: JSONValue? = nil) {
        (self.request, self.place, self.list, self.columns) = (request, place, list, columns)
    }
}

/// A list entry that is not a valid request.
package struct UnusableEntry: Sendable, Hashable {
    package let place: ListPlace
    package let url: DownloadURL?
    package let columns: JSONValue?
    package let reason: Reason
}

/// The members of a result that a continued run needs.
struct ResultOutcome: Codable {
    let status: ResultLine.Status
    let reason: String?
    let list: Int?
    let line: Int?
    let entry: Int?

    /// The entry; `nil` for an argument.
    var key: ListPlace.Key? {
        // A results file that is retried is the only list of its run.
        if let entry { return entry > 0 ? ListPlace.Key(list: 0, line: entry) : nil }
        guard let line, line > 0, list ?? 1 > 0 else { return nil }
        return ListPlace.Key(list: (list ?? 1) - 1, line: line)
    }

    /// How the file ended.
    var outcome: BatchCursor.Outcome {
        switch status {
        case .ok: .completed
        case .failed, .cancelled:
            .failed(
                reason == FailureReason.timeout
                    ? .network : ExitCode.of(DownloadError(DownloadError.Code(rawValue: reason ?? ""), "")))
        case .unusable: .unusable
        case .duplicate: .duplicate
        }
    }
}
