import FerryCore
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// An open file whose bytes are compared with the server's.
struct ExistingFile: Sendable {
    let path: FilePath
    let file: any File
    let status: FileStatus
    /// Whether the user named the file as a partial file to continue.
    let isHalf: Bool
    /// The control file of aria2 beside the file.
    var control: FilePath?

    /// Returns whether the path still leads to this file, with unchanged length and modification time.
    func isUnchanged(_ disk: Disk) -> Bool {
        guard let now = try? disk.fileSystem.statusIfPresent(path) else { return false }
        return now.device == status.device && now.inode == status.inode && now.length == status.length
            && now.modified == status.modified
    }
}

/// Finds the files under a download's names that may have the content of the server's response.
///
/// Only files that pass the ownership check are accepted: any user can set a name, a date or an attribute, and can change
/// the bytes after they were compared.
struct ExistingFiles: Sendable {
    private let own: OwnFiles
    private let source: DownloadURL
    /// Whether bytes have to be compared, because the request has a digest or the file was never synced.
    private let needsDigest: Bool
    /// Whether this run has discarded a part file, whose name and history the new file keeps.
    private let isRestart: Bool
    private var request: DownloadRequest { own.request }
    private var context: RunContext { own.context }

    init(_ own: OwnFiles, source: DownloadURL, needsDigest: Bool, isRestart: Bool) {
        self.own = own
        self.source = source
        self.needsDigest = needsDigest
        self.isRestart = isRestart
    }

    /// Returns the file at `path` if it is complete as far as a plain GET can show: equal length and equal modification time. A
    /// strong ETag in the file's attribute takes precedence.
    func finished(
        at path: FilePath, as representation: Representation, finalURL: String, _ disk: Disk
    ) -> FinishedDownload? {
        guard !context.ignoresFinished, !needsDigest, request.checksumList == nil,
            let total = representation.identity.totalBytes,
            let file = try? disk.fileSystem.openOurs(path, .readOnly, for: .content)
        else { return nil }
        defer { file.close() }
        guard let status = try? file.status(), status.length == total, !disk.hasDamagedJournal(beside: path) else {
            return nil
        }
        var found = FinishedDownload(
            path: path.string, totalBytes: total, proof: .weak, wasAlreadyComplete: true, redactedFinalURL: finalURL,
            contentType: representation.identity.contentType,
            etag: representation.identity.etag, lastModified: representation.identity.lastModified)
        if let attribute = SourceAttribute.read(file), attribute.isOf(status) {
            // A file from another URL does not count, because different files may share length and date.
            guard attribute.matches(url: source.text, status) else { return nil }
            if let tag = representation.identity.strongTag, let own = attribute.etag {
                found.proof = .strong
                found.checksum = attribute.checksum
                return own == tag ? found : nil
            }
        }
        // Size and date are not a proof.
        guard !request.trust.strict, let text = representation.identity.lastModified, let date = HTTPDate.parse(text)
        else { return nil }
        return status.modified.seconds == Int64(date.timeIntervalSince1970) ? found : nil
    }

    /// Opens the first file that may be the whole representation although size and date do not prove it: a file of another
    /// program, a file whose date was changed, or a file from a server without validators.
    func candidate(among paths: [FilePath], _ identity: FileIdentity, _ disk: Disk) -> ExistingFile? {
        guard request.onConflict == .rename, !context.ignoresFinished, !request.trust.strict,
            request.checksumList == nil, !isRestart, !needsDigest, let total = identity.totalBytes, total > 0
        else { return nil }
        for path in paths {
            // A control file beside the file means that aria2 has not finished it.
            guard (try? disk.fileSystem.exists(FilePath(path.string + ReservedName.aria2Control.text))) != true,
                let file = try? disk.fileSystem.openOurs(path, .readOnly, for: .content)
            else { continue }
            if let status = try? file.status(), status.length == total, mayBe(identity, file, status),
                !disk.hasDamagedJournal(beside: path)
            {
                return ExistingFile(path: path, file: file, status: status, isHalf: false)
            }
            file.close()
        }
        return nil
    }

    private func mayBe(_ identity: FileIdentity, _ file: any File, _ status: FileStatus) -> Bool {
        // The server's file has changed since this file was written or dated.
        let isOlder =
            identity.lastModified.flatMap { HTTPDate.parse($0) }
            .map { status.modified.seconds < Int64($0.timeIntervalSince1970) } ?? false
        guard let attribute = SourceAttribute.read(file) else { return !isOlder }
        guard attribute.isFrom(url: source.text) else { return false }
        guard attribute.isOf(status), let own = attribute.etag, let tag = identity.strongTag else { return !isOlder }
        return own == tag
    }

    /// Opens the files at the wanted path and its numbered copies whose length equals the received length. Files of other URLs
    /// are not considered.
    func twins(of wanted: FilePath, totalBytes: ByteCount, _ disk: Disk) -> [ExistingFile] {
        guard request.onConflict == .rename, !context.ignoresFinished, context.replaces == nil else { return [] }
        return ([wanted] + own.copies(of: wanted, from: source, disk)).compactMap { path in
            guard (try? disk.fileSystem.exists(FilePath(path.string + ReservedName.aria2Control.text))) == false,
                let file = try? disk.fileSystem.openOurs(path, .readOnly, for: .content)
            else { return nil }
            let isOfOther = SourceAttribute.read(file).map { !$0.isFrom(url: source.text) } ?? false
            if let status = try? file.status(), status.length == totalBytes, !isOfOther {
                return ExistingFile(path: path, file: file, status: status, isHalf: false)
            }
            file.close()
            return nil
        }
    }

    /// Returns a hint for each unfinished download of `name` that is not in use, with the command that resumes it.
    func hints(of name: String, in directory: FilePath, _ identity: FileIdentity, _ disk: Disk) -> [Reason] {
        guard request.onConflict == .rename, !context.ignoresFinished, !isRestart,
            let paths = DownloadPaths(directory: directory, name: name)
        else { return [] }
        var hints: [Reason] = []
        let record = try? Journal.read(at: paths.journal, fileSystem: disk.fileSystem)
        if let record, !own.isAnothers(record.id),
            record.identity.totalBytes ?? record.totalBytes == identity.totalBytes,
            record.identity.etag == identity.etag, !record.claimed.isEmpty,
            !Journal.isLocked(at: paths.journal, fileSystem: disk.fileSystem)
        {
            let part = ShellWord.quote(paths.part.string)
            // A redacted URL would be a different one.
            let link = source.redacted == source.text ? ShellWord.quote(source.text) : "NEWURL"
            hints.append(
                record.names(source)
                    ? Reason(.partOfThisURL, "\(paths.part)", part) : Reason(.partFits, "\(paths.part)", part, link))
        }
        for path in HalfFile.paths(of: paths) where path != paths.part || record == nil {
            guard let status = try? disk.fileSystem.ours(at: path, for: .content), status.length > 0,
                identity.totalBytes.map({ status.length < $0 }) ?? true, status.mode != PartFile.mode,
                path != paths.final || !isFerrys(path, disk)
            else { continue }
            hints.append(Reason(.mayBeHalf, "\(path)", ByteText.size(status.length), ShellWord.quote(path.string)))
        }
        return hints
    }

    private func isFerrys(_ path: FilePath, _ disk: Disk) -> Bool {
        guard let file = try? disk.fileSystem.openOurs(path, .readOnly, for: .content) else { return false }
        defer { file.close() }
        return SourceAttribute.read(file) != nil
    }
}
