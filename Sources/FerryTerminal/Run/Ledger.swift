package import Ferry
import FerryCore

/// The counters of a run: open files, ended files and exit codes. No I/O.
package struct Ledger: Sendable {
    /// Submitted files that have not ended.
    private var open: [DownloadID: Entry] = [:]
    /// The number of files that are being requested without a handle.
    private var unlistedCount = 0
    /// The number of files that have ended but are not settled: their results are still being written.
    private var unsettledCount = 0
    /// The order of submission; may contain files that have ended.
    private var order: [DownloadID] = []
    /// The files that ended last, in two generations, so that memory does not grow with the run.
    private var ended: Set<DownloadID> = []
    private var endedBefore: Set<DownloadID> = []
    private static let mostEnded = 10_000
    /// The codes of files that have failed.
    private var codes: Set<ExitCode> = []
    /// The codes of errors that concern no file.
    private var otherCodes: Set<ExitCode> = []
    package private(set) var finishedCount = 0
    package private(set) var failedCount = 0
    /// The number of files of this run for each status or word of ``FailureReason``.
    private var failures: [String: Int] = [:]
    package private(set) var finishedBytes: ByteCount = 0
    /// The bytes that were received, including those of files that have failed.
    package private(set) var receivedBytes: ByteCount = 0
    /// The number of all files, including those not yet submitted; an estimate until all are submitted.
    package var expectedCount = 0
    /// Whether ``expectedCount`` is an estimate.
    package var isEstimate = false
    /// Whether all files are submitted.
    package private(set) var isSubmitted = false
    /// The exit code of the signal that stopped the run.
    package var interruption: ExitCode?

    package init() {}

    /// Whether all files have ended and are settled.
    package var isDone: Bool { isSubmitted && openCount == 0 && unlistedCount == 0 && unsettledCount == 0 }
    package var exitCode: ExitCode { interruption ?? ExitCode.combine(codes.union(otherCodes)) }
    /// The ``exitCode`` of a run whose files may fail. Other errors, such as an unreadable list, still determine it.
    package var exitCodeAllowingFailures: ExitCode {
        interruption ?? ExitCode.combine(otherCodes.union(codes.map(\.allowingFailures)))
    }

    /// The number of submitted files that have not ended.
    package var openCount: Int { open.count }
    /// The number of files that were submitted.
    private var submittedCount: Int { open.count + unlistedCount + finishedCount + failedCount }

    /// The open files in the order of submission.
    package var entries: [Entry] { order.compactMap { open[$0] } }

    /// Registers a handle. Returns false if the file was already submitted.
    package mutating func register(_ entry: Entry, id: DownloadID) -> Bool {
        guard open[id] == nil, !ended.contains(id), !endedBefore.contains(id) else { return false }
        open[id] = entry
        order.append(id)
        // An estimate may be too low.
        expectedCount = max(expectedCount, submittedCount)
        return true
    }

    /// Records that all files are submitted. Returns false if this was already recorded.
    package mutating func endSubmission() -> Bool {
        defer {
            isSubmitted = true
            isEstimate = false
            expectedCount = submittedCount
        }
        return !isSubmitted
    }

    /// Returns the open file of an event.
    package func entry(for event: DownloadEvent) -> Entry? { open[event.id] }

    package mutating func change(_ id: DownloadID, _ body: (inout Entry) -> Void) {
        guard var entry = open[id] else { return }
        body(&entry)
        open[id] = entry
    }

    /// Records the end of a file, after which later events for it are ignored. Call ``settle()`` when its results are written.
    package mutating func close(_ id: DownloadID) {
        guard open.removeValue(forKey: id) != nil else { return }
        unsettledCount += 1
        if ended.count == Self.mostEnded { (endedBefore, ended) = (ended, []) }
        ended.insert(id)
        // Compacted rarely, to avoid quadratic cost for lists of thousands of files.
        if order.count > 64, order.count > 2 * open.count { order.removeAll { open[$0] == nil } }
    }

    /// Records a file that is requested without a handle.
    package mutating func beginUnlisted() {
        unlistedCount += 1
        expectedCount = max(expectedCount, submittedCount)
    }

    /// Records that such a file has ended, or has got a handle.
    package mutating func endUnlisted() { unlistedCount -= 1 }

    /// Records a file that has ended without a handle. Call ``settle()`` when its results are written.
    package mutating func closeUnlisted() { unsettledCount += 1 }

    /// Records that the remaining work for a closed file is done.
    package mutating func settle() { unsettledCount -= 1 }

    package mutating func countFinished(_ file: FinishedDownload) {
        finishedCount += 1
        finishedBytes = finishedBytes.adding(max(0, file.totalBytes))
        receivedBytes = receivedBytes.adding(max(0, file.receivedBytes))
    }

    /// Counts a closed file that was already counted for an earlier entry of the run.
    package mutating func countRepeated() { expectedCount -= 1 }

    /// - Parameter receivedBytes: The bytes that this run has received before the error.
    package mutating func countFailed(_ error: DownloadError, receivedBytes: ByteCount = 0) {
        failedCount += 1
        self.receivedBytes = self.receivedBytes.adding(max(0, receivedBytes))
        codes.insert(ExitCode.of(error))
        let reason = FailureReason(error)
        failures[reason.httpStatus.map { "\($0)" } ?? reason.word, default: 0] += 1
    }

    /// Counts an entry of a list that cannot be used.
    package mutating func countUnusable() {
        failedCount += 1
        codes.insert(.usage)
        failures[DownloadError.Code.invalidRequest.rawValue, default: 0] += 1
    }

    /// The number of files of this run that have failed for each reason, in descending order: `404: 12, timeout: 3`.
    package var failureText: String {
        failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key): \($0.value)" }.joined(
            separator: ", ")
    }

    /// Adds the files that ended in earlier runs.
    package mutating func goOn(_ counts: BatchCursor.Counts) {
        finishedCount += counts.completed
        failedCount += counts.failed + counts.unusable
        codes.formUnion(counts.codes)
    }

    /// Records an error that concerns no file: a bad line or a directory.
    package mutating func note(_ code: ExitCode) { otherCodes.insert(code) }

    /// Returns the progress of all files.
    ///
    /// - Parameter open: The statuses of the open files.
    package func whole(_ open: [DownloadStatus]) -> WholeProgress {
        var whole = WholeProgress(
            fileCount: expectedCount, finishedCount: finishedCount, failedCount: failedCount,
            completedBytes: finishedBytes, totalBytes: finishedBytes)
        whole.isEstimate = isEstimate
        if !isSubmitted || open.count + finishedCount + failedCount < expectedCount { whole.totalBytes = nil }
        for status in open {
            let progress = status.progress
            whole.completedBytes = whole.completedBytes.adding(max(0, progress.completedBytes))
            if let sum = whole.totalBytes { whole.totalBytes = progress.totalBytes.map { sum.adding(max(0, $0)) } }
            whole.bytesPerSecond += progress.bytesPerSecond
            whole.connections += progress.connections
            whole.openFraction += min(1, max(0, progress.fraction ?? 0))
        }
        return whole
    }
}

