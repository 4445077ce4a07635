import Ferry
package import FerryCore
import Synchronization

/// The results of a run, and the cursor from which the next run continues.
///
///     entry taken ─► cursor          file ended ─► line ─► cursor ─► a checkpoint after 1024 or more lines
///
/// Invariants:
/// - An entry counts as ended only if its line is written. A line is written in one call, so the lines of several processes
///   are not mixed, and only the last one can be incomplete.
/// - The entry of every line after a checkpoint was open in the checkpoint, or was taken later.
///
/// After a crash, the next run continues from the last checkpoint in the file; an entry with a line is not requested again.
package final class ResultsLog: Sendable {
    private struct State {
        var cursor: BatchCursor
        var linesSinceCheckpoint = 0
        /// Whether the last checkpoint contains this cursor.
        var isClean = false
        var failure: Reason?
    }

    /// The name in messages.
    let name: String
    private let file: ResultsFile?
    private let console: Console?
    private let lists: [ListFile]
    private let heads: [ListHead?]
    private let shard: HostShard?
    private let mostLines: Int
    private let state: Mutex<State>
    /// The cursor of an earlier run; `nil` if the run begins at the first entry.
    package let resumed: BatchCursor?
    /// The message at the start.
    package let notice: Reason?

    /// Opens the results of a plan; `nil` if it has none.
    package static func open(_ plan: GetPlan, _ console: Console) throws(UsageError) -> ResultsLog? {
        let (lists, shard) = (plan.items.lists, plan.items.shard)
        return switch plan.results {
        case nil: nil
        case "-"?: ResultsLog(console, lists: lists)
        case let path?: try ResultsLog(path, lists: lists, shard: shard, window: plan.window)
        }
    }

    /// Writes lines to standard output, without a cursor.
    private init(_ console: Console, lists: [ListFile]) {
        (name, file, self.console, self.lists) = ("-", nil, console, lists)
        (heads, shard, mostLines, resumed, notice) = ([], nil, .max, nil, nil)
        state = Mutex(State(cursor: BatchCursor()))
    }

    /// Opens a results file, and reads its cursor.
    ///
    /// - Parameter window: The maximum number of open entries.
    private init(_ path: String, lists: [ListFile], shard: HostShard?, window: Int) throws(UsageError) {
        do throws(UsageError) {
            let file = try ResultsFile(path)
            heads = lists.map { ListHead($0) }
            (name, self.file, console, self.lists, self.shard) = (path, file, nil, lists, shard)
            mostLines = max(1024, 4 * window)
            let earlier = try file.checkpoint()
            let isSame = earlier?.checkpoint.isOf(lists, shard: shard) ?? false
            var found: (cursor: BatchCursor, hasLines: Bool)?
            if let earlier, isSame { found = try file.cursor(after: earlier) }
            let cursor = found?.cursor
            resumed = cursor
            state = Mutex(State(cursor: cursor ?? BatchCursor(), isClean: found?.hasLines == false))
            if let last = cursor?.last, let counts = cursor?.counts {
                notice =
                    "\(path): continues after line \(last.line); so far \(counts.completed) complete, \(counts.failed) failed"
            } else if earlier?.checkpoint.last != nil, cursor == nil {
                notice = "\(path): its results are of another list; this list begins at its first line"
            } else {
                notice = nil
            }
        } catch { throw UsageError("--results \(path): \(error.reason)") }
    }

    /// Writes the first checkpoint of the run. Returns the reason if it cannot be written.
    package func begin() -> Reason? { state.withLock { writeCheckpoint(&$0) } }

    /// Records that an entry was taken.
    package func take(_ place: ListPlace) -> Reason? {
        state.withLock { state in
            state.isClean = false
            return state.cursor.take(place) ? writeCheckpoint(&state) : nil
        }
    }

    /// Writes a line, and records the end of its file. Returns, once, the reason why nothing more can be written.
    ///
    /// - Parameter key: The entry; `nil` for an argument.
    package func end(_ line: ResultLine, _ key: ListPlace.Key?, _ outcome: BatchCursor.Outcome) -> Reason? {
        let text = line.text
        if let console {
            console.whole(text + "\n")
            return nil
        }
        return state.withLock { state in
            if let failure = write(text, &state) { return failure }
            guard state.failure == nil else { return nil }
            state.isClean = false
            state.cursor.end(key, outcome)
            state.linesSinceCheckpoint += 1
            // A checkpoint contains all open entries, so it is written only after as many lines.
            let due = max(mostLines, state.cursor.openCount)
            return state.linesSinceCheckpoint >= due ? writeCheckpoint(&state) : nil
        }
    }

    /// Writes the last checkpoint of the run.
    package func finish() -> Reason? {
        let failure = state.withLock { writeCheckpoint(&$0) }
        file?.sync()
        return failure
    }

    /// The ended entries of all runs that used the file.
    package var counts: BatchCursor.Counts { state.withLock { $0.cursor.counts } }

    private func writeCheckpoint(_ state: inout State) -> Reason? {
        guard file != nil, state.failure == nil, !state.isClean else { return nil }
        state.isClean = true
        state.linesSinceCheckpoint = 0
        return write(BatchCheckpoint(state.cursor, of: lists, heads: heads, shard: shard).line, &state)
    }

    private func write(_ text: String, _ state: inout State) -> Reason? {
        guard state.failure == nil, let reason = file?.append(Array((text + "\n").utf8)) else { return nil }
        state.failure = reason
        return reason
    }

    /// Returns the list's number in a result.
    func listNumber(of place: ListPlace?) -> Int? { lists.count > 1 ? place.map { $0.list + 1 } : nil }
}
