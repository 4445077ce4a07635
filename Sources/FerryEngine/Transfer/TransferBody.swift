import FerryCore
package import NIOCore

/// The bytes of one answer, pulled by one consumer.
///
/// Nothing is read from the socket beyond a buffer or two while nobody asks. Dropping the body before its end, or
/// cancelling the task that reads it, closes the connection.
package struct TransferBody {
    private var pull: () async throws(TransferFailure) -> ByteBuffer?

    /// Makes a body of a function that gives the next bytes, and `nil` at the end, from then on.
    package init(_ next: @escaping () async throws(TransferFailure) -> ByteBuffer?) {
        self.pull = next
    }

    /// The next bytes, never empty; `nil` at the end that the server declared.
    package func next() async throws(TransferFailure) -> ByteBuffer? {
        try await pull()
    }

    /// Whether it begins as a web page does. The bytes that were looked at come again from ``next()``.
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