/// The state of one file in a run.
package struct Entry: Sendable {
    /// The redacted URL of the request.
    package var url: String?
    /// The host of that URL.
    let host: String?
    /// The part file that the request resumes.
    package var part: String?
    /// The path of the file, if the request specifies one.
    package var destination: String?
    package var download: Download
    /// The name from the server's response.
    package var name: String?
    /// The bytes on disk before this run.
    package var offset: ByteCount = 0
    /// When the server responded or, before that, when the manager received the request. Monotonic, since the start of
    /// the run.
    package var startedAt: Duration
    /// The number of attempts in this run.
    package var attempts = 1
    /// The subject of its result; `nil` without results.
    package let subject: ResultSubject?
    /// The planned request.
    package let request: DownloadRequest

    /// Returns the bytes that this run has received, according to the file's status.
    func receivedBytes(_ status: DownloadStatus) -> ByteCount { max(0, status.progress.completedBytes - offset) }

    package init(
        request: DownloadRequest, download: Download, startedAt: Duration, subject: ResultSubject? = nil
    ) {
        (url, part) = Self.origin(of: request)
        host = request.host
        if case .file(let path) = request.destination { destination = path }
        (self.subject, self.request) = (subject, request)
        self.download = download
        self.startedAt = startedAt
    }

    /// The text that distinguishes the URL from others that look the same in messages; `nil` if none is needed.
    var mark: Reason?

    /// The name for messages.
    package var shownName: String { name ?? url.map { Self.shown($0, mark) } ?? part.map(Paths.name(of:)) ?? "" }

    /// Returns the redacted URL, followed by the text that distinguishes it from others.
    static func shown(_ url: String, _ mark: Reason?) -> String { mark.map { "\(url) (\($0.local))" } ?? url }

    /// Returns the redacted URL and the part file of a request.
    package static func origin(of request: DownloadRequest) -> (url: String?, part: String?) {
        var part: String?
        if case .part(let path) = request.destination { part = path }
        return (request.sources.first?.redacted, part)
    }
}
