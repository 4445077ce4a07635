public import FerryCore
import FerryEngine
import SystemPackage

/// The action that a sync would take for one file, and the reason.
public struct PreviewedFile: Sendable, Hashable, Codable {
    /// The action.
    public enum Action: String, Sendable, Hashable, Codable, CaseIterable {
        /// The file is fetched or, if the source is a directory, stored.
        case fetch
        /// A conditional request is sent, or bytes are compared. Depending on the result, the file is fetched, stored or kept.
        case check
        case keep
        /// The file is left as it is, although it is in the way or gone from the source.
        case leave
        case delete
    }

    /// The reason for the action.
    public enum Cause: String, Sendable, Hashable, Codable, CaseIterable {
        /// The destination does not have the file.
        case missing
        /// The size, digest or entity tag in the list differs from that of the existing file.
        case changed
        /// A file that does not belong to the set is replaced.
        case replaced
        /// The list does not show whether the file has changed.
        case unproven
        /// The file exists, but has no record.
        case unrecorded
        /// The list proves that the file is current.
        case current
        /// The date and size in the list are unchanged, and ``SyncOptions/trustsListing`` is set.
        case listed
        /// The path belongs to a file outside the set.
        case foreign
        /// The file of the set was changed in the destination after its download.
        case changedHere
        /// The source no longer lists the file.
        case gone
    }

    /// The path below the directory.
    public var path: String
    public var action: Action
    public var cause: Cause
    /// The size in bytes according to the list, otherwise that of the existing file; `nil` if neither is known.
    public var totalBytes: ByteCount?
    /// The source URL; `nil` for a file of a local directory, and for a file that is gone.
    public var url: String?
}

/// The actions that a sync would take. Making a preview writes nothing.
public struct SyncPreview: Sendable, Hashable {
    /// The files in the order of the list, then those that are gone from the source.
    public var files: [PreviewedFile] = []
    /// Whether the source is a local directory, whose files are stored.
    package var isOfDirectory = false
    /// Descriptions of the parts of the source that cannot be used, one line each.
    public var problems: [String] = []
    /// The entries of a directory that are left out because they are neither files nor directories.
    public var skipped: [SkippedFile] = []
    /// The patterns of the filter that match no file of the source.
    public var unusedPatterns: [String] = []

    /// The number of files with this action.
    public func count(_ action: PreviewedFile.Action) -> Int { files.count { $0.action == action } }

    /// Whether a sync would change anything in the destination except the manifest.
    package var writes: Bool { files.contains { ![.keep, .leave].contains($0.action) } }

    /// The known bytes of the files that would be fetched.
    public var fetchedBytes: ByteCount {
        files.lazy.filter { $0.action == .fetch }.compactMap(\.totalBytes).sum
    }

    /// The number of files that would be fetched and whose size is not known.
    public var unknownSizes: Int { files.count { $0.action == .fetch && $0.totalBytes == nil } }
}

/// Encoded as its counts: `{"fetch", "check", "keep", "leave", "delete", "fetchedBytes", "unknownSizes", "problems", "skipped",
/// "unusedPatterns"}`.
extension SyncPreview: Encodable {
    private enum CodingKeys: String, CodingKey {
        case fetch, check, keep, leave, delete, fetchedBytes, unknownSizes, problems, skipped, unusedPatterns
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(count(.fetch), forKey: .fetch)
        try container.encode(count(.check), forKey: .check)
        try container.encode(count(.keep), forKey: .keep)
        try container.encode(count(.leave), forKey: .leave)
        try container.encode(count(.delete), forKey: .delete)
        try container.encode(fetchedBytes, forKey: .fetchedBytes)
        try container.encode(unknownSizes, forKey: .unknownSizes)
        try container.encode(problems, forKey: .problems)
        try container.encode(skipped, forKey: .skipped)
        try container.encode(unusedPatterns, forKey: .unusedPatterns)
    }
}

extension SyncPreview {
    /// Creates the preview of a plan.
    init(_ plan: SyncPlan, _ listing: SetListing, _ held: SyncPlan.Holdings) {
        problems = (listing.problems + plan.problems).map(\.description)
        unusedPatterns = listing.unusedPatterns
        skipped = listing.skippedFiles
        for step in plan.steps {
            switch step {
            case .keep(let record):
                let url = record.urls.first
                let cause: PreviewedFile.Cause = record.currentBy == nil ? .current : .listed
                files.append(
                    PreviewedFile(
                        path: record.path, action: .keep, cause: cause, totalBytes: record.totalBytes, url: url))
            case .request(let entry, let cause): files.append(Self.file(entry, cause, held))
            case .blocked(let entry, _): files.append(Self.file(entry, .leave, .foreign, nil))
            case .changedHere(let entry):
                files.append(Self.file(entry, .leave, .changedHere, (try? held.file(entry.path))?.totalBytes))
            case .conflict(let entry):
                files.append(Self.file(entry, .leave, .foreign, (try? held.file(entry.path))?.totalBytes))
            }
        }
        for file in plan.gone {
            files.append(
                PreviewedFile(
                    path: file.record.path, action: file.isDeleted ? .delete : .leave, cause: .gone,
                    totalBytes: file.record.totalBytes))
        }
    }

