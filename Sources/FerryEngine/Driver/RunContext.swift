package import FerryCore

/// The manager's information about a download beyond its request, for one run.
package struct RunContext: Sendable {
    /// The part file, journal or final path of an earlier run. Ignored unless its journal has this download's id.
    package var partPath: String?
    /// The value of ``DownloadDriver/retries`` after the last run.
    package var retries: RetryMemory?
    /// The list attributes for the journal; `nil` keeps the current ones.
    package var tags: JournalTags?
    /// Returns whether an id belongs to another download; its journals are not resumed.
    package var belongsToAnother: (@Sendable (String) -> Bool)?
    /// Whether to fetch the file again even if a finished file exists; the conflict rule then applies. Default false.
    package var ignoresFinished = false
    /// The file that an earlier run of this download published. If unchanged, it is replaced once the new file is complete, and
    /// the new file gets its name. Default none.
    package var replaces: PublishedFile?
    /// The observer of publishing.
    package var observer: (any PublishObserving)?
    /// A rate limit shared with some other downloads, in addition to the download's own limit and the global one.
    package var throttle: Throttle?
    /// The first request and its response, if they were exchanged before the run.
    package var first: FirstExchange?

    package init(
        partPath: String? = nil, retries: RetryMemory? = nil, tags: JournalTags? = nil,
        belongsToAnother: (@Sendable (String) -> Bool)? = nil, ignoresFinished: Bool = false,
        observer: (any PublishObserving)? = nil
    ) {
        self.partPath = partPath
        self.retries = retries
        self.tags = tags
        self.belongsToAnother = belongsToAnother
        self.ignoresFinished = ignoresFinished
        self.observer = observer
    }
}

extension RunContext {
    /// Reports to the observer that the file has its final name.
    func tellPublished(_ finished: FinishedDownload, _ files: FileIO) async throws(DownloadError) {
        guard let observer else { return }
        let file = try await files.run { disk throws(DownloadError) in
            try PublishedFile.read(finished.path, fileSystem: disk.fileSystem)
        }
        guard let file else { throw DownloadError(.disk, ErrorPhrase(.removedAtOnce, finished.path)) }
        try await observer.didPublish(finished, file)
    }
}

/// Observes publishing, so that a catalogue knows every published file, even after a crash at any time.
///
/// For a small file: `willPublish`, the file gets its name, `didPublish`. For any other file: the file gets its name,
/// `didPublish`, its journal is removed.
package protocol PublishObserving: Sendable {
    /// Announces that a small file is complete, synced, and about to get this name; called again for the next
    /// candidate if the name was taken.
    ///
    /// The implementation must make the announcement durable before it returns; if it throws, the file is not
    /// published. After a crash ``DownloadDriver/recoverAnnounced(_:syncs:fileSystem:)`` returns whether the file got
    /// its name.
    func willPublish(_ file: PublishedFile) async throws(DownloadError)

    /// Reports that the file has its final name, durably. If it throws, the run fails with the error and the journal
    /// stays; the next run finds the published file and calls this again.
    func didPublish(_ finished: FinishedDownload, _ file: PublishedFile) async throws(DownloadError)
}
