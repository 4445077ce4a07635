import DequeModule
import FerryCore
import FerryEngine
import Synchronization

/// Resolves names to determine whether they are local, a few at a time on threads of its own, and caches the results until the
/// network changes.
final class LocalNames: Sendable {
    /// Resolves a name; may block.
    typealias Lookup = @Sendable (String) -> NameMemory.Answer

    /// A name to resolve in one network.
    private struct Question: Hashable {
        var name: String
        var network: Int
    }
    private struct State {
        var snapshot: NetworkSnapshot?
        /// The number of snapshots seen.
        var network = 0
        var answers: [String: Bool] = [:]
        /// The callers that wait for a lookup, by the number of the caller. A question is present while its lookup is queued or
        /// running.
        var waiting: [Question: [Int: CheckedContinuation<Bool, Never>]] = [:]
        var questions: [Int: Question] = [:]
        var last = 0
        /// The questions that no thread has begun to resolve. `threads` is the number of threads that are resolving other
        /// questions.
        var queued: Deque<(question: Question, snapshot: NetworkSnapshot)> = []
        var threads = 0
    }
    /// Several threads, because a resolver without reachable servers takes many seconds for each name.
    private static let mostThreads = 4

    private let state = Mutex(State())
    private let lookUp: Lookup

    init(_ lookUp: @escaping Lookup = LocalNames.system) { self.lookUp = lookUp }

    /// The system's resolver.
    static let system: Lookup = { HostLookup.lookUp($0) }

    private enum Step {
        case answer(Bool)
        case startThread
        case wait
    }

    /// Whether an address of the name is local in this network. A name without an address counts as local if the machine has a
    /// network, so that its download begins and fails normally. Returns false at once if the task is cancelled, even while the
    /// resolver blocks.
    func isLocal(_ name: String, in snapshot: NetworkSnapshot) async -> Bool {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let step: Step = state.withLock { state in
                    if state.snapshot != snapshot {
                        state.snapshot = snapshot
                        state.network += 1
                        state.answers = [:]
                    }
                    if let answer = state.answers[name] { return .answer(answer) }
                    if Task.isCancelled { return .answer(false) }
                    let question = Question(name: name, network: state.network)
                    let isFirst = state.waiting[question] == nil
                    state.waiting[question, default: [:]][id] = continuation
                    state.questions[id] = question
                    guard isFirst else { return .wait }
                    state.queued.append((question, snapshot))
                    guard state.threads < Self.mostThreads else { return .wait }
                    state.threads += 1
                    return .startThread
                }
                switch step {
                case .answer(let isLocal): continuation.resume(returning: isLocal)
                case .startThread: onOwnThread("ferry-names", stackSize: 512 << 10) { [self] in resolve() }
                case .wait: break
                }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.questions.removeValue(forKey: id).flatMap { state.waiting[$0]?.removeValue(forKey: id) }
            }
            continuation?.resume(returning: false)
        }
    }

    /// Resolves queued names until none is left.
    private func resolve() {
        while true {
            let next = state.withLock { state in
                let next = state.queued.popFirst()
                if next == nil { state.threads -= 1 }
                return next
            }
            guard let next else { return }
            ask(next.question, in: next.snapshot)
        }
    }

    private func ask(_ question: Question, in snapshot: NetworkSnapshot) {
        let isWanted = state.withLock { state in
            if state.waiting[question]?.isEmpty == false { return true }
            state.waiting[question] = nil
            return false
        }
        guard isWanted else { return }
        let isLocal =
            switch lookUp(question.name) {
            case .addresses(let found):
                found.contains { NetworkAddress(bytes: $0.bytes).map(snapshot.isLocal) ?? false }
            case .missing, .failed: snapshot.hasNetwork
            }
        let waiting = state.withLock { state in
            if state.network == question.network { state.answers[question.name] = isLocal }
            let waiting = state.waiting.removeValue(forKey: question) ?? [:]
            for id in waiting.keys { state.questions[id] = nil }
            return waiting
        }
        for continuation in waiting.values { continuation.resume(returning: isLocal) }
    }
}
