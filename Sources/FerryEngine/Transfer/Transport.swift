/// What fetches ranges: a request goes in, a head and a stream of bytes come out.
///
/// ``HTTPTransport`` is the real one; tests put their own in its place.
package protocol Transport: Sendable {
    /// Asks for something, follows redirects, answers challenges, and returns at the head of the final answer.
    ///
    /// Any status can come back; what it means is not decided here. Cancelling the task that fetches gives
    /// ``TransferFailure/Kind/cancelled`` and closes the connection.
    func fetch(_ request: TransferRequest) async throws(TransferFailure) -> sending TransferResponse

    /// Closes every connection; what is being fetched fails. It can be called more than once.
    func shutdown() async

    /// The network is another one: what is under way fails as cancelled, and no connection is used again.
    func renew()

    /// The most bytes to take in at once from now on, so that a rate limit stays even; `nil` for no limit.
    func limitPieces(to bytes: Int?)
}

extension Transport {
    package func renew() {}
    package func limitPieces(to bytes: Int?) {}
}
