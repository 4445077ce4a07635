import AsyncHTTPClient
import FerryCore
import NIOCore

extension TransferBody {
    /// The body of an answer; it keeps the transport alive.
    init(of answer: WireAnswer, from url: DownloadURL, owner: HTTPTransport) {
        let reader = BodyReader(answer, peer: TransferFailure.Peer(authority: url.authority), owner: owner)
        self.init { () async throws(TransferFailure) -> ByteBuffer? in try await reader.next() }
    }
}

/// Pulls the parts of one body, and tells its end from a cancelled or broken one.
private final class BodyReader {
    private var iterator: HTTPClientResponse.Body.AsyncIterator?
    /// What must still come, when the length was declared.
    private var missing: Int64?
    private let hop: HTTPExchange
    /// Chunks would have to be told apart.
    private let hasLength: Bool
    private var failure: TransferFailure?
    private let peer: TransferFailure.Peer
    private let owner: HTTPTransport

    init(_ answer: WireAnswer, peer: TransferFailure.Peer, owner: HTTPTransport) {
        iterator = answer.body.makeAsyncIterator()
        missing = answer.declaredLength
        hop = answer.hop
        hasLength = answer.declaredLength != nil
        self.peer = peer
        self.owner = owner
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
        // A cancelled task sees the end of the sequence, too: only what was declared tells them apart.
        if let missing, missing > 0 {
            throw end(
                Task.isCancelled
                    ? TransferFailure(.cancelled, ErrorPhrase(.stopped))
                    : TransferFailure(.broken, ErrorPhrase(.bodyTooShort, peer.name, "\(missing)")))
        }
        if missing == nil, Task.isCancelled { throw end(TransferFailure(.cancelled, ErrorPhrase(.stopped))) }
        return nil
    }

    /// What had come already when the connection ended, and was not asked for in time (A21).
    private func leftover() -> ByteBuffer? {
        guard hasLength, failure?.kind == .broken, var rest = hop.takeLeftover(), let left = missing else { return nil }
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
