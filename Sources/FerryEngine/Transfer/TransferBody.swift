package import NIOCore

/// The bytes of one answer, pulled by one consumer.
///
/// Nothing is read from the socket beyond a buffer or two while nobody asks. Dropping the body before its end, or
/// cancelling the task that reads it, closes the connection.
package struct TransferBody {
    private let pull: () async throws(TransferFailure) -> ByteBuffer?

    /// Makes a body of a function that gives the next bytes, and `nil` at the end, from then on.
    package init(_ next: @escaping () async throws(TransferFailure) -> ByteBuffer?) {
        self.pull = next
    }

    /// The next bytes, never empty; `nil` at the end that the server declared.
    package func next() async throws(TransferFailure) -> ByteBuffer? {
        try await pull()
    }
}
