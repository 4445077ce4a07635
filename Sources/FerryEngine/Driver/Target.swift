import FerryCore
import Synchronization
import SystemPackage

/// The file that a run creates: its name, the files that it replaces, and finally the file itself.
final class Target: Sendable {
    private let state: Mutex<State>

    private struct State {
        var name: String
        var object: DownloadURL?
        var backup = Prepared.Backup.absent
        var emptyHalf: PublishedFile?
        var wanted: FilePath?
        var started: (name: String, totalBytes: ByteCount?)?
        var contentType: String?
        var earlier: Prepared.EarlierFile?
        var isDistrusted = false
        var wasCompared = false
        var existing: FinishedDownload?
        var published: PublishedFile?
    }

    /// - Parameter name: The expected name.
    init(name: String) { state = Mutex(State(name: name)) }

    /// Records the files that existed before the run.
    func took(_ prepared: Prepared) {
        state.withLock { state in
            (state.name, state.backup, state.emptyHalf) = (prepared.name, prepared.backup, prepared.emptyHalf)
            (state.earlier, state.isDistrusted) = (prepared.earlier, prepared.isDistrusted)
        }
    }

    // MARK: Names

    /// The file's name, final or expected.
    var name: String { state.withLock { $0.name } }
    func named(_ name: String) { state.withLock { $0.name = name } }

    /// The path of the file if no other file had its name; `nil` if this run does not choose the name.
    var wanted: FilePath? { state.withLock { $0.wanted } }

    /// Sets the name for the server's file, which may be numbered later. A restart keeps the path that was chosen first.
    func chose(_ name: String, at path: FilePath) {
        state.withLock { state in
            state.name = name
            state.wanted = state.wanted ?? path
        }
    }

    /// The object that the file becomes; `nil` if it is not uploaded, or the object is not known yet.
    var object: DownloadURL? { state.withLock { $0.object } }
    func chose(_ object: DownloadURL) { state.withLock { $0.object = object } }

    /// The content type of the most recent response that started a file.
    var contentType: String? { state.withLock { $0.contentType } }
    func answered(contentType: String?) { state.withLock { $0.contentType = contentType } }

    /// Records the start of the file. Returns whether the start was not recorded with these values before.
    func started(_ name: String, _ totalBytes: ByteCount?) -> Bool {
        state.withLock { state in
            defer { state.started = (name, totalBytes) }
            return state.started.map { $0 != (name, totalBytes) } ?? true
        }
    }

    // MARK: Replaced files

    /// The backup that the new file replaces.
    var backup: Prepared.Backup { state.withLock { $0.backup } }
    func replaces(_ backup: Prepared.Backup) { state.withLock { $0.backup = backup } }

    /// A file that contains only reserved space, no byte of the download; the finished file replaces it.
    var emptyHalf: PublishedFile? { state.withLock { $0.emptyHalf } }

    // MARK: Existing files

    /// The finished file to ask the server about.
    var earlier: Prepared.EarlierFile? { state.withLock { $0.earlier } }

    /// Whether the file with the final name was never synced, and the system has rebooted since.
    var isDistrusted: Bool { state.withLock { $0.isDistrusted } }

    /// Whether an existing file was compared and did not match the server's.
    var wasCompared: Bool { state.withLock { $0.wasCompared } }
    func compared() { state.withLock { $0.wasCompared = true } }

    // MARK: The end

    /// The existing file that satisfies the request.
    var existing: FinishedDownload? { state.withLock { $0.existing } }
    func exists(_ file: FinishedDownload) { state.withLock { $0.existing = file } }

    /// The file that this run has published, as it was right after publication.
    var published: PublishedFile? { state.withLock { $0.published } }
    func published(_ file: PublishedFile?) { state.withLock { $0.published = file } }
}
