import FerryCore
import FerryEngine
import Synchronization

/// Checks that destinations are writable before the transfer. Does not block the caller's thread, which may be the main thread,
/// because a disk may not respond.
final class WritableDirectories: Sendable {
    /// Directories found writable. They are not checked again; a later failure surfaces in the run.
    private let known = Mutex<Set<String>>([])
    private let files: FileIO

    /// Maximum size of the cache, so that memory does not grow with the list.
    private static let mostKnown = 1024

    // allow(single-place): has its own `FileIO`, because it is needed before there is an engine.
    init(fileSystem: any FileSystem = LocalFileSystem()) { files = FileIO(fileSystem) }

    /// Throws if one of these destinations (absolute paths) is not writable.
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
        try await files.run { disk throws(DownloadError) in
            for place in places { try PartFiles.checkWritable(place, fileSystem: disk.fileSystem) }
        }
        known.withLock { known in
            if known.count + directories.count > Self.mostKnown { known.removeAll() }
            if directories.count <= Self.mostKnown { known.formUnion(directories) }
        }
    }
}
