package import FerryCore

/// The head of the final response, and its unread body.
package struct TransferResponse {
    package var head: ResponseHead
    /// The URL of the response: the last one of the chain.
    package var url: DownloadURL
    /// The URLs that redirects led to, in order; the last one equals ``url``. Empty without redirects.
    package var redirects: [DownloadURL]
    package var body: TransferBody
    /// Whether the request for this response had credentials or an Authorization field of the user.
    package var wasAuthorized = false

    package init(head: ResponseHead, url: DownloadURL, redirects: [DownloadURL] = [], body: TransferBody) {
        self.head = head
        self.url = url
        self.redirects = redirects
        self.body = body
    }
}
