import AsyncHTTPClient
import FerryCore
import HTTPTypes
package import NIOCore

/// The bytes of one response body, for a single consumer.
///
/// Without a consumer the transport reads no more than a buffer or two from the socket. Releasing the body before its
/// end, or cancelling the task that reads it, closes the connection.
package struct TransferBody {
    private var pull: () async throws(TransferFailure) -> ByteBuffer?
    /// Whether the end of the connection ends the body. Then nothing distinguishes a body that was cut short from a whole one.
    package let endsWithConnection: Bool

    /// Creates a body from a function that returns the next bytes, or `nil` at the end and from then on.
    ///
    /// - Parameter endsWithConnection: See ``endsWithConnection``. Default false.
    package init(
        endsWithConnection: Bool = false, _ next: @escaping () async throws(TransferFailure) -> ByteBuffer?
    ) {
        self.endsWithConnection = endsWithConnection
        pull = next
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
        putBack(pieces)
        return verdict == .page
    }

    /// Makes ``next()`` return these pieces again, before the rest of the body.
    mutating func putBack(_ pieces: [ByteBuffer]) {
        var first = pieces[...]
        pull = { [pull] () async throws(TransferFailure) in
            if let piece = first.popFirst() { return piece }
            return try await pull()
        }
    }
}

extension TransferBody {
    /// Creates the body of a response; retains the client.
    init(of answer: WireAnswer, from url: DownloadURL) {
        let reader = BodyReader(answer, peer: TransferFailure.Peer(authority: url.authority))
        self.init(endsWithConnection: answer.framing == .connection) {
            () async throws(TransferFailure) -> ByteBuffer? in try await reader.next()
        }
    }
}

/// Reads the pieces of one body, and distinguishes its end from a cancellation or interruption.
private final class BodyReader {
    private var iterator: HTTPClientResponse.Body.AsyncIterator?
    /// The number of missing bytes, if the length was declared.
    private var missing: Int64?
    private let exchange: HTTPExchange
    /// Whether the body is chunked. The leftover bytes of such a body would have to be parsed.
    private let isChunked: Bool
    private var failure: TransferFailure?
    private let peer: TransferFailure.Peer
    private let client: RouteClient

    init(_ answer: WireAnswer, peer: TransferFailure.Peer) {
        iterator = answer.body.makeAsyncIterator()
        missing = answer.declaredLength
        exchange = answer.exchange
        isChunked = answer.framing == .chunked
        self.peer = peer
        client = answer.client
    }

    func next() async throws(TransferFailure) -> ByteBuffer? {
        if let failure {
            if let rest = leftover() { return rest }
            throw failure
        }
        do {
            while let part = try await iterator?.next(isolation: #isolation) {
                let count = part.readableBytes
                if let left = missing { missing = left - Int64(count) }
                if count > 0 { return part }
            }
        } catch {
            let failure = end(TransferFailure.mapping(error, stage: .body, peer: peer))
            if let rest = leftover() { return rest }
            throw failure
        }
        guard iterator != nil else { return nil }
        iterator = nil
        // The sequence also ends when the task is cancelled; only the declared length distinguishes the two.
        if let missing, missing > 0 {
            throw end(
                Task.isCancelled
                    ? TransferFailure(.cancelled, ErrorPhrase(.stopped))
                    : TransferFailure(.broken, ErrorPhrase(.bodyTooShort, peer.name, "\(missing)")))
        }
        if missing == nil, Task.isCancelled { throw end(TransferFailure(.cancelled, ErrorPhrase(.stopped))) }
        return nil
    }

    /// Returns bytes that arrived before the connection ended, but had not been read in time.
    private func leftover() -> ByteBuffer? {
        guard !isChunked, failure?.kind == .broken, var rest = exchange.takeLeftover(), rest.readableBytes > 0 else {
            return nil
        }
        // Without a length, the end of the connection is the end of the body.
        guard let left = missing else { return rest }
        let count = min(Int64(rest.readableBytes), left)
        missing = left - count
        return count > 0 ? rest.readSlice(length: Int(count)) : nil
    }

    private func end(_ failure: TransferFailure) -> TransferFailure {
        iterator = nil
        let failure = Task.isCancelled ? TransferFailure(.cancelled, ErrorPhrase(.stopped)) : failure
        self.failure = failure
        return failure
    }
}
