package import FerryCore

/// What a library's handle shows beside a ``ListedDownload``; in answers for clients that send ``FerryAPI/handlesHeader``,
/// and in `state` events.
package struct HandleBody: Codable, Sendable, Hashable {
    /// Grows with every change of the download, over all downloads of one life of the daemon: of two answers about a
    /// download the one with the larger revision is the newer one.
    package var revision: UInt64
    /// How it ended well; `nil` when it has not.
    package var finished: FinishedDownload?
    /// What was asked for, with the changes since, without secrets; `nil` for what goes to a stream.
    package var request: NewDownload?

    package init(revision: UInt64, finished: FinishedDownload?, request: NewDownload?) {
        self.revision = revision
        self.finished = finished
        self.request = request
    }
}
