import Ferry
import FerryCore
import Synchronization

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// Files that are named by their content: `--dedup`.
extension GetRun {
    /// The store of a request's file, and the name of the file there by its digest; `nil` for a file that has a name.
    private func place(
        of request: DownloadRequest
    ) -> (store: ContentStore, name: @Sendable (String) throws(DownloadError) -> String)? {
        guard let names = plan.contentNames, let url = request.sources.first,
            case .directory(let directory, _) = request.destination
        else { return nil }
        var store = ContentStore(directory: OwnProgram.plain(directory))
        store.syncs = request.syncsToDisk
        return (
            store,
            { digest throws(DownloadError) in
                do throws(UsageError) { return try names.path(for: url, content: digest) } catch {
                    throw DownloadError(error.code, error.reason, recovery: .needsUser)
                }
            }
        )
    }

    /// The request as it is submitted: the file of one that is named by its content is kept apart until it is complete.
    func submitted(_ request: DownloadRequest) -> DownloadRequest {
        place(of: request)?.store.staged(request) ?? request
    }

    /// Ends a request whose content is there already, by the digest that the list gives. Returns false if it is not.
    func isStored(_ request: DownloadRequest, _ subject: ResultSubject?) async -> Bool {
        guard let (store, name) = place(of: request), let file = await store.file(with: request.checksum, name) else {
            return false
        }
        let event = DownloadEvent(id: .make(), date: Date(), kind: .completed(file))
        ledger.withLock { $0.countFinished(file) }
        await record(ContentStore.Stored(file), subject, attempts: nil, date: event.date)
        reporter.completed(file, event: event, name: Paths.name(of: file.path), elapsed: .zero, isOneOfFew: false)
        return true
    }

    /// Gives the completed file of an entry the name of its content.
    func stored(_ file: FinishedDownload, _ entry: Entry) async throws(DownloadError) -> ContentStore.Stored {
        guard let (store, name) = place(of: entry.request) else {
            return ContentStore.Stored(file)
        }
        return try await store.store(file, name)
    }
}