    private static func file(
        _ entry: SetEntry, _ cause: SyncPlan.Cause, _ held: SyncPlan.Holdings
    ) -> PreviewedFile {
        switch cause {
        case .missing: file(entry, .fetch, .missing, nil)
        case .changed: file(entry, .fetch, .changed, nil)
        case .foreign: file(entry, .fetch, .replaced, nil)
        case .unproven, .attributed: file(entry, .check, .unproven, (try? held.file(entry.path))?.totalBytes)
        case .unrecorded: file(entry, .check, .unrecorded, (try? held.file(entry.path))?.totalBytes)
        }
    }

    private static func file(
        _ entry: SetEntry, _ action: PreviewedFile.Action, _ cause: PreviewedFile.Cause, _ present: ByteCount?
    ) -> PreviewedFile {
        PreviewedFile(
            path: entry.path, action: action, cause: cause, totalBytes: entry.totalBytes ?? present,
            url: entry.sources.first?.redacted)
    }
}

extension DownloadManager {
    /// Returns the actions that ``sync(_:into:options:)-(_,SyncDestination,_)`` would take. Reads the list and the destination,
    /// but requests no file, writes nothing and creates no directory.
    ///
    /// - Throws: An error that prevents the whole run.
    public func previewSync(
        _ source: SetSource, into destination: SyncDestination, options: SyncOptions = SyncOptions()
    ) async throws(DownloadError) -> SyncPreview {
        var options = options
        let destination = destination.normalized
        try await options.prepare(source, destination)
        var reader = SetReader(manager: self, options: options)
        if case .objects(_, let staging) = destination { reader.excluded = [FilePath(staging)] }
        var listing = try await reader.read(source)
        switch destination {
        case .directory(let path): return try await DirectoryPlace.preview(FilePath(path), listing, options)
        case .objects(let prefix, let staging):
            listing.leaveOut(belowPrefix: prefix)
            var preview = try await ObjectPlace.preview(prefix, staging, listing, options, self)
            preview.isOfDirectory = if case .directory = source { true } else { false }
            return preview
        }
    }

    /// Like ``previewSync(_:into:options:)-(_,SyncDestination,_)``, but for a local directory.
    public func previewSync(
        _ source: SetSource, into directory: String, options: SyncOptions = SyncOptions()
    ) async throws(DownloadError) -> SyncPreview {
        try await previewSync(source, into: .directory(directory), options: options)
    }
}

extension SyncOptions {
    /// Returns where the file with this relative path is kept when it is replaced or deleted; `nil` if it is not kept.
    func keptCopy(of path: String) -> KeptCopy? { backupDirectory.map { KeptCopy(directory: $0, path: path) } }

    /// Throws if kept files could have the paths of files of the set. Blocks.
    func checkBackup(beside root: FilePath) throws(DownloadError) {
        guard let backupDirectory else { return }
        // The paths are compared with all links resolved.
        let (root, place) = (RealPath.of(root), RealPath.of(FilePath(backupDirectory)))
        if root.starts(with: place) {
            throw DownloadError(.invalidRequest, ErrorPhrase(.backupAroundSet, backupDirectory), recovery: .needsUser)
        }
        var rest = place
        guard rest.removePrefix(root), !filter.prunes(rest.string) else { return }
        throw DownloadError(
            .invalidRequest, ErrorPhrase(.backupInSet, backupDirectory, ShellWord.quote("/\(rest.string)/")),
            recovery: .needsUser)
    }

    /// Completes the options. Throws if they or the source cannot be combined with the destination.
    mutating func prepare(_ source: SetSource, _ destination: SyncDestination) async throws(DownloadError) {
        if case .url(let url) = source { use(url) }
        backupDirectory = backupDirectory.map { DownloadManager.normalized($0) }
        switch destination {
        case .directory(let path):
            if case .directory(let source) = source {
                throw DownloadError(.invalidRequest, ErrorPhrase(.directoryNotUploaded, source), recovery: .needsUser)
            }
            let options = self
            try await EngineProvider.files.run { _ throws(DownloadError) in
                try options.checkBackup(beside: FilePath(path))
            }
        case .objects(let prefix, let staging):
            guard prefix.isObject, prefix.query == nil, !prefix.path.utf8.hasPrefix("//") else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.uploadsObjects), recovery: .needsUser)
            }
            if backupDirectory != nil {
                throw DownloadError(
                    .invalidRequest, ErrorPhrase(.backupOfObjects, prefix.text), recovery: .needsUser)
            }
            if case .directory(let source) = source {
                // Otherwise, files of the source and staged files could not be distinguished.
                let isSame = await EngineProvider.files.run { _ in
                    RealPath.of(FilePath(DownloadManager.normalized(source))) == RealPath.of(FilePath(staging))
                }
                if isSame {
                    throw DownloadError(.invalidRequest, ErrorPhrase(.stagingIsSource, staging), recovery: .needsUser)
                }
            }
            if case .url(let url) = source, url.isObject, url.host == prefix.host,
                url.objectPrefix.starts(with: prefix.objectPrefix) || prefix.objectPrefix.starts(with: url.objectPrefix)
            {
                throw DownloadError(
                    .invalidRequest, ErrorPhrase(.setInItself, url.text, prefix.text), recovery: .needsUser)
            }
        }
    }

    /// Sets the URL of the list, and uses the credentials in it.
    private mutating func use(_ url: DownloadURL) {
        request.sources = [url]
        // allow(secrets): those in the URL of the list itself.
        request.credentials = request.credentials ?? url.credentials
    }
}
