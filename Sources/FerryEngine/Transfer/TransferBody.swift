import FerryCore
package import NIOCore

/// The bytes of one response body, for a single consumer.
///
/// Without a consumer the transport reads no more than a buffer or two from the socket. Releasing the body before its
/// end, or cancelling the task that reads it, closes the connection.
package struct TransferBody {
    private var pull: () async throws(TransferFailure) -> ByteBuffer?

    /// Creates a body from a function that returns the next bytes, or `nil` at the end and from then on.
    package init(_ next: @escaping () async throws(TransferFailure) -> ByteBuffer?) {
        self.pull = next
    }

    /// Returns the next bytes, never empty; `nil` at the declared end.
    package func next() async throws(TransferFailure) -> ByteBuffer? {
        try await pull()
    }

    /// Returns whether the body starts like a web page. ``next()`` returns the examined bytes again.
    package mutating func beginsAPage() async throws(TransferFailure) -> Bool {
        var pieces: [ByteBuffer] = []
        var start: [UInt8] = []
        var verdict = PageSniffer.Verdict.undecided
        while verdict == .undecided {
            let piece = try await pull()
            if let piece {
                pieces.append(piece)
                start += piece.readableBytesView.prefix(PageSniffer.mostBytes - start.count)
            }
            verdict = PageSniffer.judge(start, isWhole: piece == nil)
        }
        var first = pieces[...]
        pull = { [pull] () async throws(TransferFailure) in
            if let piece = first.popFirst() { return piece }
            return try await pull()
        }
        return verdict == .page
    }
}
