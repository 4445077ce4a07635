package import FerryCore

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

    /// Replaces the settings of the next requests and connections.
    func use(_ settings: TransferSettings)

    /// Handles a change of the network: fetches in progress fail as cancelled, and no open connection is reused.
    func renew()

    /// Limits the bytes received at once from now on, so that a rate limit stays smooth; `nil` for no limit.
    func limitPieces(to bytes: Int?)
}

extension Transport {
    package func renew() {}
    package func use(_ settings: TransferSettings) {}
    package func limitPieces(to bytes: Int?) {}
}
