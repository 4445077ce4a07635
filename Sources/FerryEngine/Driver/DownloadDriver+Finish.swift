import FerryCore
import struct Foundation.Date
import NIOCore
import Synchronization
import SystemPackage

/// The end of a complete transfer: verify, then publish.
extension DownloadDriver {
    /// Verifies and publishes the file. Returns `nil` when the download was stopped before that.
    func finish(_ digest: DigestFollower) async throws(DownloadError) -> FinishedDownload? {
        let (total, proof, expected, isComplete) = state.withLock {
            ($0.machine.planner.total ?? 0, $0.machine.proof, $0.digestToCheck, $0.machine.planner.isComplete)
        }
        guard isComplete else {
            // A sync failed as the last bytes arrived, and its range is not trusted.
            throw state.withLock { $0.fatal ?? $0.damage } ?? DownloadError(.internal, "the file is not complete")
        }
        var finalProof = proof
        switch storage.current {
        case .none: throw DownloadError(.internal, "nothing was stored")
        case .stream(let stream):
            if let expected, let actual = stream.finish() {
                guard actual == expected.bytes else { throw await mismatch(expected, actual: actual) }
                return finished(path: "", total: total, proof: .digest)
            }
            if request.trust.strict, !proof.isStrict { throw unproven(proof) }
            return finished(path: "", total: total, proof: proof)
        case .small(let small):
            if let expected {
                let actual = ByteDigest.of(small.bytes, expected.algorithm)
                guard actual == expected.bytes else {
                    try await spill()
                    throw await mismatch(expected, actual: actual)
                }
                finalProof = .digest
            }
            if request.trust.strict, !finalProof.isStrict {
                try await spill()
                await checkpoint()
                throw unproven(finalProof)
            }
            if let path = try await publishSmall(small) {
                let finished = finished(path: path, total: total, proof: finalProof)
                try await tellPublished(finished)
                return finished
            }
            if let existing = state.withLock({ $0.existing }) { return existing }
            try await spill()
            if let existing = state.withLock({ $0.existing }) { return existing }
            return try await publishPair(total: total, proof: finalProof)
        case .pair(let pair):
            if let expected {
                report(.state(.verifying))
                guard let actual = try await digest.finish(expected.algorithm, of: pair, total: total) else {
                    return nil
                }
                guard actual == expected.bytes else { throw await mismatch(expected, actual: actual) }
                finalProof = .digest
            }
            if request.trust.strict, !finalProof.isStrict {
                await checkpoint()
                throw unproven(finalProof)
            }
            return try await publishPair(total: total, proof: finalProof)
        }
    }

    private func finished(path: String, total: ByteCount, proof: Proof) -> FinishedDownload {
        state.withLock { state in
            FinishedDownload(
                path: path, totalBytes: total, proof: proof, finalURL: state.finalURL?.redacted ?? "",
                contentType: state.contentType ?? state.machine.identity.contentType,
                receivedBytes: state.machine.receivedBytes, etag: state.machine.identity.etag,
                lastModified: state.machine.identity.lastModified)
        }
    }

    private func unproven(_ proof: Proof) -> DownloadError {
        DownloadError(
            .unproven, ErrorPhrase(.weakProof, proof.rawValue), suggestion: ErrorPhrase(.giveChecksum),
            recovery: .needsUser)
    }

    /// Marks the part file in the journal as mismatched. The file is kept and never published.
    private func mismatch(_ expected: Checksum, actual: [UInt8]) async -> DownloadError {
        let found = Checksum(algorithm: expected.algorithm, bytes: actual)?.description ?? ""
        await checkpoint()
        if let pair = storage.pair {
            let record = state.withLock { state -> JournalRecord? in
                state.record?.mismatch = JournalRecord.Mismatch(expected: expected.description, actual: found)
                return state.record
            }
            if let record { try? pair.journal.write(record) }
        }
        if case .stream = storage.current {
            return DownloadError(
                .checksum, ErrorPhrase(.wrongDigestInStream, "\(expected)", "\(found)"),
                suggestion: ErrorPhrase(.doNotUse))
        }
        return DownloadError(
            .checksum, ErrorPhrase(.wrongDigest, "\(expected)", "\(found)"), suggestion: ErrorPhrase(.keptMarked))
    }

    // MARK: Publishing

    private func publishOrder(directory: FilePath, name: String, total: ByteCount) -> PublishOrder {
        state.withLock { state in
            let identity = state.machine.identity
            let time = identity.lastModified.flatMap { HTTPDate.parse($0) }.flatMap {
                FileTime(secondsSince1970: $0.timeIntervalSince1970)
            }
            return PublishOrder(
                directory: directory, name: name, rule: request.onConflict, length: total, modificationTime: time,
                source: state.sources.first.map {
                    // Validators are stored only for the source that sent them.
                    state.primary == 0
                        ? FileSource(url: $0.text, etag: identity.etag, lastModified: identity.lastModified)
                        : FileSource(url: $0.text)
                },
                replaces: context.replaces)
        }
    }

