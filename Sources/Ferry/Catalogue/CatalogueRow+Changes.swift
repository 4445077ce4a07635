import FerryEngine
import FerryCore

extension CatalogueRow {
    /// Sets a field, and the fields that depend on it.
    mutating func set(_ field: RowField) {
        switch field {
        case .state(let new):
            state = new
            pauseReason = nil
            waitError = nil
            guard !new.isFinal else { return }
            endedAt = nil
            finished = nil
        case .paused(let reason):
            set(.state(.paused))
            pauseReason = reason
        case .waiting(let reason, let error):
            set(.state(.waiting(reason)))
            waitError = error
        case .name(let new, let newPath):
            name = new
            path = newPath
        case .progress(let completed, let total):
            completedBytes = completed
            totalBytes = total
        case .request(let new, let has):
            request = new
            hasSecrets = has
        case .label(let new): label = new
        case .userInfo(let new): userInfo = new
        case .attempts(let count, let date):
            attempts = count
            retryAt = date
        case .part(let new): part = new
        case .announced(let new): announced = new
        case .published(let new): published = new
        case .file(let new, let file):
            finished = new
            published = file
            announced = nil
            take(pathOf: new)
        }
    }

    /// Applies the end of a run.
    mutating func end(_ ending: Ending) {
        state = ending.state
        pauseReason = nil
        waitError = nil
        endedAt = ending.date
        finished = nil
        announced = nil
        retryAt = nil
        switch ending.outcome {
        case .completed(let new, let file):
            finished = new
            published = file
            if !ending.leavesJournal { part = nil }
            attempts = 0
            completedBytes = new.totalBytes
            totalBytes = new.totalBytes
            take(pathOf: new)
        case .cancelled:
            part = nil
            attempts = 0
        case .failed: break
        }
    }

    private mutating func take(pathOf file: FinishedDownload) {
        guard !file.path.isEmpty else { return }
        path = file.path
        name = Paths.name(of: file.path)
    }
}
