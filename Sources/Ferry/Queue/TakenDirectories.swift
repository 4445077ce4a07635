import Synchronization
import SystemPackage

/// Directories of downloads that were removed from the list with resume data, which may be used there again.
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