    /// Publishes a small file in one step. Returns its path, or `nil` when a part file is needed or an existing file
    /// is kept.
    private func publishSmall(_ small: Storage.Small) async throws(DownloadError) -> String? {
        let order = publishOrder(directory: small.directory, name: small.name, total: ByteCount(small.bytes.count))
        let publisher = SmallFilePublisher(
            fileSystem: fileSystem, syncs: request.syncsToDisk, numbered: SafeName.numbered)
        let result: Result<SmallFilePublisher.Result, PublishError>
        if let witness = context.witness {
            result = try await publish(small.bytes, order, publisher, witness)
        } else {
            let publish = { @Sendable () -> Result<SmallFilePublisher.Result, PublishError> in
                do throws(PublishError) { return .success(try publisher.publish(small.bytes, order)) } catch {
                    return .failure(error)
                }
            }
            // Without a sync the call is faster than a thread switch.
            result = request.syncsToDisk ? await environment.pool.run(publish) : publish()
        }
        switch result {
        case .failure(let error): throw DownloadError(error)
        case .success(.published(let published)):
            for note in published.notes { report(.event(.note(note.reason))) }
            state.withLock { $0.name = published.name }
            removeAside()
            return published.path.string
        case .success(.needsPartFile): return nil
        case .success(.exists(let path)):
            if request.onConflict == .skip {
                skip(path, length: (try? fileSystem.statusIfPresent(path))?.length ?? 0)
                return nil
            }
            throw DownloadError(.conflict, ErrorPhrase(.thereAlready, "\(path)"), recovery: .needsUser)
        case .success(.blocked(let path)): throw blocked(by: path)
        case .success(.noFreeName(let path)):
            throw DownloadError(.conflict, ErrorPhrase(.noFreeName, "\(path)"), recovery: .needsUser)
        }
    }

    private func publishPair(total: ByteCount, proof: Proof) async throws(DownloadError) -> FinishedDownload {
        guard let pair = storage.pair else { throw DownloadError(.internal, "no part file to publish") }
        let all = RangeSet(0..<total)
        let record = state.withLock { state -> JournalRecord? in
            var record = state.nextRecord(claiming: all)
            record?.claimed = total > 0 ? [[0, total]] : []
            return record
        }
        guard let record else { throw DownloadError(.internal, "a part file without a record") }
        let order = publishOrder(directory: pair.paths.directory, name: pair.paths.name, total: total)
        let publisher = Publisher(
            fileSystem: fileSystem, syncs: request.syncsToDisk, numbered: SafeName.numbered)
        let syncs = request.syncsToDisk
        let boot = fileSystem.bootID
        let result: Result<Published, PublishError> = await environment.pool.run {
            do throws(FileError) {
                guard try pair.part.isIntact(length: total) else { return .failure(.notIntact(pair.paths.part)) }
                // Only if it is longer: some file systems cannot truncate at all.
                if try pair.part.length() > total { try pair.part.truncate(to: total) }
            } catch { return .failure(.file(error)) }
            do throws(PublishError) {
                let published = try publisher.publish(pair.part, order) { publishing in
                    var announced = record
                    announced.publishing = publishing
                    announced.unsyncedBoot = syncs ? nil : boot
                    try pair.journal.write(announced)
                }
                return .success(published)
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .failure(let error):
            await keepUnpublished(error)
            throw DownloadError(error)
        case .success(let published):
            for note in published.notes { report(.event(.note(note.reason))) }
            state.withLock { $0.name = published.name }
            let finished = finished(path: published.path.string, total: total, proof: proof)
            try await tellPublished(finished)
            removeRest(of: pair.paths, pair.journal, record, syncs: false)
            return finished
        }
    }

    /// Claims what could not be published, for the next run. After a failed sync it claims nothing, because a second
    /// sync would succeed without the data that the first one lost.
    private func keepUnpublished(_ error: PublishError) async {
        switch error {
        case .file(let inner) where inner.operation == .sync: break
        case .unsyncedName: break
        default: await checkpoint()
        }
    }

    /// Looks up the checksum in the request's checksum list, under the first of `names` that the list contains.
    func lookUpChecksum(for names: @autoclosure () -> [String]) async throws(DownloadError) {
        guard let list = request.checksumList, state.withLock({ $0.checksum }) == nil else { return }
        try await fetchChecksum(from: list, for: names())
    }

    /// A separate function: its frame is large, and most downloads have no list.
    @inline(never)
    private func fetchChecksum(from list: DownloadURL, for names: [String]) async throws(DownloadError) {
        let request = TransferRequest(of: self.request, from: list, headLimit: settings.stallTimeout)
        let status: Int
        let bytes: [UInt8]
        do throws(TransferFailure) {
            let response = try await environment.transport.fetch(request)
            status = response.head.status
            bytes = status == 200 ? try await collect(response.body, most: 4 << 20) : []
        } catch { throw DownloadError(error) }
        guard status == 200 else {
            throw DownloadError(.refused, ErrorPhrase(.unusableList, "\(list)", "\(status)"))
        }
        let digests = ChecksumList(String(decoding: bytes, as: UTF8.self))
        guard let checksum = names.lazy.compactMap({ digests.checksum(for: $0) }).first else {
            throw DownloadError(.checksum, ErrorPhrase(.notInChecksumList, "\(list)", names.first ?? ""))
        }
        state.withLock { $0.checksum = checksum }
    }
}
