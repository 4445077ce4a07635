import Ferry
import FerryCore
import struct Foundation.Date
import Synchronization

extension GetRun {
    /// Handles one event.
    func follow(_ event: DownloadEvent) async {
        guard let entry = ledger.withLock({ $0.entry(for: event) }) else { return }
        switch event.kind {
        case .completed(let file):
            let isOneOfFew = ledger.withLock {
                $0.close(event.id)
                $0.countFinished(file)
                return $0.expectedCount <= PlainProgress.fewFiles
            }
            // Entries of ended files are removed, as a list may be long.
            try? await entry.download.remove()
            reporter.completed(
                file, event: event, name: file.path.isEmpty ? entry.shownName : Paths.name(of: file.path),
                elapsed: elapsed - entry.startedAt, isOneOfFew: isOneOfFew)
            placeIsFree()
        case .failed(let error):
            await ended(entry, event, error)
        case .cancelled:
            await ended(entry, event, DownloadError(.cancelled, ErrorPhrase(.itWasCancelled)))
        case .waiting(.freshLink, let message):
            // The manager would wait for a new link. The command cannot wait; the part file remains for the next run.
            try? await entry.download.pause()
            await ended(entry, event, DownloadError(.freshLink, message, recovery: .needsUser))
        case .waiting(.credentials, let message):
            try? await entry.download.pause()
            await ended(entry, event, DownloadError(.credentials, message, recovery: .needsUser))
        case .started(let name, _):
            let now = elapsed
            ledger.withLock {
                $0.change(event.id) {
                    $0.name = name
                    $0.startedAt = now
                }
            }
            reporter.happened(event, name: name)
        case .resumed(let offset, _, _):
            // The name is in the journal, before any server has responded.
            let name = entry.name ?? entry.download.status.name
            ledger.withLock { ledger in
                ledger.change(event.id) { entry in
                    // Later ones are of bytes of this run.
                    if entry.name == nil { entry.offset = offset }
                    if !name.isEmpty { entry.name = name }
                }
            }
            reporter.happened(event, name: name.isEmpty ? entry.shownName : name)
        case .added, .retrying, .restarted, .waiting, .note, .paused:
            reporter.happened(event, name: entry.shownName)
        }
    }

    /// Handles a file that ended without success.
    private func ended(_ entry: Entry, _ event: DownloadEvent, _ error: DownloadError) async {
        // A shutdown is not a failure; the exit code reports it.
        let isShutDown = error.code == .shutDown && isStopping
        let isNews = ledger.withLock {
            let isOpen = $0.isOpen(event.id)
            $0.close(event.id)
            if isOpen, !isShutDown { $0.countFailed(ExitCode.of(error)) }
            return isOpen && !isShutDown
        }
        if isNews {
            let part = heldPart(of: entry)
            let command = ErrorText.command(after: error, part: part, url: entry.url)
            reporter.failed(error, id: event.id, name: entry.shownName, command: command, date: event.date)
            // Removing deletes a part file. Without one, the entry is removed, because a list may be long.
            if part == nil { try? await entry.download.remove() }
        }
        placeIsFree()
    }

    /// Returns the part file to resume from; `nil` if there is none.
    private func heldPart(of entry: Entry) -> String? {
        let candidates = [entry.part, entry.download.status.path.map { $0 + ".part" }]
        return candidates.compactMap(\.self).first { LocalFiles.kind(of: $0) == .file }
    }
}
