import FerryCore
import NIOCore
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// The end of a complete transfer: verify, then publish.
extension DownloadDriver {
    /// Verifies and publishes the file. Returns `nil` when the download was stopped before that, or goes on with another
    /// source.
    func finish(_ digest: DigestFollower) async throws(DownloadError) -> FinishedDownload? {
        let (total, proof, expected, pieces, isComplete) = state.withLock {
            (
                $0.machine.planner.total ?? 0, $0.machine.file.proof, $0.digestToCheck,
                request.pieces ?? $0.digest.describedPieces, $0.machine.planner.isComplete
            )
        }
        guard isComplete else {
            // A sync failed as the last bytes arrived, and its range is not trusted.
            throw state.withLock { $0.interruption.error ?? $0.faults.damage }
                ?? DownloadError(.internal, "the file is not complete")
        }
        var finalProof = proof
        // Pieces are compared on the disk.
        if pieces != nil, expected == nil, case .small = storage.current { try await spill() }
        switch storage.current {
        case .none: return try await finishExisting(expected)
        case .stream(let stream):
            if let expected, let actual = stream.finish() {
                guard actual == expected.bytes else {
                    if try await wasCutShort() { return nil }
                    throw DownloadError(
                        .checksum, ErrorPhrase(.wrongDigestInStream, "\(expected)", found(expected, actual)),
                        suggestion: ErrorPhrase(.doNotUse))
                }
                return finished(path: "", total: total, proof: .digest)
            }
            if request.trust.strict, !proof.isStrict { throw unproven(proof) }
            return finished(path: "", total: total, proof: proof)
        case .small(let small):
            if let expected {
                let actual = ByteDigest.of(small.bytes, expected.algorithm)
                guard actual == expected.bytes else {
                    try await spill()
                    try await refute(expected, actual: actual)
                    return nil
                }
                finalProof = .digest
            }
            keep(small.bytes, expected)
            if request.trust.strict, !finalProof.isStrict {
                try await spill()
                await checkpoint()
                throw unproven(finalProof)
            }
            if request.uploadTo != nil {
                return try await upload(UploadSource(small.bytes), total: total, proof: finalProof)
            }
            let twin = try await twin(of: total, proof: finalProof) { ByteDigest.of(small.bytes, .sha256) }
            if let twin { return twin }
            if let path = try await publishSmall(small) {
                let finished = finished(path: path, total: total, proof: finalProof)
                await keepPieces(of: finished)
                try await context.tellPublished(finished, files)
                return finished
            }
            if let existing = state.withLock({ $0.finished.existing }) { return existing }
            try await spill()
            if let existing = state.withLock({ $0.finished.existing }) { return existing }
            return try await publishPair(total: total, proof: finalProof)
        case .pair(let pair):
            if expected == nil, let pieces {
                report(.state(.verifying))
                guard try await areIntact(pieces, in: pair, total: total) else { return nil }
                finalProof = .digest
            }
            if let algorithm = algorithm(for: expected) {
                report(.state(.verifying))
                guard let found = try await digest.finish(algorithm, of: pair, total: total) else { return nil }
                if let expected {
                    let actual = found.finish()
                    guard actual == expected.bytes else {
                        if try await !wasCutShort() { try await refute(expected, actual: actual) }
                        return nil
                    }
                    finalProof = .digest
                }
                let recorded = found.recorded ?? expected.map { RecordedDigests(checksum: $0) }
                state.withLock { $0.digest.computed(recorded) }
            }
            if finalProof == .digest {
                state.withLock { $0.machine.provedEnd() }
            } else if try await wasCutShort() {
                return nil
            }
            if request.trust.strict, !finalProof.isStrict {
                await checkpoint()
                throw unproven(finalProof)
            }
            if request.uploadTo != nil {
                return try await upload(UploadSource(pair, totalBytes: total, files), total: total, proof: finalProof)
            }
            let twin = try await twin(of: total, proof: finalProof) { [self] () async throws(DownloadError) in
                try await read(to: total) { PrefixDigest(.sha256, of: pair.part($0).file) }?.finish()
            }
            if let twin {
                try await files.run { [self] disk throws(DownloadError) in
                    try forgetPair(disk)
                    removeAside(disk)
                }
                return twin
            }
            return try await publishPair(total: total, proof: finalProof)
        }
    }

