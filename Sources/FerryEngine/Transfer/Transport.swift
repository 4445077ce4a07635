package import FerryCore
package import HTTPTypes
package import NIOCore

/// Fetches ranges: a request in, a response head and a stream of bytes out.
///
/// ``HTTPTransport`` is the implementation; tests substitute their own.
package protocol Transport: Sendable {
    /// Sends a request, follows redirects, responds to challenges, and returns when the final response head arrives.
    ///
    /// Returns any status without judging it. Cancelling the task throws ``TransferFailure/Kind/cancelled`` and
    /// closes the connection.
    func fetch(_ request: TransferRequest) async throws(TransferFailure) -> sending TransferResponse

    /// Closes every connection; fetches in progress fail. May be called more than once.
    func shutdown() async

    /// Replaces the settings for subsequent requests and connections.
    func use(_ settings: TransferSettings)

    /// Handles a change of the network: fetches in progress fail as cancelled, and no open connection is reused.
    func renew()

    /// Limits the number of bytes received at once from now on, so that a rate limit stays smooth; `nil` for no limit.
    func limitPieces(to bytes: Int?)
}

extension Transport {
    package func renew() {}
    package func use(_ settings: TransferSettings) {}
    package func limitPieces(to bytes: Int?) {}
}

/// Decides when requests to a host may be sent, and is informed of their outcome.
package protocol HostAdmission: Sendable {
    /// Waits until a request to the origin may be sent. Returns the time at which the wait ended. `continues`: whether the
    /// request follows a redirect or responds to a challenge.
    ///
    /// Throws ``TransferFailure/Kind/held(until:)`` if the wait would be long.
    func begin(_ origin: Origin, continues: Bool) async throws(TransferFailure) -> Duration
    /// Reports the arrival of a response head.
    func answered(_ origin: Origin, _ head: ResponseHead)
    /// Reports that a request that was started at `start` has received no response head.
    func failed(_ origin: Origin, _ failure: TransferFailure, since start: Duration)
}

/// One request to a server. The requests of downloads are always GET requests, even for an `s3` URL.
package struct TransferRequest: Sendable {
    package var url: DownloadURL
    /// The method, used for every request of a redirect chain.
    package var method = HTTPRequest.Method.get
    /// The content of the request; `nil` for none.
    package var content: ByteBuffer?
    /// Content that is read while it is sent, instead of ``content``. Only a request for an object may have it.
    package var upload: UploadContent?
    /// Whether redirects are followed; otherwise they are returned like other responses. Default true.
    package var followsRedirects = true
    /// Ferry's own fields (Range, If-Range, If-None-Match…); sent with every request of a redirect chain, before the
    /// user's.
    package var fields: HTTPFields
    /// The user's fields and credentials, limited to the origins that may receive them. The fields override the
    /// defaults, but never ``fields``, the framing, Range, If-Range or Accept-Encoding.
    package var secrets: SecretScope
    /// The time limit of each exchange, from connecting to the end of its response head.
    package var headLimit: Duration
    /// Whether to follow redirects from https to http. Default false.
    package var allowsDowngrade: Bool
    /// The connection rules that differ from the transport's settings.
    package var connection = ConnectionRules()
    /// Whether to connect to private addresses, if the settings allow it too. Default true.
    package var allowsPrivate = true
    /// The maximum number of redirects in one chain.
    package var maxRedirects: Int
    /// Admits each request of the redirect chain; `nil` if no request has to wait.
    package var admission: (any HostAdmission)?
    /// Whether a failure to connect indicates a fault of the host, because the download has no other connection. Default true.
    package var judgesHost = true
    /// Receives the reports that ``TransferSettings/tracesRequests`` enables, on any thread.
    package var trace: (@Sendable (Reason) -> Void)?
    /// Receives the system's information about the connection, about once a second while bytes arrive, on any thread.
    package var observe: (@Sendable (SocketFacts) -> Void)?

    package init(
        url: DownloadURL, fields: HTTPFields = HTTPFields(), secrets: SecretScope,
        headLimit: Duration = DownloadRequest.standardStallTimeout, allowsDowngrade: Bool = false,
        maxRedirects: Int = DownloadRequest.plain.maxRedirects
    ) {
        self.url = url
        self.fields = fields
        self.secrets = secrets
        self.headLimit = headLimit
        self.allowsDowngrade = allowsDowngrade
        self.maxRedirects = maxRedirects
    }

    /// Creates a request with user fields and credentials for the origin of `url`.
    package init(
        url: DownloadURL, fields: HTTPFields = HTTPFields(), userFields: HTTPFields = HTTPFields(),
        credentials: Credentials? = nil, headLimit: Duration = DownloadRequest.standardStallTimeout,
        allowsDowngrade: Bool = false, maxRedirects: Int = DownloadRequest.plain.maxRedirects
    ) {
        let secrets = SecretScope(home: Origin(of: url), headers: userFields, credentials: credentials, source: url)
        self.init(
            url: url, fields: fields, secrets: secrets, headLimit: headLimit, allowsDowngrade: allowsDowngrade,
            maxRedirects: maxRedirects)
    }
}

/// The head of the final response, and its unread body.
package struct TransferResponse {
    package var head: ResponseHead
    /// The URL of the response: the last one of the chain.
    package var url: DownloadURL
    /// The URLs that redirects led to, in order; the last one equals ``url``. Empty without redirects.
    package var redirects: [DownloadURL]
    package var body: TransferBody
    /// Whether the request for this response had credentials or an Authorization field of the user or the manager.
    package var wasAuthorized = false
    /// The mirrors that this response and the redirects before it name.
    package var links = LinkField()

    package init(head: ResponseHead, url: DownloadURL, redirects: [DownloadURL] = [], body: TransferBody) {
        self.head = head
        self.url = url
        self.redirects = redirects
        self.body = body
    }
}
