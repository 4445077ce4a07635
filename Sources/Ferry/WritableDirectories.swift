import Dispatch
import FerryCore
import FerryEngine
import Synchronization

/// Where downloads can go, looked at before a byte is fetched: away from the caller's thread, which may be an app's main
/// one, while the disk may be one that does not answer.
final class WritableDirectories: Sendable {
    /// Directories that could be written to: they are not looked at again, but by each run, and an error then.
    private let known = Mutex<Set<String>>([])
    private let fileSystem: any FileSystem

    /// So many directories are remembered, so that memory does not grow with the list.
    private static let mostKnown = 1024

    init(fileSystem: any FileSystem = LocalFileSystem()) { self.fileSystem = fileSystem }

    /// Throws when one of these destinations, absolute, cannot be written to.
    func check(_ destinations: [DownloadRequest.Destination]) async throws(DownloadError) {
        let (places, directories) = known.withLock { known in
            var places: [DownloadRequest.Destination] = []
            var directories: Set<String> = []
            for destination in destinations {
                switch destination {
                case .stream: continue
                case .directory(let path, _):
                    if known.contains(path) || !directories.insert(path).inserted { continue }
                case .file, .part: break
                }
                places.append(destination)
            }
            return (places, directories)
        }
        guard !places.isEmpty else { return }
        if let failure = await failure(of: places) { throw failure }
        known.withLock { known in
            if known.count + directories.count > Self.mostKnown { known.removeAll() }
            if directories.count <= Self.mostKnown { known.formUnion(directories) }
        }
    }

    private func failure(of places: [DownloadRequest.Destination]) async -> DownloadError? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async { [fileSystem] in
                continuation.resume(returning: Self.look(at: places, fileSystem))
            }
        }
    }

    private static func look(
        at places: [DownloadRequest.Destination], _ fileSystem: any FileSystem
    ) -> DownloadError? {
        for place in places {
            do throws(DownloadError) { try PartFiles.checkWritable(place, fileSystem: fileSystem) } catch {
                return error
            }
        }
        return nil
    }
}