    func finished(path: String, total: ByteCount, proof: Proof) -> FinishedDownload {
        state.withLock { state in
            FinishedDownload(
                path: path, totalBytes: total, proof: proof, finalURL: state.links.finalURL?.redacted ?? "",
                contentType: state.finished.contentType ?? state.machine.file.identity.contentType,
                receivedBytes: state.machine.arrivals.bytes, etag: state.machine.file.identity.etag,
                lastModified: state.machine.file.identity.lastModified, checksum: state.digest.recorded?.checksum)
        }
    }

    private func unproven(_ proof: Proof) -> DownloadError {
        DownloadError(
            .unproven, ErrorPhrase(.weakProof, proof.rawValue), suggestion: ErrorPhrase(.giveChecksum),
            recovery: .needsUser)
    }

    private func found(_ expected: Checksum, _ actual: [UInt8]) -> String {
        Checksum(algorithm: expected.algorithm, bytes: actual)?.description ?? ""
    }

    /// Compares the pieces of a file without another digest. Returns false when the download was stopped meanwhile, or
    /// damaged ones are fetched again; throws if no source has the right ones.
    private func areIntact(
        _ pieces: PieceDigests, in pair: Storage.Pair, total: ByteCount
    ) async throws(DownloadError) -> Bool {
        guard pieces.cover(total) else {
            if try await wasCutShort() { return false }
            throw DownloadError(.checksum, ErrorPhrase(.uncoveredPieces, "\(total)"), recovery: .needsUser)
        }
        guard let damaged = try await damage(of: pieces, in: pair, total: total) else { return false }
        if damaged.isEmpty { return true }
        if try await wasCutShort() { return false }
        await checkpoint()
        let count = damaged.ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound - 1) / pieces.pieceBytes + 1 }
        try await fetchAgain(
            damaged, after: DownloadError(.checksum, ErrorPhrase(.damagedPieces, "\(count)", "\(pieces.count)")))
        return false
    }

    /// Returns the bytes of the pieces that do not have their digests; `nil` when the download was stopped meanwhile.
    private func damage(
        of pieces: PieceDigests, in pair: Storage.Pair, total: ByteCount
    ) async throws(DownloadError) -> RangeSet<ByteCount>? {
        var damaged = RangeSet<ByteCount>()
        for piece in 0..<pieces.count {
            let range = pieces.range(of: piece, total: total)
            let digest = try await read(to: range.upperBound) { disk in
                PrefixDigest(pieces.algorithm, of: pair.part(disk).file, from: range.lowerBound)
            }
            guard let digest else { return nil }
            if !digest.finish().elementsEqual(pieces.digest(of: piece)) { damaged.insert(contentsOf: range) }
        }
        return damaged
    }

    /// Marks the part file in the journal as mismatched, and goes on with another source if one may have the right
    /// bytes. Without one, throws: the file is kept and never published.
    private func refute(_ expected: Checksum, actual: [UInt8]) async throws(DownloadError) {
        let found = self.found(expected, actual)
        await checkpoint()
        if let pair = storage.pair {
            let record = state.withLock { state -> JournalRecord? in
                state.placement.record?.mismatch = JournalRecord.Mismatch(expected: expected.description, actual: found)
                return state.placement.record
            }
            if let record { await files.run { [self] in keepRefuted(record, in: pair, $0) } }
        }
        let origin = state.withLock { $0.digest.requested == nil ? Reason(.checksumOfServer) : $0.digest.origin }
        let error = DownloadError(
            .checksum, ErrorPhrase(.wrongDigest, "\(expected)", "\(found)"),
            suggestion: ErrorPhrase(.keptMarked, storage.pair?.paths.part.lastComponent?.string ?? "", origin))
        var damaged = RangeSet<ByteCount>()
        let (total, pieces) = state.withLock {
            ($0.machine.planner.total ?? 0, request.pieces ?? $0.digest.describedPieces)
        }
        if let pieces, let pair = storage.pair, pieces.cover(total) {
            guard let found = try await damage(of: pieces, in: pair, total: total) else { return }
            damaged = found
        }
        try await fetchAgain(damaged, after: error)
    }

    /// Goes on with another source, or with the damaged bytes; throws the error if there is neither.
    private func fetchAgain(
        _ damaged: RangeSet<ByteCount>, after error: DownloadError
    ) async throws(DownloadError) {
        let forgotten = state.withLock { state in
            state.faults.timesForgotten += 1
            return state.machine.refuted(error, damaged: damaged)
        }
        guard let forgotten else { throw error }
        report(.state(.downloading))
        if !forgotten.isEmpty { try await retract(forgotten) }
    }

    /// Marks a file in its journal that does not have its digest. Removes an earlier one, which was refuted too.
    private func keepRefuted(_ record: JournalRecord, in pair: Storage.Pair, _ disk: Disk) {
        do throws(JournalError) { try pair.journal(disk).write(record) } catch { return }
        let backup = BackupPair(pair.paths, fileSystem: disk.fileSystem, syncs: false)
        guard let earlier = try? backup.record(of: asideOwner(record)), earlier.mismatch != nil else { return }
        try? backup.remove()
        state.withLock { $0.placement.backup = .none }
    }

    // MARK: Publishing

    private func publishOrder(directory: FilePath, name: String, total: ByteCount) -> PublishOrder {
        let replaced = replaced
        return state.withLock { state in
            let identity = state.machine.file.identity
            let given = request.usesServerTime ? identity.lastModified : nil
            let time = given.flatMap { HTTPDate.parse($0) }.flatMap {
                FileTime(secondsSince1970: $0.timeIntervalSince1970)
            }
            return PublishOrder(
                directory: directory, name: name, rule: request.onConflict, length: total, modificationTime: time,
                source: state.links.urls.first.map {
                    // Validators are stored only for the source that sent them.
                    let checksum = state.digest.recorded?.checksum
                    return state.links.primary == 0
                        ? FileSource(
                            url: $0.text, etag: identity.etag, lastModified: identity.lastModified, checksum: checksum)
                        : FileSource(url: $0.text, checksum: checksum)
                },
                replaces: replaced)
        }
    }

    /// Publishes a small file in one step. Returns its path, or `nil` when a part file is needed or an existing file
    /// is kept.
    private func publishSmall(_ small: Storage.Small) async throws(DownloadError) -> String? {
        let order = publishOrder(directory: small.directory, name: small.name, total: ByteCount(small.bytes.count))
        switch try await publish(small.bytes, order) {
        case .published(let published):
            for note in published.notes { report(.event(.note(note.reason))) }
            state.withLock { $0.placement.name = published.name }
            if state.withLock({ $0.placement.backup.paths }) != nil { await files.run { [self] in removeAside($0) } }
            return published.path.string
        case .needsPartFile: return nil
        case .exists(let path):
            try skip(path, length: await files.run { (try? $0.fileSystem.statusIfPresent(path))?.length ?? 0 })
            return nil
        case .blocked(let path): throw await files.run { [self] in blocked(by: path, $0) }
        case .noFreeName(let path):
            throw DownloadError(.conflict, ErrorPhrase(.noFreeName, "\(path)"), recovery: .needsUser)
        }
    }

    private func publishPair(total: ByteCount, proof: Proof) async throws(DownloadError) -> FinishedDownload {
        guard let pair = storage.pair else { throw DownloadError(.internal, "no part file to publish") }
        let all = RangeSet(0..<total)
        let record = state.withLock { state -> JournalRecord? in
            var record = state.nextRecord(claiming: all)
            record?.claimed = total > 0 ? [[0, total]] : []
            record?.mismatch = nil
            return record
        }
        guard let record else { throw DownloadError(.internal, "a part file without a record") }
        let order = publishOrder(directory: pair.paths.directory, name: pair.paths.name, total: total)
        let syncs = request.syncsToDisk
        let published: Published
        do throws(PublishError) {
            published = try await files.run { disk throws(PublishError) in
                let part = pair.part(disk)
                let isIntact: Bool
                do throws(FileError) {
                    isIntact = try part.isIntact(length: total)
                    // Only if it is longer: some file systems cannot truncate at all.
                    if isIntact, try part.length() > total { try part.truncate(to: total) }
                } catch { throw .file(error) }
                guard isIntact else { throw .notIntact(pair.paths.part) }
                let publisher = Publisher(fileSystem: disk.fileSystem, syncs: syncs)
                return try publisher.publish(part, order) { publishing in
                    var announced = record
                    announced.publishing = publishing
                    announced.unsyncedBoot = syncs ? nil : disk.fileSystem.bootID
                    try pair.journal(disk).write(announced)
                }
            }
        } catch {
            await keepUnpublished(error)
            throw DownloadError(error)
        }
        for note in published.notes { report(.event(.note(note.reason))) }
        state.withLock { $0.placement.name = published.name }
        let finished = finished(path: published.path.string, total: total, proof: proof)
        await keepPieces(of: finished)
        try await context.tellPublished(finished, files)
        await files.run { [self] in
            note(published.path, $0.fileSystem)
            let backup = BackupPair(pair.paths, fileSystem: $0.fileSystem, syncs: false)
            if backup.removeRest(pair.journal($0), of: asideOwner(record), syncs: false) {
                environment.knownJournals(in: pair.paths.directory)?.remove(pair.paths.journal)
            }
            removeControl(of: published.path, $0)
        }
        return finished
    }

    /// Claims the unpublished bytes, for the next run. After a failed sync it claims nothing, because a second
    /// sync would succeed without the data that the first one lost.
    private func keepUnpublished(_ error: PublishError) async {
        switch error {
        case .file(let inner) where inner.operation == .sync: break
        case .unsyncedName: break
        default: await checkpoint()
        }
    }
}

