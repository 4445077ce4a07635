package import FerryCore

/// The head of the final answer, and its body, not yet read.
package struct TransferResponse {
    package var head: ResponseHead
    /// Where the answer came from: the last URL of the chain.
    package var url: DownloadURL
    /// The URLs that redirects led to, in order; the last one equals ``url``. Empty without redirects.
    package var redirects: [DownloadURL]
    package var body: TransferBody

    package init(head: ResponseHead, url: DownloadURL, redirects: [DownloadURL] = [], body: TransferBody) {
        self.head = head
        self.url = url
        self.redirects = redirects
        self.body = body
    }
}
