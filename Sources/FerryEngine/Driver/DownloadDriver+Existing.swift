import FerryCore
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// Files of other programs, and finished files without proof: their samples are compared before they are used.
///
/// Such a file is the content that the machine holds, while the storage is empty: nothing is written before samples have
/// matched. A whole file is used as it is then; a half one becomes the part file. If they differ, the file is left alone.
extension DownloadDriver {
    /// A file that is compared with the server's.
    struct Candidate: Sendable {
        let path: FilePath
        let file: any File
        let status: FileStatus
        /// Whether the user named it as the beginning of the file.
        let isHalf: Bool
        /// The control file of aria2 beside it.
        var control: FilePath?

        /// Returns whether the path leads to this file, with the length and time that it had.
        func isUnchanged(_ disk: Disk) -> Bool {
            guard let now = try? disk.fileSystem.statusIfPresent(path) else { return false }
            return now.device == status.device && now.inode == status.inode && now.length == status.length
                && now.modified == status.modified
        }
    }

    /// Returns the numbered names of `path` under which finished files of the download's URL are, according to their
    /// attributes. An attribute proves nothing, so these files are compared like the one at `path`.
    func copies(of path: FilePath, _ disk: Disk) -> [FilePath] {
        guard request.onConflict == .rename, !context.ignoresFinished, let source = sources.first,
            let name = path.lastComponent?.string
        else { return [] }
        var found: [FilePath] = []
        for number in 1...NameTaker.maxNumber {
            guard let paths = DownloadPaths(name, number: number, in: path.removingLastComponent()),
                let hasPart = try? disk.fileSystem.exists(paths.part),
                let hasFile = try? disk.fileSystem.exists(paths.final), hasPart || hasFile
            else { break }
            guard hasFile, let file = try? disk.fileSystem.openOurs(paths.final, .readOnly, for: .content) else {
                continue
            }
            if SourceAttribute.read(file)?.isFrom(url: source.text) == true { found.append(paths.final) }
            file.close()
        }
        return found
    }

    /// Opens the first of the files that may be the whole representation, without being proven by size and date: one of
    /// another program, one that was touched, or one of a server without validators.
    func candidate(among paths: [FilePath], _ representation: Representation, _ disk: Disk) -> Candidate? {
        guard request.onConflict == .rename, !context.ignoresFinished, !request.trust.strict,
            request.checksumList == nil, state.withLock({ $0.placement.ownPaths == nil }),
            let total = representation.identity.totalBytes, total > 0,
            state.withLock({ $0.digest.requested == nil && !$0.finished.isDistrusted && !$0.finished.wasCompared })
        else { return nil }
        for path in paths {
            // While aria2 has not finished a file, its control file is beside it.
            guard (try? disk.fileSystem.exists(FilePath(path.string + Aria2ControlFile.suffix))) != true,
                let file = try? disk.fileSystem.openOurs(path, .readOnly, for: .content)
            else { continue }
            if let status = try? file.status(), status.length == total, mayBe(representation.identity, file, status) {
                return Candidate(path: path, file: file, status: status, isHalf: false)
            }
            file.close()
        }
        return nil
    }

    private func mayBe(_ identity: FileIdentity, _ file: any File, _ status: FileStatus) -> Bool {
        // The server's file has changed since this one was written or dated.
        let isOlder =
            identity.lastModified.flatMap { HTTPDate.parse($0) }
            .map { status.modified.seconds < Int64($0.timeIntervalSince1970) } ?? false
        guard let attribute = SourceAttribute.read(file) else { return !isOlder }
        guard attribute.isFrom(url: sources[0].text) else { return false }
        guard attribute.isOf(status), let own = attribute.etag, let tag = identity.strongTag else { return !isOlder }
        return own == tag
    }

    /// Begins with the half file of another program, which the user named together with its URL.
    func begin(withHalf path: FilePath, _ disk: Disk) throws(DownloadError) {
        guard !request.sources.isEmpty else {
            throw DownloadError(
                .notResumable, ErrorPhrase(.foreignHalf, "\(path)", ShellWord.quote(path.string)), recovery: .needsUser)
        }
        do throws(FileError) {
            let file = try disk.fileSystem.openOurs(path, .readOnly, for: .content)
            let status: FileStatus
            do throws(FileError) { status = try file.status() } catch {
                file.close()
                throw error
            }
            var candidate = Candidate(path: path, file: file, status: status, isHalf: true)
            var (ranges, name) = (RangeSet(0..<status.length), HalfFile.name(path))
            let control = FilePath(path.string + Aria2ControlFile.suffix)
            if try disk.fileSystem.exists(control) {
                (candidate.control, name) = (control, path.lastComponent?.string ?? name)
                guard let written = try Self.aria2Control(control, disk) else {
                    file.close()
                    throw FileError(.read, control, kind: .endedEarly)
                }
                guard try isPlausible(written, control, candidate, disk) else {
                    file.close()
                    report(.event(.note(Reason(.doubtfulControl, "\(control)", "\(path)"))))
                    return begin(with: nil)
                }
                if written.ranges.isEmpty { return try beginAnew(inPlaceOf: candidate, name, disk) }
                ranges.formIntersection(written.ranges)
            }
            state.withLock { [candidate, name] state in
                state.finished.candidate = candidate
                state.placement.name = name
            }
            guard !ranges.isEmpty else {
                throw FileError(.read, path, kind: .endedEarly)
            }
            begin(with: PartialContent(identity: FileIdentity(), ranges: ranges), isNewSource: true, isDoubtful: true)
        } catch { throw DownloadError(error) }
    }

