import FerryCore
import Synchronization
import SystemPackage

/// Computes the digest of a file during its transfer, over the contiguous prefix that the journal claims.
final class DigestFollower: Sendable {
    private struct State {
        var digest: PrefixDigest?
        /// The part file that the digest reads, and its ``PartSession/reopenings`` when the digest was started.
        var session: PartSession?
        var reopenings = 0
        /// The value of ``Transfer/timesForgotten`` when the digest was started.
        var timesForgotten = 0
        var task: Task<Void, Never>?

        /// Whether the digest covers the bytes that the part file has now.
        func isOf(_ session: PartSession, _ algorithm: DigestAlgorithm, _ timesForgotten: Int) -> Bool {
            self.session === session && reopenings == session.reopenings
                && digest.map { $0.algorithm == algorithm } ?? true && self.timesForgotten == timesForgotten
        }
    }
    private let driver: DownloadDriver
    private let state = Mutex(State())

    init(_ driver: DownloadDriver) { self.driver = driver }

    /// Starts reading the newly claimed prefix on another thread; does nothing while an earlier read is in progress.
    func follow() {
        let (checksum, end, timesForgotten, part) = driver.transfer.followed()
        guard let algorithm = driver.algorithm(for: checksum), let session = part else { return }
        state.withLock { state in
            guard state.task == nil else { return }
            if !state.isOf(session, algorithm, timesForgotten) {
                (state.digest, state.session, state.timesForgotten) = (nil, session, timesForgotten)
                state.reopenings = session.reopenings
            }
            let digest = state.digest
            guard end - (digest?.position ?? 0) >= 8 << 20 else { return }
            // owner: this object; awaited in stop().
            state.task = Task(executorPreference: driver.loop) {
                await self.advance(digest, algorithm, of: session, to: end)
            }
        }
    }

    private func advance(
        _ digest: PrefixDigest?, _ algorithm: DigestAlgorithm, of session: PartSession, to end: ByteCount
    ) async {
        let advanced = await driver.files.run { [driver] disk -> PrefixDigest? in
            var copy = digest ?? driver.digest(algorithm, of: session.part(disk).file)
            return (try? copy.advance(to: end)) == nil ? nil : copy
        }
        state.withLock { state in
            if let advanced { state.digest = advanced }
            state.task = nil
        }
    }

    /// Waits for the read in progress.
    func stop() async { await state.withLock { $0.task }?.value }

    /// Returns the digest of the first `total` bytes, or `nil` if the download was stopped meanwhile.
    func finish(
        _ algorithm: DigestAlgorithm, of session: PartSession, total: ByteCount
    ) async throws(DownloadError) -> PrefixDigest? {
        await stop()
        let timesForgotten = driver.transfer.timesForgotten
        let begun = state.withLock { $0.isOf(session, algorithm, timesForgotten) ? $0.digest : nil }
        return try await driver.read(to: total) { [driver] in
            begun ?? driver.digest(algorithm, of: session.part($0).file)
        }
    }
}

extension DownloadDriver {
    /// Returns the algorithm of the digest to compute: that of the expected digest, or else that of the digest to record.
    func algorithm(for expected: Checksum?) -> DigestAlgorithm? {
        expected?.algorithm ?? (request.recordsDigests ? .sha256 : nil)
    }

    /// Returns a digest that starts at the beginning of a file.
    func digest(_ algorithm: DigestAlgorithm, of file: any File) -> PrefixDigest {
        guard request.recordsDigests else { return PrefixDigest(algorithm, of: file) }
        return PrefixDigest(algorithm, of: file, recordingPiecesOf: transfer.facts.totalBytes)
    }

    /// Reads a file up to `end`, starting from the state of the digest that `begin` returns. Returns the digest of all bytes; `nil`
    /// if the download was stopped meanwhile.
    func read(
        to end: ByteCount, _ begin: @escaping @Sendable (Disk) -> PrefixDigest
    ) async throws(DownloadError) -> PrefixDigest? {
        try await files.digest(to: end, unless: { transfer.stop != nil }, begin)
    }
}

/// The digests that are stored with the file.
extension DownloadDriver {
    /// Stores the digest of a small file: its SHA-256 if digests are recorded, otherwise the expected digest, if there is one.
    func keep(_ bytes: [UInt8], _ expected: Checksum?) {
        let found =
            request.recordsDigests && expected?.algorithm != .sha256
            ? Checksum(algorithm: .sha256, bytes: ByteDigest.of(bytes, .sha256)) : expected
        if let found { transfer.computed(RecordedDigests(checksum: found)) }
    }

