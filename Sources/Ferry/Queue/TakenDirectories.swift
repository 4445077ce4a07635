import Synchronization
import SystemPackage

/// The directories of downloads that were removed from the list with resume data, and may be resumed there.
final class TakenDirectories: Sendable {
    private let all = Mutex<Set<FilePath>>([])

    func insert(_ directory: String) {
        let directory = FilePath(directory).lexicallyNormalized()
        all.withLock { _ = $0.insert(directory) }
    }

    func contains(_ directory: FilePath) -> Bool {
        let directory = directory.lexicallyNormalized()
        return all.withLock { $0.contains(directory) }
    }
}
