import FerryAPI
import FerryCore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The sets of the daemon with their states, in a file of mode 0600 that is replaced at each change of a state.
///
/// Progress is in memory alone: after a kill the state says what goes on, and the manifest of the directory what is there.
final class SetStore: Sendable {
    /// The maximum number of sets.
    static let most = 1000
    private static let mostBytes = 64 << 20

    private let path: String
    private let sets: Mutex<[FileSet]>
    private let changes = FileChanges()

    /// Reads the file. One that cannot be read counts as empty and is renamed to `NAME.unreadable`.
    init(_ path: String) {
        self.path = path
        let text = PrivateFile.read(path, most: Self.mostBytes)
        let read = text.flatMap { try? APICoding.decode([FileSet].self, from: Data($0.utf8)) }
        if read == nil { PrivateFile.keepUnreadable(path) }
        sets = Mutex(read ?? [])
    }

    /// All sets in the order of their addition.
    var all: [FileSet] { sets.withLock { $0 } }

    func set(_ id: String) -> FileSet? { sets.withLock { $0.first { $0.id == id } } }

    /// Changes the sets, durable on return. `body` may throw; then nothing is changed.
    func change<Value: Sendable>(
        _ body: @escaping @Sendable (inout [FileSet]) throws(DownloadError) -> Value
    ) async throws(DownloadError) -> Value {
        try await changes.run { () throws(DownloadError) in
            var new = self.all
            let value = try body(&new)
            let text: String
            do { text = String(decoding: try APICoding.encode(new), as: UTF8.self) } catch {
                throw DownloadError(.internal, "the sets cannot be written", underlying: "\(error)")
            }
            try PrivateFile.write(text, to: self.path)
            // Progress may have been noted meanwhile, which the next report repeats.
            let written = new
            self.sets.withLock { $0 = written }
            return value
        }
    }

    /// Notes progress, which is not stored. Returns the set; `nil` if it is not listed.
    func note(_ id: String, _ body: (inout FileSet) -> Void) -> FileSet? {
        sets.withLock { sets in
            guard let index = sets.firstIndex(where: { $0.id == id }) else { return nil }
            body(&sets[index])
            return sets[index]
        }
    }
}
