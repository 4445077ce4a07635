package import FerryCore

/// A file of a directory that a sync stores as an object.
package struct SetUpload: Sendable, Hashable {
    /// The path below the directory, and the key below the prefix.
    package var path: String { entry.path }
    /// The size of the file in bytes when it was listed.
    package var totalBytes: ByteCount { entry.totalBytes ?? 0 }
    let entry: SetEntry
    /// The object to create, and the conditions for replacing an existing one.
    let request: DownloadRequest
    /// The digest of the stored object, if the modification time of the file has changed since.
    let recorded: Checksum?

    init(_ entry: SetEntry, _ request: DownloadRequest, recorded: Checksum?) {
        (self.entry, self.request, self.recorded) = (entry, request, recorded)
    }
}

/// An event that occurs while a file of a directory is being stored.
package enum SetUploadEvent: Sendable {
    case begun
    /// This number of further bytes was sent. Bytes that are sent again are counted again.
    case sent(ByteCount)
    case note(Reason)
    case stored(FinishedDownload)
    case failed(DownloadError)
}

extension SetSync {
    /// Stores the files of a directory that are new or have changed, as many at a time as the manager runs downloads, and
    /// records the failures. No further uploads are started after the task is cancelled. Returns when all started uploads have
    /// ended.
    public func upload() async { await upload { _, _ in } }

    /// Like ``upload()``, but reports events.
    ///
    /// - Parameter happened: Called from any thread; must not block.
    package func upload(_ happened: @escaping @Sendable (SetUpload, SetUploadEvent) -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            var rest = uploads[...]
            func start() {
                guard !Task.isCancelled, let upload = rest.popFirst() else { return }
                group.addTask {
                    happened(upload, .begun)
                    do throws(DownloadError) {
                        let file = try await self.store(
                            upload, sent: { happened(upload, .sent($0)) }, report: { happened(upload, .note($0)) })
                        happened(upload, .stored(file))
                    } catch { happened(upload, .failed(error)) }
                }
            }
            for _ in 0..<parallelUploads { start() }
            for await _ in group { start() }
        }
    }
}
