package import Ferry

/// The books of a run: which files are open, how many ended, what they ended with. No I/O.
package struct Ledger: Sendable {
    /// Files that were handed to the manager and have not ended.
    private var open: [DownloadID: Entry] = [:]
    /// Their order, with gaps where files have ended.
    private var order: [DownloadID] = []
    /// What happened to files whose handle is not known here yet.
    private var pending: [DownloadID: [DownloadEvent]] = [:]
    private var ended: Set<DownloadID> = []
    private var codes: Set<ExitCode> = []
    package private(set) var finishedCount = 0
    package private(set) var failedCount = 0
    package private(set) var finishedBytes: ByteCount = 0
    package private(set) var receivedBytes: ByteCount = 0
    /// All files, those not yet handed over included.
    package var expectedCount = 0
    /// No more files will come.
    package var isSubmitted = false
    /// A signal asked to stop.
    package var interruption: ExitCode?

    package init() {}

    /// All that was asked for has ended.
    package var isDone: Bool { isSubmitted && open.isEmpty }
    package var exitCode: ExitCode { interruption ?? ExitCode.combine(codes) }

    /// The open files, in the order in which they came.
    package var entries: [Entry] { order.compactMap { open[$0] } }

    /// The manager gave a handle; returns what has happened to it already, `nil` when it is a file that is listed twice.
    package mutating func register(_ entry: Entry, id: DownloadID) -> [DownloadEvent]? {
        guard open[id] == nil, !ended.contains(id) else {
            expectedCount -= 1
            return nil
        }
        open[id] = entry
        order.append(id)
        return pending.removeValue(forKey: id) ?? []
    }

    /// Something happened: the file it happened to, or `nil` when that is to be told later, or has ended.
    package mutating func entry(for event: DownloadEvent) -> Entry? {
        if let entry = open[event.id] { return entry }
        if !ended.contains(event.id) { pending[event.id, default: []].append(event) }
        return nil
    }

    package func isOpen(_ id: DownloadID) -> Bool { open[id] != nil }

    package mutating func change(_ id: DownloadID, _ body: (inout Entry) -> Void) {
        guard var entry = open[id] else { return }
        body(&entry)
        open[id] = entry
    }

    /// The file has ended; what happens to it later is not told any more.
    package mutating func close(_ id: DownloadID) {
        guard open.removeValue(forKey: id) != nil else { return }
        ended.insert(id)
        // Tidied rarely: a list of thousands must not cost the square of its length.
        if order.count > 64, order.count > 2 * open.count { order.removeAll { open[$0] == nil } }
    }

    package mutating func countFinished(_ file: FinishedDownload) {
        finishedCount += 1
        finishedBytes = finishedBytes.adding(max(0, file.totalBytes))
        receivedBytes = receivedBytes.adding(max(0, file.receivedBytes))
    }

    package mutating func countFailed(_ code: ExitCode) {
        failedCount += 1
        codes.insert(code)
    }

    /// Something is wrong that is no file: a bad line, a directory.
    package mutating func note(_ code: ExitCode) { codes.insert(code) }

    /// How far all files are; `open` are the statuses of the open ones.
    package func whole(_ open: [DownloadStatus]) -> WholeProgress {
        var whole = WholeProgress(
            fileCount: expectedCount, finishedCount: finishedCount, failedCount: failedCount,
            completedBytes: finishedBytes, totalBytes: finishedBytes)
        if !isSubmitted || open.count + finishedCount + failedCount < expectedCount { whole.totalBytes = nil }
        for status in open {
            let progress = status.progress
            whole.completedBytes = whole.completedBytes.adding(max(0, progress.completedBytes))
            if let sum = whole.totalBytes { whole.totalBytes = progress.totalBytes.map { sum.adding(max(0, $0)) } }
            whole.bytesPerSecond += progress.bytesPerSecond
            whole.connections += progress.connections
        }
        return whole
    }
}
