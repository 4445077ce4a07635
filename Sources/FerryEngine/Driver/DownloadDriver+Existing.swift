package import FerryCore
import SystemPackage

/// Files that existed before the run. Samples from the server decide whether they are used.
///
/// The machine treats the bytes of such a file, an ``ExaminedFile``, as received, and never writes to it. If its samples match, a
/// complete file is used as it is, and a partial file becomes the part file. If they differ, the file is not used.
extension DownloadDriver {
    /// Returns the search for files that may have the content of the response.
    func existingFiles() -> ExistingFiles {
        ExistingFiles(
            own, source: transfer.sources[0], needsDigest: transfer.digest.requested != nil || target.isDistrusted,
            isRestart: target.backup.ownPaths != nil && target.earlier == nil)
    }

    /// Handles a 304 response: the finished file or the known object is unchanged.
    func finishUnchanged() {
        let facts = transfer.facts
        var unchanged = FinishedDownload(
            path: "", totalBytes: facts.finished?.totalBytes ?? 0, proof: facts.finishedProof,
            wasAlreadyComplete: true, redactedFinalURL: facts.finalURL, etag: facts.finished?.etag,
            lastModified: facts.finished?.lastModified, checksum: target.earlier?.checksum)
        if let known = request.knownObject, let object = wantedObject(named: target.name) {
            (unchanged.path, unchanged.checksum, unchanged.storedETag) = (object.text, known.checksum, known.etag)
            target.exists(unchanged)
            return updates.notify()
        }
        let path: FilePath
        switch request.destination {
        case _ where target.earlier != nil: path = target.earlier?.path ?? ""
        case .file(let name): path = FilePath(ofRequest: name)
        case .directory(let directory, _): path = FilePath(ofRequest: directory).appending(target.name)
        case .part, .stream: return updates.notify()
        }
        unchanged.path = path.string
        target.exists(unchanged)
        updates.notify()
    }

    /// Removes the control file of an empty partial file that the published file has replaced.
    func removeControl(of published: FilePath, _ disk: Disk) {
        guard target.emptyHalf?.path == published.string else { return }
        let control = FilePath(published.string + ReservedName.aria2Control.text)
        guard (try? disk.fileSystem.ours(at: control, for: .removal)) != nil else { return }
        // allow(ours): checked just now.
        try? disk.fileSystem.removeIfPresent(control)
    }

    /// Adopts the partial file as the part file, after its samples have matched. Requires the lock.
    func takeHalf(_ half: ExistingFile, _ disk: Disk) throws(DownloadError) {
        let session = try PartSession.adopt(
            half, order(name: target.name, in: half.path.removingLastComponent()), own: own,
            environment, disk)
        let paths = session.paths
        transfer.set(.part(session))
        target.named(paths.name)
        report(.named(name: request.shownName(paths.name), path: paths.final.string))
        if half.path != paths.part { report(.event(.note(Reason(.halfTaken, "\(half.path)", "\(paths.part)")))) }
    }

    /// Returns the existing file as the result if its samples or its digest match; `nil` if the file is not used and the download
    /// starts. Called at the end of a transfer that has stored nothing.
    func finish(
        _ candidate: ExistingFile, _ expected: Checksum?
    ) async throws(DownloadError) -> FinishedDownload? {
        var proof = Proof.sampled
        if let expected {
            let actual = try await read(to: candidate.status.length) { _ in
                PrefixDigest(expected.algorithm, of: candidate.file)
            }
            guard let actual else { return nil }
            guard actual.finish() == expected.bytes else {
                leaveExisting(candidate)
                return nil
            }
            proof = .digest
        }
        guard await files.run({ candidate.isUnchanged($0) }) else {
            leaveExisting(candidate)
            return nil
        }
        let facts = transfer.facts
        return FinishedDownload(
            path: candidate.path.string, totalBytes: candidate.status.length, proof: proof, wasAlreadyComplete: true,
            redactedFinalURL: facts.finalURL, contentType: target.contentType, receivedBytes: facts.receivedBytes,
            etag: facts.identity.etag, lastModified: facts.identity.lastModified)
    }

    /// Stops using the existing file: the download starts without it, under another name.
    func leaveExisting(_ candidate: ExistingFile) {
        target.compared()
        transfer.leaveExamined()
        candidate.file.close()
        report(.event(.note(Reason(.otherContent, "\(candidate.path)"))))
    }

    // MARK: Twins

    // A server without validators, or with a Last-Modified that is always the current time, cannot be asked whether its file is
    // still the one that an earlier run fetched. Once all bytes have been received, they are compared, so that a repeated run
    // leaves no copy.

    /// Returns a file with the wanted name and the received bytes, from an earlier run or another program; `nil` if there is none,
    /// or the download was stopped. Files of other URLs are not considered.
    ///
    /// - Parameter digest: Returns the SHA-256 of the received bytes; called only if a file has their length.
    func twin(
        of total: ByteCount, proof: Proof, digest: () async throws(DownloadError) -> [UInt8]?
    ) async throws(DownloadError) -> FinishedDownload? {
        guard let wanted = target.wanted else { return nil }
        let existing = existingFiles()
        let candidates = await files.run { existing.twins(of: wanted, totalBytes: total, $0) }
        defer { for candidate in candidates { candidate.file.close() } }
        guard !candidates.isEmpty, let own = try await digest() else { return nil }
        for candidate in candidates {
            let other = try await read(to: total) { _ in PrefixDigest(.sha256, of: candidate.file) }?.finish()
            guard other == own, await files.run({ candidate.isUnchanged($0) }) else { continue }
            var finished = finished(path: candidate.path.string, total: total, proof: proof)
            finished.wasAlreadyComplete = true
            return finished
        }
        return nil
    }
}

/// Ownership of backups, and the file that may be replaced.
extension DownloadDriver {
    /// The file that the finished file replaces: that of an earlier run, or one that contains no byte of the download.
    var replaced: PublishedFile? { context.replaces ?? target.emptyHalf }

    /// The file to be replaced, if it is unchanged.
    func earlierFile(_ disk: Disk) -> FilePath? {
        own.earlierFile(orEmpty: target.emptyHalf, disk)
    }

    /// Returns the downloads that may own the backup which this download replaces.
    func asideOwner() -> BackupPair.Owner {
        own.owner(of: target.backup, transfer.given, [transfer.lastRecord])
    }

    /// Returns the error for a name that is taken and has no alternative, with the ownership flaw of a foreign file.
    func blocked(by path: FilePath, _ disk: Disk) -> DownloadError {
        if let flaw = try? disk.fileSystem.flaw(at: path), flaw != .notRegular {
            return DownloadError(FileError(.create, path, kind: .notOurs(flaw)))
        }
        return DownloadError(.conflict, ErrorPhrase(.inTheWay, "\(path)"), recovery: .needsUser)
    }

    /// Returns whether an announced small file got its name, and makes the name durable. Blocks.
    ///
    /// `syncs`: the value in the request. A file that was written without syncing is not trusted.
    package static func recoverAnnounced(
        _ file: PublishedFile, syncs: Bool, fileSystem: any FileSystem
    ) throws(DownloadError) -> Bool {
        guard syncs, file.isUnchanged(for: .content, fileSystem: fileSystem) else { return false }
        do throws(FileError) {
            try fileSystem.syncDirectoryIfSupported(FilePath(file.path).parent)
        } catch { throw DownloadError(error) }
        return true
    }
}
