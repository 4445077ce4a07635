public import FerryCore

extension DownloadManager {
    /// Makes a directory or the prefix of a bucket a copy of a set of files. Returns when every download has ended.
    ///
    /// Files that are complete and current are not fetched again. A run that was stopped or killed is continued by the
    /// next one.
    ///
    /// - Throws: An error that prevents the whole run. Files that fail are listed in the report.
    public func sync(
        _ source: SetSource, into destination: SyncDestination, options: SyncOptions = SyncOptions()
    ) async throws(DownloadError) -> SyncReport {
        let sync = try await SetSync(of: source, into: destination, options: options, manager: self)
        await sync.fetch { request throws(DownloadError) in
            let download = try await self.download(request)
            let file = try await download.finished()
            await sync.completed(file)
            try? await download.remove()
        }
        await sync.upload()
        return try await sync.finish()
    }

    /// Like ``sync(_:into:options:)-(_,SyncDestination,_)``, but for a local directory.
    public func sync(
        _ source: SetSource, into directory: String, options: SyncOptions = SyncOptions()
    ) async throws(DownloadError) -> SyncReport {
        try await sync(source, into: .directory(directory), options: options)
    }
}

extension SetSync {
    /// Fetches ``requests`` with `body`, at most ``window`` at a time, and records the failures. No further requests are started
    /// after the task is cancelled. Returns when all started requests have ended.
    package func fetch(
        _ body: @escaping @Sendable (DownloadRequest) async throws(DownloadError) -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            var next = 0
            func start() {
                guard next < requests.count, !Task.isCancelled else { return }
                let request = requests[next]
                next += 1
                group.addTask {
                    guard case .file(let path) = request.destination else { return }
                    do throws(DownloadError) { try await body(request) } catch { self.failed(error, path: path) }
                }
            }
            for _ in 0..<window { start() }
            for await _ in group { start() }
        }
    }
}