/// Publishing small files, and the reports to a ``PublishObserving`` observer.
extension DownloadDriver {
    /// Publishes a small file; each candidate name is announced to the observer, if there is one.
    func publish(_ bytes: [UInt8], _ order: PublishOrder) async throws(DownloadError) -> SmallFilePublisher.Result {
        guard let observer = context.observer else {
            return try await publishing { [self] publisher throws(PublishError) in
                let result = try publisher.publish(bytes, order)
                if case .published(let published) = result { note(published.path, publisher.fileSystem) }
                return result
            }
        }
        typealias Start = (draft: SmallFilePublisher.Draft, status: FileStatus, step: SmallFilePublisher.Step)
        let start = try await publishing { publisher throws(PublishError) -> Start? in
            guard let draft = try publisher.draft(bytes, order) else { return nil }
            do throws(PublishError) { return (draft, try draft.status(), try publisher.firstStep(of: draft)) } catch {
                draft.file.close()
                throw error
            }
        }
        guard case (let draft, let status, var step)? = start else {
            return .needsPartFile("the file system has no unnamed files")
        }
        if case .done = step { await files.run { _ in draft.file.close() } }
        do throws(DownloadError) {
            while case .name(let candidate) = step {
                try await observer.willPublish(PublishedFile(candidate.paths.final, status))
                step = try await publishing { publisher throws(PublishError) in
                    let next = try publisher.link(draft, as: candidate)
                    if case .done = next { draft.file.close() }
                    return next
                }
            }
        } catch {
            await files.run { _ in draft.file.close() }
            throw error
        }
        guard case .done(let result) = step else { return .noFreeName(order.directory) }
        return result
    }

    /// Keeps the fingerprint of the published file, so that whoever asks for it need not visit a file thread.
    private func note(_ path: FilePath, _ fileSystem: any FileSystem) {
        let file = try? PublishedFile.read(path.string, fileSystem: fileSystem)
        state.withLock { $0.finished.published = file }
    }

    private func publishing<Value: Sendable>(
        _ body: @escaping @Sendable (SmallFilePublisher) throws(PublishError) -> Value
    ) async throws(DownloadError) -> Value {
        let syncs = request.syncsToDisk
        do throws(PublishError) {
            return try await files.run { disk throws(PublishError) in
                try body(
                    SmallFilePublisher(fileSystem: disk.fileSystem, syncs: syncs))
            }
        } catch { throw DownloadError(error) }
    }
}

extension SmallFilePublisher.Draft {
    fileprivate func status() throws(PublishError) -> FileStatus {
        do throws(FileError) { return try file.status() } catch { throw .file(error) }
    }
}