    /// Whether the control file may be about this file: not if Ferry has downloaded either of them, if the file is longer
    /// than the one that aria2 began, or if the file has bytes of which none is noted. Such a file is whole, or no longer
    /// the one that aria2 wrote, and is left as it is.
    private func isPlausible(
        _ written: Aria2ControlFile, _ control: FilePath, _ half: Candidate, _ disk: Disk
    ) throws(FileError) -> Bool {
        guard half.status.length <= written.totalBytes, SourceAttribute.read(half.file)?.isOf(half.status) != true
        else {
            return false
        }
        let record = try disk.fileSystem.openOurs(control, .readOnly, for: .content)
        defer { record.close() }
        guard SourceAttribute.read(record) == nil else { return false }
        if !written.ranges.isEmpty { return true }
        return try Self.isEmpty(half.file, length: half.status.length)
    }

    /// Whether all bytes are zero: space that was reserved.
    private static func isEmpty(_ file: any File, length: ByteCount) throws(FileError) -> Bool {
        var start: ByteCount = 0
        while start < length {
            let piece = try file.read(start..<min(length, start + 1 << 20))
            guard !piece.isEmpty, piece.allSatisfy({ $0 == 0 }) else { return false }
            start += ByteCount(piece.count)
        }
        return true
    }

    /// Begins beside a half file of which aria2 has noted no piece, as after a kill in its first minute: by its own account
    /// nothing of the file is there, only space for it. The new file replaces it, and the control file goes after that.
    private func beginAnew(inPlaceOf half: Candidate, _ name: String, _ disk: Disk) throws(FileError) {
        defer { half.file.close() }
        guard half.isUnchanged(disk) else { throw FileError(.read, half.path, kind: .endedEarly) }
        state.withLock { state in
            state.placement.emptyHalf = PublishedFile(half.path, half.status)
            state.placement.name = name
        }
        report(.event(.note(Reason(.nothingNoted, "\(half.path)"))))
        begin(with: nil)
    }

    /// Removes the control file of an empty half file that the published file has replaced.
    func removeControl(of published: FilePath, _ disk: Disk) {
        guard state.withLock({ $0.placement.emptyHalf })?.path == published.string else { return }
        let control = FilePath(published.string + Aria2ControlFile.suffix)
        guard (try? disk.fileSystem.ours(at: control, for: .removal)) != nil else { return }
        // allow(ours): checked just now.
        try? disk.fileSystem.removeIfPresent(control)
    }

    /// Reads which bytes of its file aria2 has written: it reserves the whole length at the start, and fills it at several
    /// places. `nil` if the control file cannot be understood.
    private static func aria2Control(_ control: FilePath, _ disk: Disk) throws(FileError) -> Aria2ControlFile? {
        let file = try disk.fileSystem.openOurs(control, .readOnly, for: .content)
        defer { file.close() }
        let length = try file.status().length
        guard length <= Aria2ControlFile.mostBytes else { return nil }
        return Aria2ControlFile(try file.read(0..<length))
    }

    /// Makes the half file the part file, after its samples have matched. Requires the lock.
    func takeHalf(_ half: Candidate, _ disk: Disk) throws(DownloadError) {
        let directory = half.path.removingLastComponent()
        let name = state.withLock { $0.placement.name }
        do throws(FileError) {
            if let flaw = disk.fileSystem.flaw(of: half.status, at: half.path) {
                throw FileError(.open, half.path, kind: .notOurs(flaw))
            }
        } catch { throw DownloadError(error) }
        guard half.isUnchanged(disk) else { throw DownloadError(.disk, ErrorPhrase(.partReplaced, "\(half.path)")) }
        guard let paths = freePaths(for: half, name: name, in: directory, disk) else {
            throw DownloadError(.conflict, ErrorPhrase(.noFreeName, "\(half.path)"), recovery: .needsUser)
        }
        let part: PartFile
        do throws(FileError) {
            if half.path != paths.part {
                try disk.fileSystem.rename(half.path, to: paths.part, replacing: false)
            }
        } catch { throw DownloadError(error) }
        do throws(PartFileError) { part = try PartFile.open(paths.part, fileSystem: disk.fileSystem) } catch {
            throw DownloadError(error)
        }
        do throws(FileError) {
            try part.file.setMode(PartFile.mode)
            // The journal claims the bytes.
            try part.dataSync()
        } catch {
            part.close()
            throw DownloadError(error)
        }
        var record = makeRecord(name: paths.name, part: part)
        state.withLock { state in
            record.claimed = state.machine.planner.claimed.pairs
            record.weakestJoin = state.machine.file.weakestJoin
        }
        let journal: Journal
        do throws(JournalError) {
            journal = try Journal.create(
                at: paths.journal, record: record, fileSystem: disk.fileSystem, syncs: request.syncsToDisk)
        } catch {
            part.close()
            throw DownloadError(error)
        }
        environment.knownJournals(in: directory)?.add(paths.journal, record)
        storage.set(.pair(Storage.Pair(paths: paths, part: part, journal: journal)))
        half.file.close()
        // allow(ours): it was read with the file whose bytes it is about, and these are in the journal now.
        if let control = half.control { try? disk.fileSystem.removeIfPresent(control) }
        let final = record
        state.withLock { state in
            state.finished.candidate = nil
            state.placement.record = final
            state.placement.name = paths.name
        }
        report(.named(name: paths.name, path: paths.final.string))
        if half.path != paths.part { report(.event(.note(Reason(.halfTaken, "\(half.path)", "\(paths.part)")))) }
    }

