import FerryCore
import NIOCore
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// The end of a complete transfer: verify, then publish.
extension DownloadDriver {
    /// Verifies and publishes the file. Returns `nil` if the download was stopped before that, or continues with another source.
    func finish(_ digest: DigestFollower) async throws(DownloadError) -> FinishedDownload? {
        let facts = transfer.facts
        guard facts.isComplete else {
            // A sync failed as the last bytes arrived, so the bytes that it covered are not trusted.
            throw transfer.incompleteness ?? DownloadError(.internal, "the file is not complete")
        }
        let (total, proof, expected) = (facts.totalBytes ?? 0, facts.proof, transfer.digestToCheck)
        let pieces = request.pieces ?? transfer.digest.describedPieces
        var finalProof = proof
        // Pieces are compared on the disk.
        if pieces != nil, expected == nil, case .memory? = transfer.place { try await spill() }
        switch transfer.place {
        case nil: throw DownloadError(.internal, "nothing was stored")
        case .examined(let file): return try await finish(file.existing, expected)
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
        case .memory(let memory):
            let bytes = memory.bytes
            if let expected {
                let actual = ByteDigest.of(bytes, expected.algorithm)
                guard actual == expected.bytes else {
                    try await spill()
                    try await refute(expected, actual: actual)
                    return nil
                }
                finalProof = .digest
            }
            keep(bytes, expected)
            if request.trust.strict, !finalProof.isStrict {
                try await spill()
                await checkpoint()
                throw unproven(finalProof)
            }
            if request.uploadTo != nil {
                return try await upload(UploadSource(bytes), total: total, proof: finalProof)
            }
            let twin = try await twin(of: total, proof: finalProof) { ByteDigest.of(bytes, .sha256) }
            if let twin { return twin }
            if let path = try await publishSmall(bytes, memory, proof: finalProof) {
                let finished = finished(path: path, total: total, proof: finalProof)
                await keepPieces(of: finished)
                try await context.tellPublished(finished, files)
                return finished
            }
            if let existing = target.existing { return existing }
            try await spill()
            if let existing = target.existing { return existing }
            return try await publishPair(total: total, proof: finalProof)
        case .part(let session):
            if expected == nil, let pieces {
                report(.state(.verifying))
                guard try await areIntact(pieces, in: session, total: total) else { return nil }
                finalProof = .digest
            }
            if let algorithm = algorithm(for: expected) {
                report(.state(.verifying))
                guard let found = try await digest.finish(algorithm, of: session, total: total) else { return nil }
                if let expected {
                    let actual = found.finish()
                    guard actual == expected.bytes else {
                        if try await !wasCutShort() { try await refute(expected, actual: actual) }
                        return nil
                    }
                    finalProof = .digest
                }
                let recorded = found.recorded ?? expected.map { RecordedDigests(checksum: $0) }
                transfer.computed(recorded)
            }
            if finalProof == .digest {
                transfer.provedEnd()
            } else if try await wasCutShort() {
                return nil
            }
            if request.trust.strict, !finalProof.isStrict {
                await checkpoint()
                throw unproven(finalProof)
            }
            if request.uploadTo != nil {
                return try await upload(
                    UploadSource(session, totalBytes: total, files), total: total, proof: finalProof)
            }
            let twin = try await twin(of: total, proof: finalProof) { [self] () async throws(DownloadError) in
                try await read(to: total) { PrefixDigest(.sha256, of: session.part($0).file) }?.finish()
            }
            if let twin {
                try await files.run { [self] disk throws(DownloadError) in
                    try forget(disk)
                    removeAside(disk)
                }
                return twin
            }
            return try await publishPair(total: total, proof: finalProof)
        }
    }

    func finished(path: String, total: ByteCount, proof: Proof) -> FinishedDownload {
        let facts = transfer.facts
        return FinishedDownload(
            path: path, totalBytes: total, proof: proof, redactedFinalURL: facts.finalURL,
            contentType: target.contentType ?? facts.identity.contentType, receivedBytes: facts.receivedBytes,
            etag: facts.identity.etag, lastModified: facts.identity.lastModified,
            checksum: transfer.digest.recorded?.checksum)
    }

    private func unproven(_ proof: Proof) -> DownloadError {
        DownloadError(
            .unproven, ErrorPhrase(.weakProof, proof.rawValue), suggestion: ErrorPhrase(.giveChecksum),
            recovery: .needsUser)
    }

