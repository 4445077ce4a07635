import FerryCore
import HTTPTypes
import NIOCore
import Synchronization

/// Compares samples of the partial content with a source.
extension DownloadDriver {
    private enum Comparison {
        case outcome(SamplePlan.Outcome, FileIdentity?)
        case deadLink(Int)
        case failure(ErrorPhrase)
    }

    /// Compares samples to prove that a source serves the same file as the partial content.
    func prove(source: Int, on id: ConnectionID) async {
        let (held, total) = state.withLock { ($0.machine.planner.written, $0.machine.planner.total) }
        let comparison = await compare(held, total: total, source: source)
        state.withLock { state in
            switch comparison {
            case .outcome(let outcome, let offered): state.machine.sampled(outcome, source: source, offered: offered)
            case .deadLink(let status): state.machine.samplingDeadLink(status, source: source)
            // The task was cancelled; the server is not to blame.
            case .failure where Task.isCancelled: break
            case .failure(let reason):
                state.machine.samplingFailed(
                    .phrase(reason), source: source, on: id, at: environment.clock.now(), random: environment.random())
            }
        }
        updates.notify()
    }

    private func compare(_ held: RangeSet<ByteCount>, total: ByteCount?, source: Int) async -> Comparison {
        let blocks = SamplePlan.blocks(of: held) { limit in
            min(limit - 1, ByteCount(environment.random() * Double(limit)))
        }
        var compared: [(isEqual: Bool, isConstant: Bool)] = []
        var offered: FileIdentity?
        for block in blocks {
            let ask = RangeAsk.range(block)
            let fromOriginal = state.withLock { $0.resolved[source] == nil }
            let request = transferRequest(source: source, fields: [.range: ask.field ?? ""], fromOriginal: fromOriginal)
            do throws(TransferFailure) {
                let response = try await environment.transport.fetch(request)
                state.withLock { $0.resolved[source] = response.redirects.isEmpty ? nil : response.url }
                let verdict = ResponseVerdict.judge(response.head, asked: ask, now: environment.clock.date())
                switch verdict {
                case .part(let range, let representation):
                    if let total, let other = representation.identity.totalBytes, total != other {
                        return .outcome(.different, representation.identity)
                    }
                    if let offered, offered.etag != representation.identity.etag { return .outcome(.inconclusive, nil) }
                    offered = representation.identity
                    guard range == block, let mine = storage.read(block) else { return .outcome(.inconclusive, nil) }
                    let theirs = try await collect(response.body, most: mine.count)
                    guard theirs.count == mine.count else { return .outcome(.inconclusive, nil) }
                    compared.append((mine == theirs, mine.allSatisfy { $0 == mine[0] }))
                    if mine != theirs { return .outcome(.different, representation.identity) }
                case .busy(let status, _): return .failure(ErrorPhrase(.serverAnswered, "\(status)"))
                case .deadLink(let status): return .deadLink(status)
                default: return .outcome(.inconclusive, nil)
                }
            } catch {
                return .failure(error.phrase)
            }
        }
        let comparedAll = held.byteCount < SamplePlan.allBelow
        return .outcome(SamplePlan.judge(compared, comparedAll: comparedAll), offered)
    }

    /// Returns the bytes of a short body, at most `most`.
    func collect(_ body: TransferBody, most: Int) async throws(TransferFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(most)
        while let piece = try await body.next() {
            receivedMore(ByteCount(piece.readableBytes))
            bytes.append(contentsOf: piece.readableBytesView.prefix(most - bytes.count))
            if bytes.count >= most, piece.readableBytes > most { break }
        }
        return bytes
    }

    private func receivedMore(_ count: ByteCount) { state.withLock { $0.machine.receivedElsewhere(count) } }
}
