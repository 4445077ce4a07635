package import FerryCore

/// The state of a library's `Download` handle beyond ``ListedDownload``; in responses for clients that send
/// ``FerryAPI/handlesHeader``, and in `state` events.
package struct HandleBody: Codable, Sendable, Hashable {
    /// Increases with every change of any download within one boot of the daemon; of two responses about a download,
    /// the one with the larger revision is newer.
    package var revision: UInt64
    /// The result of a completed download; `nil` in all other states.
    package var finished: FinishedDownload?
    /// The request with all later changes, without secrets; `nil` when the destination is a stream.
    package var request: DownloadRequest?

    package init(revision: UInt64, finished: FinishedDownload?, request: DownloadRequest?) {
        self.revision = revision
        self.finished = finished
        self.request = request
    }
}
