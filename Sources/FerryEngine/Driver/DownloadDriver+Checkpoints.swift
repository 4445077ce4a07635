import FerryCore
import SystemPackage

/// Checkpoints: sync the part file, then claim its ranges in the journal.
extension DownloadDriver {
    /// Makes all written ranges durable and claims them in the journal, while the transfer continues.
    ///
    /// Failures are handled here; the error is returned for reporting only.
    @discardableResult
    func checkpoint() async -> DownloadError? {
        await lock.acquire()
        defer { lock.release() }
        return await files.run { [self] disk in checkpointInTurn(disk) }
    }

    private func checkpointInTurn(_ disk: Disk) -> DownloadError? {
        let now = environment.clock.now()
        let (place, snapshot, statement) = transfer.beginCheckpoint(at: now)
        defer {
            checkpointDone.notify()
            updates.notify()
        }
        let isClaimed: Bool
        do throws(ClaimFailure) { isClaimed = try place?.sink.checkpoint(statement, disk) ?? false } catch {
            return notClaimed(error)
        }
        let end = environment.clock.now()
        if isClaimed { transfer.checkpointEnded(snapshot, at: end) } else { transfer.checkpointSkipped() }
        if case .part? = place { environment.metrics.checkpointed(in: end - now) }
        return nil
    }

    /// Handles a checkpoint that claimed nothing. After a failed sync all unclaimed bytes are distrusted as well,
    /// once all connections have stopped.
    private func notClaimed(_ failure: ClaimFailure) -> DownloadError {
        if case .sync = failure { transfer.syncFailed() } else { transfer.checkpointSkipped() }
        switch failure {
        case .sync(let error): faulted(error)
        case .journal(.file(let error)) where error.kind == .io: faulted(error)
        default: fail(failure.error)
        }
        return failure.error
    }

    // MARK: Disk faults

    /// Handles a failed write or sync. The first EIO reopens the part file; any other failure ends the run.
    func faulted(_ error: FileError) {
        if !transfer.mends(error) { fail(DownloadError(error)) }
        updates.notify()
    }

    /// Stops all connections, reopens the part file and fetches the unclaimed ranges again.
    func mend(_ damage: DownloadError) async {
        let wasComplete = transfer.mendingBegan()
        await drain()
        do throws(DownloadError) {
            // The machine may already have reported completion; the next run starts from the claims.
            guard !wasComplete, let session = transfer.openPart else { throw damage }
            try await files.run { disk throws(DownloadError) in try session.reopen(disk) }
            report(.event(.note(Reason(.openedAnew, damage.reason))))
        } catch { fail(error) }
        transfer.mended()
    }

    /// Checks the free space for a file of unknown length, which must not fill the disk. ``checkFloor(at:)`` runs each second.
    /// This check also runs each time the transfer has written an eighth of the available space, so that a fast transfer cannot
    /// fill the disk in between.
    func checkRoom(_ disk: Disk) throws(DownloadError) {
        guard let directory = transfer.part?.paths.directory else { return }
        let space = DirectorySpace(
            directory, reserve: settings.minFreeBytes, fileSystem: disk.fileSystem)
        let room: ByteCount
        do throws(FileError) {
            let (free, reserve) = try space.measure()
            room = free - reserve
        } catch { throw DownloadError(error) }
        if room < 0 { try checkSpace(in: directory, for: nil, disk) }
        transfer.foundRoom(room)
    }

    /// Checks the free space each second, because other programs write to the disk too.
    func checkFloor(at now: Duration) async {
        let directory = transfer.directoryToCheck(at: now)
        guard let directory else { return }
        do throws(DownloadError) {
            try await files.run { [self] disk throws(DownloadError) in
                try checkSpace(in: directory, for: nil, disk)
            }
        } catch { fail(error) }
    }
}

/// Retraction of the bytes of a response that did not match its `Content-Digest`, or of a file that was truncated.
extension DownloadDriver {
    /// Forgets the ranges that the response wrote, and returns once no journal claims any of them: only then may
    /// their bytes change.
    ///
    /// A crash before the journal is written leaves the claims as they would be for a response without a digest.
    func takeBack(_ check: MessageCheck, actual: Checksum, on id: ConnectionID) async throws(DownloadError) {
        guard transfer.place?.sink.isRewritable != false else {
            throw DownloadError(
                .checksum, ErrorPhrase(.wrongDigestInStream, "\(check.expected)", "\(actual)"),
                suggestion: ErrorPhrase(.doNotUse))
        }
        transfer.forget(check.written, on: id)
        try await retract(check.written)
    }

    /// Continues the download after a digest mismatch if the end of the file was only assumed. Returns whether the download
    /// continues.
    func wasCutShort() async throws(DownloadError) -> Bool {
        guard let forgotten = transfer.cutShort() else { return false }
        report(.state(.downloading))
        if !forgotten.isEmpty { try await retract(forgotten) }
        return true
    }

    /// Returns once no journal claims the forgotten ranges, which may then be fetched again.
    func retract(_ ranges: RangeSet<ByteCount>) async throws(DownloadError) {
        // A running checkpoint may still claim some of the ranges; the retraction must follow it.
        await lock.acquire()
        defer { lock.release() }
        let (place, statement) = transfer.statement
        if let sink = place?.sink {
            try await files.run { disk throws(DownloadError) in try sink.retract(to: statement, disk) }
        }
        transfer.allow(ranges)
    }
}
