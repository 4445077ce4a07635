package import FerryCore

/// Observes publishing, so that a catalogue knows every published file whenever a crash occurs.
///
/// Small files: `willPublish`, name, `didPublish`. Others: name, `didPublish`, then removal of the journal.
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
