import FerryCore
import FerryEngine
import Synchronization

/// The input of a run. A class, since a value of this size in the frame of each waiting task would cost several times
/// its size while the download runs.
final class RunInput: Sendable {
    let row: CatalogueRow
    let secrets: Secrets?
    /// ``Run/edits`` before the row and secrets were read.
    let edits: Int

    init(_ row: CatalogueRow, _ secrets: Secrets?, edits: Int) {
        self.row = row
        self.secrets = secrets
        self.edits = edits
    }

    var lacksSecrets: Bool { row.request.hasSecrets && secrets == nil }
}

extension Scheduler {
    /// The input of a run and the object that shows the same state; `nil` if the download is no longer listed.
    func begin(_ run: Run, _ id: DownloadID) async throws(DownloadError) -> (RunInput, LiveDownload)? {
        while true {
            guard let input = try await input(id, run) else { return nil }
            if let live = live(for: input, in: run) { return (input, live) }
        }
    }

    private func input(_ id: DownloadID, _ run: Run) async throws(DownloadError) -> RunInput? {
        let edits = run.edits
        let (store, vault) = state.withLock { ($0.store, $0.vault) }
        guard let row = try await store?.row(id) else { return nil }
        return RunInput(row, row.request.hasSecrets ? try await vault.secrets(of: id) : nil, edits: edits)
    }

    /// The object, updated to the input; `nil` if the download was changed since the input was read.
    @inline(never) private func live(for input: RunInput, in run: Run) -> LiveDownload? {
        let request = input.row.request(with: input.secrets)
        return state.withLock { state in
            guard run.edits == input.edits else { return nil }
            let live = live(for: input.row.id, &state) { object(of: input.row, input.secrets) }
            // An object that was created for a list lacks the secrets.
            live.set(request: request)
            return live
        }
    }

    /// Applies changes made since the row was read, while there was no driver to receive them.
    func catchUp(_ driver: DownloadDriver, _ run: Run, _ id: DownloadID, since edits: Int) async {
        var seen = edits
        while run.edits != seen {
            seen = run.edits
            let (store, isKept) = state.withLock { ($0.store, $0.configuration.storage.isKept) }
            guard let row = try? await store?.row(id) else { return }
            driver.set(maxConnections: row.request.maxConnections)
            driver.set(rateLimit: row.request.rateLimit)
            if isKept { driver.set(tags: JournalTags(row)) }
        }
    }
}
