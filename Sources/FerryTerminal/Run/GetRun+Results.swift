import Ferry
import FerryCore
import Synchronization

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// The lines of `--results`.
extension GetRun {
    /// Goes on with the counts of earlier runs, and says so.
    func beginResults() async {
        guard let results else { return }
        if let notice = results.notice { reporter.message(notice.shown) }
        if let counts = results.resumed?.counts { ledger.withLock { $0.goOn(counts) } }
        await check(results.begin())
    }

    func finishResults() {
        guard let reason = results?.finish() else { return }
        reporter.error(failure(reason))
        ledger.withLock { $0.note(.disk) }
    }

    /// Reports that the plan has no item. A part of the hosts may well have none.
    func reportEmpty() {
        let items = plan.items
        if let results, results.resumed?.last != nil {
            let command = "--retry-from \(ShellWord.quote(results.name))"
            let text: Reason =
                results.counts.failed == 0
                ? "\(results.name): no entry is left"
                : "\(results.name): no entry is left; \(command) requests those that failed"
            reporter.message(text.shown)
        } else if let list = items.lists.first, list.results != nil {
            reporter.message(("\(list.name): no failure in it to request again" as Reason).shown)
        } else if items.shard == nil {
            reporter.error(PlannedItems.empty.shown)
        }
    }

    /// Records that a request is taken from the plan. Returns what its result is about; `nil` without results.
    func take(_ request: DownloadRequest, _ place: ListPlace?) async -> ResultSubject? {
        guard let results else { return nil }
        if let place { await check(results.take(place)) }
        return ResultSubject(request: request, place: place, list: results.listNumber(of: place))
    }

    /// Records the end of a completed file; `attempts`: `nil` if it was not requested.
    func record(_ stored: ContentStore.Stored, _ subject: ResultSubject?, attempts: Int?, date: Date) async {
        guard let results, let subject else { return }
        var line = ResultLine.completed(stored.file, subject, attempts: attempts, date)
        if plan.contentNames != nil { line = line.naming(stored) }
        await check(results.end(line, subject.place?.key, .completed))
    }

    func record(_ error: DownloadError, _ subject: ResultSubject?, attempts: Int?, date: Date) async {
        guard let results, let subject else { return }
        let line = ResultLine.failed(error, subject, attempts: attempts, date)
        await check(results.end(line, subject.place?.key, .failed(ExitCode.of(error))))
    }

    func recordDuplicate(_ subject: ResultSubject?) async {
        guard let results, let subject else { return }
        await check(results.end(ResultLine(subject, .duplicate, Date()), subject.place?.key, .duplicate))
    }

    func recordUnusable(_ entry: UnusableEntry) async {
        guard let results else { return }
        await check(results.take(entry.place))
        let line = ResultLine.unusable(entry, list: results.listNumber(of: entry.place), Date())
        await check(results.end(line, entry.place.key, .unusable))
    }

    /// Stops the run if its results cannot be written: the next run would request again what this one has fetched.
    func check(_ reason: Reason?) async {
        guard let reason else { return }
        await stop(.disk) { reporter.error(failure(reason)) }
    }

    private func failure(_ reason: Reason) -> String {
        ("\(results?.name ?? ""): the results cannot be written: \(reason)" as Reason).shown
    }
}