    private func found(_ expected: Checksum, _ actual: [UInt8]) -> String {
        Checksum(algorithm: expected.algorithm, bytes: actual)?.description ?? ""
    }

    /// Verifies the pieces of a file that has no other digest. Returns `false` if the download was stopped meanwhile, or if damaged
    /// pieces are fetched again; throws if no source can provide intact ones.
    private func areIntact(
        _ pieces: PieceDigests, in session: PartSession, total: ByteCount
    ) async throws(DownloadError) -> Bool {
        guard pieces.cover(total) else {
            if try await wasCutShort() { return false }
            throw DownloadError(.checksum, ErrorPhrase(.uncoveredPieces, "\(total)"), recovery: .needsUser)
        }
        guard let damaged = try await damage(of: pieces, in: session, total: total) else { return false }
        if damaged.isEmpty { return true }
        if try await wasCutShort() { return false }
        await checkpoint()
        let count = damaged.ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound - 1) / pieces.pieceBytes + 1 }
        try await fetchAgain(
            damaged, after: DownloadError(.checksum, ErrorPhrase(.damagedPieces, "\(count)", "\(pieces.count)")))
        return false
    }

    /// Returns the bytes of the pieces that do not match their digests; `nil` if the download was stopped meanwhile.
    private func damage(
        of pieces: PieceDigests, in session: PartSession, total: ByteCount
    ) async throws(DownloadError) -> RangeSet<ByteCount>? {
        var damaged = RangeSet<ByteCount>()
        for piece in 0..<pieces.count {
            let range = pieces.range(of: piece, total: total)
            let digest = try await read(to: range.upperBound) { disk in
                PrefixDigest(pieces.algorithm, of: session.part(disk).file, from: range.lowerBound)
            }
            guard let digest else { return nil }
            if !digest.finish().elementsEqual(pieces.digest(of: piece)) { damaged.insert(contentsOf: range) }
        }
        return damaged
    }

    /// Marks the part file in the journal as mismatched, and continues with another source if one may have the right bytes.
    /// Otherwise throws: the file is kept and never published.
    private func refute(_ expected: Checksum, actual: [UInt8]) async throws(DownloadError) {
        let found = self.found(expected, actual)
        await checkpoint()
        let (part, owner) = (transfer.part, asideOwner())
        if let part {
            let mismatch = JournalRecord.Mismatch(expected: expected.description, actual: found)
            if await files.run({ part.refute(mismatch, owner: owner, $0) }) {
                target.replaces(.absent)
            }
        }
        let digest = transfer.digest
        let origin = digest.requested == nil ? Reason(.checksumOfServer) : digest.origin
        let name = part?.paths.part.lastComponent?.string ?? ""
        // A user who has just given a checksum knows its origin.
        let kept =
            origin == Reason(.checksumOfRequest)
            ? ErrorPhrase(.keptMarked, name) : ErrorPhrase(.keptMarkedOf, name, origin)
        let error = DownloadError(
            .checksum, ErrorPhrase(.wrongDigest, "\(expected)", "\(found)"),
            suggestion: kept)
        var damaged = RangeSet<ByteCount>()
        let total = transfer.facts.totalBytes ?? 0
        if let pieces = request.pieces ?? digest.describedPieces, let part, pieces.cover(total) {
            guard let found = try await damage(of: pieces, in: part, total: total) else { return }
            damaged = found
        }
        try await fetchAgain(damaged, after: error)
    }

    /// Continues with another source, or with the damaged bytes only; throws the error if neither is possible.
    private func fetchAgain(
        _ damaged: RangeSet<ByteCount>, after error: DownloadError
    ) async throws(DownloadError) {
        guard let forgotten = transfer.refuted(error, damaged: damaged) else { throw error }
        report(.state(.downloading))
        if !forgotten.isEmpty { try await retract(forgotten) }
    }

    // MARK: Publishing

    private func publishOrder(directory: FilePath, name: String, total: ByteCount) -> PublishOrder {
        let identity = transfer.facts.identity
        return PublishOrder(
            request, directory: directory, name: name, length: total, source: transfer.sources.first, identity,
            // Validators are stored only for the source that sent them.
            isOfSource: transfer.primarySource == 0, checksum: transfer.digest.recorded?.checksum, replaces: replaced,
            keepsTwin: request.onConflict == .rename && !context.ignoresFinished && context.replaces == nil)
    }

    /// Publishes a small file in one step. Returns its path, or `nil` if a part file is needed or an existing file is kept.
    private func publishSmall(
        _ bytes: [UInt8], _ memory: MemorySink, proof: Proof
    ) async throws(DownloadError) -> String? {
        let order = publishOrder(directory: memory.directory, name: memory.name, total: ByteCount(bytes.count))
        switch try await publish(bytes, order) {
        case .published(let published):
            for note in published.notes { report(.event(.note(await reason(of: note, order)))) }
            target.named(published.name)
            if target.backup.paths != nil { await files.run { [self] in removeAside($0) } }
            return published.path.string
        case .needsPartFile: return nil
        case .twin(let path):
            var twin = finished(path: path.string, total: ByteCount(bytes.count), proof: proof)
            twin.wasAlreadyComplete = true
            target.exists(twin)
            return nil
        case .exists(let path):
            let length = await files.run { (try? $0.fileSystem.statusIfPresent(path))?.length ?? 0 }
            let skipped = try skipped(path, length: length)
            target.exists(skipped)
            return nil
        case .blocked(let path): throw await files.run { [self] in blocked(by: path, $0) }
        case .noFreeName(let path):
            throw DownloadError(.conflict, ErrorPhrase(.noFreeName, "\(path)"), recovery: .needsUser)
        }
    }

    /// Returns the text of a note. For a numbered name, the text mentions a part file that blocks the wanted name.
    private func reason(of note: PublishNote, _ order: PublishOrder) async -> Reason {
        guard case .numbered(let name) = note,
            let wanted = DownloadPaths(directory: order.directory, name: order.name)
        else { return note.reason }
        return await files.run { [self] in unusablePart(at: wanted, insteadNamed: name, $0) } ?? note.reason
    }

    private func publishPair(total: ByteCount, proof: Proof) async throws(DownloadError) -> FinishedDownload {
        let (place, statement) = transfer.statement
        guard case .part(let session)? = place else { throw DownloadError(.internal, "no part file to publish") }
        let order = publishOrder(directory: session.paths.directory, name: session.paths.name, total: total)
        let published: Published
        do throws(PublishError) {
            published = try await files.run { disk throws(PublishError) in
                try session.publish(order, statement, disk)
            }
        } catch {
            await keepUnpublished(error)
            throw DownloadError(error)
        }
        for note in published.notes { report(.event(.note(note.reason))) }
        target.named(published.name)
        let finished = finished(path: published.path.string, total: total, proof: proof)
        await keepPieces(of: finished)
        try await context.tellPublished(finished, files)
        await files.run { [self] in
            note(published.path, $0.fileSystem)
            session.removeRest(of: asideOwner(), $0)
            removeControl(of: published.path, $0)
        }
        return finished
    }

    /// Claims the unpublished bytes for the next run. Claims nothing after a failed sync, because a second sync would succeed
    /// without the data that the first one lost.
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

    /// Stores the fingerprint of the published file, so that reading it later needs no file thread.
    private func note(_ path: FilePath, _ fileSystem: any FileSystem) {
        let file = try? PublishedFile.read(path.string, fileSystem: fileSystem)
        target.published(file)
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

extension PublishOrder {
    /// Creates the order for a complete file of a request.
    ///
    /// - Parameters:
    ///   - identity: The validators that the server has sent.
    ///   - isOfSource: Whether `source` has sent them.
    ///   - checksum: The digest to be stored with the file.
    init(
        _ request: DownloadRequest, directory: FilePath, name: String, length: ByteCount, source: DownloadURL?,
        _ identity: FileIdentity, isOfSource: Bool, checksum: Checksum?, replaces: PublishedFile?, keepsTwin: Bool
    ) {
        let given = request.usesServerTime ? identity.lastModified : nil
        let time = given.flatMap { HTTPDate.parse($0) }.flatMap {
            FileTime(secondsSince1970: $0.timeIntervalSince1970)
        }
        let known = isOfSource ? identity : FileIdentity()
        self.init(
            directory: directory, name: name, rule: request.onConflict, length: length, modificationTime: time,
            source: source.map {
                FileSource(url: $0.text, etag: known.etag, lastModified: known.lastModified, checksum: checksum)
            },
            replaces: replaces, keepsTwin: keepsTwin, keptCopy: request.keptCopy)
    }
}
