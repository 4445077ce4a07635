import Ferry
import FerryAPI
import FerryCore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The sets of the daemon with their states, in a file with mode 0600 that is replaced at each change of a state.
///
/// Progress is only in memory: after a kill, the states determine which sets resume, and the manifest of each directory which files
/// exist.
final class SetStore: Sendable {
    /// The maximum number of sets.
    static let most = 1000
    private static let mostBytes = 64 << 20
    /// The maximum size of all sets without the reports of their last runs. The rest of the file is for these reports, with a limit
    /// for each set.
    private static let mostDefinedBytes = 16 << 20

    private let file: PrivateFile
    private let state: Mutex<State>
    private let changes = FileChanges()

    private struct State {
        var sets: [FileSet]
        /// The number of the last change.
        var position: UInt64 = 0

        /// Replaces the sets; sets that differ get the number of the change.
        mutating func replace(_ new: [FileSet]) {
            position += 1
            let old = Dictionary(sets.map { ($0.id, $0) }) { first, _ in first }
            sets = new.map { set in
                var set = set
                if old[set.id] != set { set.asOf = position }
                return set
            }
        }
    }

    /// Reads the file. An unreadable file counts as empty and is renamed to `NAME.unreadable`.
    init(_ path: String) {
        file = PrivateFile(path, most: Self.mostBytes)
        let text = file.read()
        let read = text.flatMap { try? JSONCoding.decode([FileSet].self, from: Data($0.utf8)) }
        if read == nil { file.keepUnreadable() }
        state = Mutex(State(sets: read ?? []))
    }

    /// All sets, in the order in which they were added.
    var all: [FileSet] { state.withLock { $0.sets } }

    var items: FileSetItems { state.withLock { FileSetItems($0.sets, asOf: $0.position) } }

    /// The number of the last change of a set.
    var position: UInt64 { state.withLock { $0.position } }

    func set(_ id: String) -> FileSet? { all.first { $0.id == id } }

    /// Changes the sets durably. Changes nothing if `body` throws, or if a new set, or new options of a set, would make
    /// the file too large to be read back.
    func change<Value: Sendable>(
        _ body: @escaping @Sendable (inout [FileSet]) throws(DownloadError) -> Value
    ) async throws(DownloadError) -> Value {
        try await changes.run { () throws(DownloadError) in
            var new = self.all
            let value = try body(&new)
            if new.count >= self.all.count, new.map(\.set) != self.all.map(\.set) {
                let size = try Self.text(new.map(\.withoutOutcome)).utf8.count
                guard size <= Self.mostDefinedBytes else {
                    throw DownloadError(
                        .invalidRequest,
                        ErrorPhrase(.largeRecord, self.file.path, "\(size)", "\(Self.mostDefinedBytes)"),
                        recovery: .needsUser)
                }
            }
            try self.file.write(try Self.text(new))
            // Overwrites progress that was noted meanwhile; the next report repeats it.
            let written = new
            self.state.withLock { $0.replace(written) }
            return value
        }
    }

    private static func text(_ sets: [FileSet]) throws(DownloadError) -> String {
        let stored = sets.map { set in
            var set = set
            set.asOf = nil
            return set
        }
        do { return String(decoding: try JSONCoding.encode(stored), as: UTF8.self) } catch {
            throw DownloadError(.internal, "the sets cannot be written", underlying: "\(error)")
        }
    }

    /// Records progress in memory only. Returns the set; `nil` if it is not listed.
    func note(_ id: String, _ body: (inout FileSet) -> Void) -> FileSet? {
        state.withLock { state in
            guard let index = state.sets.firstIndex(where: { $0.id == id }) else { return nil }
            body(&state.sets[index])
            state.position += 1
            state.sets[index].asOf = state.position
            return state.sets[index]
        }
    }
}

extension FileSet {
    /// The maximum size of each list in the report of a run, in bytes as stored.
    static let mostToldBytes = 16 << 10
    /// The maximum size of one entry of such a list.
    private static let mostEntryBytes = 1 << 10

    /// The set without the report of its last run.
    var withoutOutcome: FileSet {
        var set = self
        (set.incomplete, set.problems, set.error) = (nil, nil, nil)
        return set
    }

    /// Returns the first entries that fit, because a server controls their number and length; `nil` if there are none.
    private static func told<Entry: Encodable>(
        _ entries: some Sequence<Entry>, cut: (Entry) -> Entry
    ) -> [Entry]? {
        var (told, left): ([Entry], Int) = ([], mostToldBytes)
        for entry in entries.prefix(mostTold) {
            let entry = size(of: entry) > mostEntryBytes ? cut(entry) : entry
            left -= size(of: entry)
            guard left >= 0 else { break }
            told.append(entry)
        }
        return told.isEmpty ? nil : told
    }

    private static func size(of entry: some Encodable) -> Int { (try? JSONCoding.encode([entry]).count) ?? .max }

    /// Records the files that a run could not complete, and its problems.
    mutating func tell(_ report: SyncReport) {
        incomplete = Self.told(
            report.incomplete,
            cut: { IncompleteFile(path: $0.path, error: $0.error.map { Self.cut($0) }) })
        problems = Self.told(report.problems, cut: { Self.cut($0) })
    }

    /// Records why the whole run failed.
    mutating func tell(_ failure: DownloadError) {
        error = Self.size(of: failure) > Self.mostEntryBytes ? Self.cut(failure) : failure
    }

    private static func cut(_ error: DownloadError) -> DownloadError {
        DownloadError(error.code, cut(error.message), recovery: error.recovery)
    }

    /// Returns the beginning of a string.
    private static func cut(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(200))) + "…"
    }
}
