package import FerryCore

/// Is told when a file gets its final name, so that a catalogue knows of every published file, wherever a crash falls.
///
/// Small files: `willPublish`, name, `didPublish`. Others: name, `didPublish`, and only then the journal goes.
package protocol PublishObserving: Sendable {
    /// A small file is whole, synced, and about to get this name; called again when the name was taken meanwhile.
    ///
    /// It gets the name once this has returned, which must make the announcement durable; when it throws, the file is
    /// not published. What became of it after a crash is asked with ``DownloadDriver/recoverAnnounced(_:syncs:fileSystem:)``.
    func willPublish(_ file: PublishedFile) async throws(DownloadError)

    /// The file has its name, durably. When this throws, the run fails with that, and the journal stays: the next run
    /// finds it published, and calls this again.
    func didPublish(_ finished: FinishedDownload, _ file: PublishedFile) async throws(DownloadError)
}
