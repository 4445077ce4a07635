import FerryCore
import FerryEngine
import Synchronization
import SystemPackage

/// The files below a local directory.
///
/// Other programs may write into the directory meanwhile. No file is opened until it is stored, and no link below the directory
/// is followed. Each name is checked while its directory is read; the name of a file that the filter leaves out
/// is not kept.
extension SetReader {
    /// Adds the regular files below a directory, except Ferry's own, one directory at a time, in the byte order of the names.
    ///
    /// Throws `invalidRequest` if the path is not a directory, or cannot be read.
    func walk(_ directory: String, _ listing: inout SetListing) async throws(DownloadError) {
        let root = FilePath(DownloadManager.normalized(directory))
        let walk = DirectoryWalk(root, self, listing)
        defer { listing = walk.listing }
        var directories = [""]
        while let path = directories.popLast(), !Task.isCancelled {
            do throws(FileError) {
                let below = try await EngineProvider.files.run { disk throws(FileError) in
                    try walk.read(path, disk.fileSystem(within: root.string))
                }
                directories += below.reversed()
            } catch {
                if path.isEmpty { throw DownloadError(.invalidRequest, error.phrase, recovery: .needsUser) }
                walk.failed(error)
            }
        }
    }
}

/// The entries that were read from a directory and the directories below it.
final class DirectoryWalk: Sendable {
    private struct State {
        var listing: SetListing
        var isFull = false
        var count = 0
        var bytes = 0
        /// The real paths of the root and of the excluded directories; `nil` before the first directory is read.
        var real: (root: FilePath, excluded: [FilePath])?
    }
    /// Locked on file threads while a directory is read.
    private let state: Mutex<State>
    private let root: FilePath
    private let options: SyncOptions
    private let limits: SetReader.Limits
    private let excluded: [FilePath]

    private static let maxDepth = 64

    init(_ root: FilePath, _ reader: SetReader, _ listing: SetListing) {
        state = Mutex(State(listing: listing))
        (self.root, options, limits, excluded) = (root, reader.options, reader.limits, reader.excluded)
    }

    var listing: SetListing { state.withLock(\.listing) }

    /// Records a directory that cannot be read.
    func failed(_ error: FileError) { state.withLock { $0.listing.problems.append(.phrase(error.phrase)) } }

    /// The files of one directory that are to be added, and the directories that are to be read.
    private struct Found {
        var entries: [SetEntry] = []
        var directories: [String] = []
        /// The number of names that are not UTF-8.
        var unusable = 0
    }

    /// Adds the files of one directory. Returns the paths of its subdirectories that are to be read, in order; none if the list
    /// is full. Blocks.
    func read(_ directory: String, _ fileSystem: any FileSystem) throws(FileError) -> [String] {
        let place = directory.isEmpty ? root : root.appending(directory)
        return try state.withLock { state throws(FileError) in
            if state.isFull { return [] }
            if state.real == nil { state.real = (RealPath.of(root), excluded.map(RealPath.of)) }
            var found = Found()
            try fileSystem.list(place) { name in
                if let name {
                    let path = directory.isEmpty ? name : "\(directory)/\(name)"
                    look(at: name, path, fileSystem, &found, &state)
                } else {
                    found.unusable += 1
                }
                return !state.isFull
            }
            if found.unusable > 0 {
                state.listing.problems.append(
                    .phrase(ErrorPhrase(.namesNotUTF8, place.string, "\(found.unusable)")))
            }
            state.listing.add(found.entries.sorted { SetPath.precedes($0.path, $1.path) }, options.filter)
            return found.directories.sorted(by: SetPath.precedes)
        }
    }

    private func look(
        at name: String, _ path: String, _ fileSystem: any FileSystem, _ found: inout Found, _ state: inout State
    ) {
        let place = root.appending(path)
        let status: FileStatus
        do throws(FileError) {
            // A file that has just been removed does not belong to the set.
            guard let found = try fileSystem.statusIfPresent(place) else { return }
            status = found
        } catch {
            // The file may exist. Because a problem is recorded, no file counts as gone.
            state.listing.problems.append(.phrase(error.phrase))
            return keep(path, &state)
        }
        switch status.kind {
        case .directory:
            let depth = path.utf8.count { $0 == UInt8(ascii: "/") } + 1
            let isExcluded = state.real.map { $0.excluded.contains($0.root.appending(path)) } ?? false
            let listed = listed(path)
            if isExcluded { return state.listing.skip(listed) }
            if options.maxDepth.map({ depth > $0 }) == true { return }
            if options.filter.prunes(listed) { return state.listing.note(listed + "/*") }
            guard depth <= Self.maxDepth else {
                return state.listing.problems.append(.phrase(ErrorPhrase(.deepSet, root.string, "\(Self.maxDepth)")))
            }
            keep(path, &state)
            found.directories.append(path)
        case .regular:
            if isOwn(name, at: place, fileSystem) {
                keep(path, &state)
                return state.listing.skip(listed(path))
            }
            let file = SourceFile(path: place, root: root, modified: status.modified)
            do throws(DownloadError) {
                let entry = try SetEntry(file, at: path, totalBytes: status.length, safeNames: options.safeNames)
                guard state.listing.accepts(entry, options.filter) else { return }
                found.entries.append(entry)
            } catch { state.listing.problems.append(error.reason) }
            keep(path, &state)
        case .symbolicLink, .other:
            keep(path, &state)
            let listed = listed(path)
            let isWanted = options.filter.accepts(listed)
            if !isWanted { state.listing.note(listed) }
            // Skip the link even if the filter leaves it out, because it may have replaced a directory whose files the filter
            // selects.
            state.listing.skip(
                listed, !isWanted ? nil : status.kind == .symbolicLink ? .symbolicLink : .special)
        }
    }

    /// Returns the path in the set, which records and patterns use.
    private func listed(_ path: String) -> String {
        options.safeNames ? SetPath.make(path, safeNames: true) ?? path : path
    }

    /// Counts a name that is kept.
    private func keep(_ path: String, _ state: inout State) {
        (state.count, state.bytes) = (state.count + 1, state.bytes + path.utf8.count)
        guard state.count > limits.entries || state.bytes > limits.bytes, !state.isFull else { return }
        state.isFull = true
        state.listing.problems.append(.phrase(ErrorPhrase(.largeDirectory, root.string, "\(limits.entries)")))
    }

    /// Whether Ferry has created a file for its own use. A part file without its journal counts as a user's file.
    private func isOwn(_ name: String, at place: FilePath, _ fileSystem: any FileSystem) -> Bool {
        func hasJournal(_ part: Substring) -> Bool {
            let journal = place.removingLastComponent().appending(part + ReservedName.own.text)
            return (try? fileSystem.exists(journal)) == true
        }
        if Self.isRecord(name) { return true }
        let part = name.dropping(suffix: ReservedName.backup.text) ?? name[...]
        return part.utf8.hasSuffix(ReservedName.part.text) && hasJournal(part)
    }

    /// Whether a name is that of a journal, a digest file or a manifest, or of a draft or backup of one. Files with other reserved
    /// names count as users' files here.
    private static func isRecord(_ name: String) -> Bool {
        var name = name[...]
        for around in [ReservedName.draft, .backup] { name = name.dropping(suffix: around.text) ?? name }
        return name.hasSameBytes(as: SetPath.manifest) || SetPath.isDigests(String(name))
            || name.utf8.hasSuffix(ReservedName.journal.text)
    }
}
