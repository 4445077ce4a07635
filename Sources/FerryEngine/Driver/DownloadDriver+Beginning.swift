import FerryCore
import SystemPackage

/// The start of a run: turns the files on the disk into the state of the transfer.
extension DownloadDriver {
    /// Looks for existing files and initializes the machine. Returns a result if nothing has to be fetched.
    func begin() async throws(DownloadError) -> FinishedDownload? {
        let name = target.name
        let prepared = await files.stay { disk async -> Prepared in
            var preparation = Preparation(
                own, name: name, environment, files, settings, report: report,
                tags: { [transfer] in transfer.tags }, isStopped: { [transfer] in transfer.stop != nil })
            return await preparation.run(disk)
        }
        return try take(prepared)
    }

    /// Adopts the open files, which the transfer owns from here on.
    private func take(_ prepared: Prepared) throws(DownloadError) -> FinishedDownload? {
        transfer.took(prepared)
        target.took(prepared)
        switch prepared.start {
        case .finished(let file): return file
        case .failed(let error, _): throw error
        case .resume(_, let held): start(with: held)
        case .compare(_, let ranges):
            start(
                with: Prepared.Held(
                    content: PartialContent(identity: FileIdentity(), ranges: ranges), totalBytes: nil,
                    weakestJoin: nil, isNewSource: true, isDoubtful: true))
        case .fresh:
            let known = prepared.digest.requested == nil ? request.knownValidators : nil
            start(with: nil, finished: prepared.earlier?.identity ?? known)
        }
        return nil
    }

    /// Initializes the machine.
    private func start(with held: Prepared.Held?, finished: FileIdentity? = nil) {
        var rules = TransferMachine.Settings()
        var isStream = false
        if case .stream = request.destination { isStream = true }
        rules.memory = context.retries ?? RetryMemory()
        rules.stallTimeout = settings.stallTimeout
        let leastBytes = Double(request.minSpeed ?? 0) * settings.stallTimeout.seconds
        rules.leastBytes = ByteCount(min(leastBytes, Double(ByteCount.bound)))
        (rules.maxRetries, rules.maxFirstRetries) = (settings.maxRetries, settings.maxFirstRetries)
        rules.maxBytes = request.maxBytes
        rules.expectedBytes = request.expectedBytes
        rules.replacesFinished = request.onConflict == .overwrite || context.replaces != nil
        rules.claims = !isStream
        rules.isStream = isStream
        rules.isNewSource = held?.isNewSource ?? false
        rules.doubtsHeld = held?.isDoubtful ?? false
        transfer.begin(rules, with: held, finished: finished)
        report(.state(.downloading))
    }
}

extension Prepared {
    /// Where the first bytes are stored; `nil` while there is no file for them.
    var place: Place? {
        switch start {
        case .resume(let session, _), .failed(_, let session?): .part(session)
        case .compare(let half, _): .examined(ExaminedFile(half))
        case .fresh, .finished, .failed: nil
        }
    }
}