    /// Returns the first paths of the name, numbered if needed, at which only the half file itself may be.
    private func freePaths(
        for half: Candidate, name: String, in directory: FilePath, _ disk: Disk
    ) -> DownloadPaths? {
        for number in 0...NameTaker.maxNumber {
            guard let paths = DownloadPaths(name, number: number, in: directory) else { return nil }
            let all = [paths.final, paths.part, paths.journal, paths.newJournal, paths.oldPart, paths.oldJournal]
            if all.allSatisfy({ $0 == half.path || (try? disk.fileSystem.exists($0)) == false }) { return paths }
        }
        return nil
    }

    /// Returns the existing file as the result, after its samples or its digest have matched; `nil` if the file is left
    /// alone and the download begins. Called at the end of a transfer that has stored nothing.
    func finishExisting(_ expected: Checksum?) async throws(DownloadError) -> FinishedDownload? {
        guard let candidate = state.withLock({ $0.finished.candidate }) else {
            throw DownloadError(.internal, "nothing was stored")
        }
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
        return state.withLock { state in
            FinishedDownload(
                path: candidate.path.string, totalBytes: candidate.status.length, proof: proof,
                wasAlreadyComplete: true,
                finalURL: state.links.finalURL?.redacted ?? "", contentType: state.finished.contentType,
                receivedBytes: state.machine.arrivals.bytes, etag: state.machine.file.identity.etag,
                lastModified: state.machine.file.identity.lastModified)
        }
    }

    /// Leaves the existing file alone: the download begins without it, under another name.
    func leaveExisting(_ candidate: Candidate) {
        state.withLock { state in
            state.finished.candidate = nil
            state.finished.wasCompared = true
            state.machine.leaveExamined()
        }
        candidate.file.close()
        report(.event(.note(Reason(.otherContent, "\(candidate.path)"))))
    }

    /// Closes the file that was being compared when the run ended.
    func closeCandidate() { state.withLock { $0.finished.candidate }?.file.close() }

    /// Reads bytes of the content that is compared.
    func readHeld(_ range: Range<ByteCount>, _ disk: Disk) -> [UInt8]? {
        guard let candidate = state.withLock({ $0.finished.candidate }) else { return storage.read(range, disk) }
        return try? candidate.file.read(range)
    }
}

/// Hints about files beside a download that begins, from which it could go on.
extension DownloadDriver {
    /// Reports the files under the names of an unfinished download of `name`, with the command that goes on with them.
    func hintAtHalves(of name: String, in directory: FilePath, _ identity: FileIdentity, _ disk: Disk) {
        guard request.onConflict == .rename, !context.ignoresFinished,
            state.withLock({ $0.placement.ownPaths == nil }),
            let paths = DownloadPaths(directory: directory, name: name)
        else { return }
        let record = try? Journal.read(at: paths.journal, fileSystem: disk.fileSystem)
        if let record, !isAnothers(record.id), record.identity.totalBytes ?? record.totalBytes == identity.totalBytes,
            record.identity.etag == identity.etag, !record.claimed.isEmpty
        {
            report(.event(.note(Reason(.partFits, "\(paths.part)", ShellWord.quote(paths.part.string)))))
        }
        for path in HalfFile.paths(of: paths) where path != paths.part || record == nil {
            guard let status = try? disk.fileSystem.ours(at: path, for: .content), status.length > 0,
                identity.totalBytes.map({ status.length < $0 }) ?? true, status.mode != PartFile.mode,
                path != paths.final || !isFerrys(path, disk)
            else { continue }
            report(
                .event(
                    .note(
                        Reason(.mayBeHalf, "\(path)", ByteText.size(status.length), ShellWord.quote(path.string)))))
        }
    }

    private func isFerrys(_ path: FilePath, _ disk: Disk) -> Bool {
        guard let file = try? disk.fileSystem.openOurs(path, .readOnly, for: .content) else { return false }
        defer { file.close() }
        return SourceAttribute.read(file) != nil
    }
}