    /// Writes the file of digests beside a published file if its pieces are to be recorded; otherwise removes an older one.
    func keepPieces(of finished: FinishedDownload) async {
        guard request.recordsDigests else { return }
        guard let pieces = transfer.digest.recorded?.pieces else {
            return await files.run { DigestFile.remove(of: FilePath(finished.path), fileSystem: $0.fileSystem) }
        }
        var record = FileRecord(
            path: Paths.name(of: finished.path), urls: transfer.given.map { $0.with(nil).text })
        (record.totalBytes, record.checksum, record.pieces) = (finished.totalBytes, finished.checksum, pieces)
        (record.etag, record.lastModified) = (finished.etag, finished.lastModified)
        (record.proof, record.completedAt) = (finished.proof, environment.clock.date())
        let path = FilePath(finished.path)
        let failure = await files.run { [record] disk -> FileError? in
            var record = record
            do throws(FileError) {
                record.modified = try disk.fileSystem.status(path, followingLinks: false).modified.text
                try DigestFile.write(record, of: path, fileSystem: disk.fileSystem)
                return nil
            } catch { return error }
        }
        if let failure { report(.event(.note(Reason(.digestsNotKept, DownloadError(failure).reason)))) }
    }

    /// Records the digests of a file that was already complete, unless they exist. Returns the result with its digest.
    ///
    /// The file is read once. No digests are recorded for another user's file, or for a file that changes meanwhile.
    func recordExisting(_ finished: FinishedDownload) async -> FinishedDownload {
        guard request.recordsDigests, finished.wasAlreadyComplete, !finished.path.isEmpty else { return finished }
        let path = FilePath(finished.path)
        let found = await files.run { disk -> Existing? in try? Existing(path, disk) }
        guard let found else { return finished }
        defer { found.file.close() }
        var answer = finished
        if let recorded = found.recorded {
            answer.checksum = answer.checksum ?? recorded
            return answer
        }
        report(.state(.verifying))
        let digest = try? await read(to: found.status.length) { _ in
            PrefixDigest(.sha256, of: found.file, recordingPiecesOf: found.status.length)
        }
        guard let digests = digest?.recorded else { return finished }
        answer.checksum = answer.checksum ?? digests.checksum
        var record = FileRecord(
            path: Paths.name(of: finished.path), urls: transfer.given.map { $0.with(nil).text })
        (record.totalBytes, record.modified) = (found.status.length, found.status.modified.text)
        (record.checksum, record.pieces) = (digests.checksum, digests.pieces)
        (record.etag, record.lastModified) = (finished.etag, finished.lastModified)
        (record.proof, record.completedAt) = (finished.proof, environment.clock.date())
        let failure = await files.run { [record] disk -> FileError? in
            do throws(FileError) {
                let now = try found.file.status()
                guard now.length == found.status.length, now.modified == found.status.modified else { return nil }
                // The digest of a single piece is stored in the attribute.
                if record.pieces == nil, found.note(digests.checksum) { return nil }
                try DigestFile.write(record, of: path, fileSystem: disk.fileSystem)
                return nil
            } catch { return error }
        }
        if let failure { report(.event(.note(Reason(.digestsNotKept, DownloadError(failure).reason)))) }
        return answer
    }

    /// An open file that was already complete.
    private struct Existing: Sendable {
        let file: any File
        let status: FileStatus
        let attribute: SourceAttribute?
        /// The recorded digest of these bytes.
        let recorded: Checksum?

        init(_ path: FilePath, _ disk: Disk) throws(FileError) {
            let file = try disk.fileSystem.openOurs(path, .readOnly, for: .content)
            do throws(FileError) { status = try file.status() } catch {
                file.close()
                throw error
            }
            self.file = file
            let attribute = SourceAttribute.read(file)
            self.attribute = attribute?.isOf(status) == true ? attribute : nil
            let beside = DigestFile.read(of: path, fileSystem: disk.fileSystem)
            if let beside, beside.totalBytes == status.length, beside.modified == status.modified.text {
                recorded = beside.checksum
            } else {
                recorded = status.length <= PieceDigester.pieceBytes ? self.attribute?.checksum : nil
            }
        }

        /// Adds the digest to the file's attribute. Returns `false` if there is no attribute, or it cannot be written.
        func note(_ checksum: Checksum) -> Bool {
            guard let attribute else { return false }
            return (try? file.setAttribute(SourceAttribute.name, attribute.with(checksum).encode())) != nil
        }
    }
}
