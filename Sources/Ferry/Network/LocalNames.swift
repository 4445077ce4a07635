import Foundation
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Looks names up to find whether they are local, a few at a time on threads of its own, and remembers the answers for
/// as long as the network stays the same.
final class LocalNames: Sendable {
    /// The addresses of a name; it may block.
    typealias Lookup = @Sendable (String) -> [NetworkAddress]

    private struct State {
        var snapshot: NetworkSnapshot?
        var answers: [String: Bool] = [:]
        var waiting: [String: [CheckedContinuation<Bool, Never>]] = [:]
    }
    private let state = Mutex(State())
    private let queue: OperationQueue
    private let lookUp: Lookup

    init(_ lookUp: @escaping Lookup = LocalNames.system) {
        self.lookUp = lookUp
        queue = OperationQueue()
        queue.name = "ferry-names"
        // A resolver that cannot reach its servers takes many seconds for each name.
        queue.maxConcurrentOperationCount = 4
    }

    /// Whether one of the addresses of a name is local in this network; false when it has none.
    func isLocal(_ name: String, in snapshot: NetworkSnapshot) async -> Bool {
        await withCheckedContinuation { continuation in
            let (answer, isFirst): (Bool?, Bool) = state.withLock { state in
                if state.snapshot != snapshot {
                    state.snapshot = snapshot
                    state.answers = [:]
                }
                if let answer = state.answers[name] { return (answer, false) }
                state.waiting[name, default: []].append(continuation)
                return (nil, state.waiting[name]?.count == 1)
            }
            if let answer { return continuation.resume(returning: answer) }
            guard isFirst else { return }
            queue.addOperation { [self] in
                let isLocal = lookUp(name).contains { snapshot.isLocal($0) }
                settle(name, isLocal, in: snapshot)
            }
        }
    }

    private func settle(_ name: String, _ isLocal: Bool, in snapshot: NetworkSnapshot) {
        let waiting = state.withLock { state in
            if state.snapshot == snapshot { state.answers[name] = isLocal }
            return state.waiting.removeValue(forKey: name) ?? []
        }
        for continuation in waiting { continuation.resume(returning: isLocal) }
    }

    /// Asks the system's resolver.
    static let system: Lookup = { name in
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, nil, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [NetworkAddress] = []
        var next = list
        while let entry = next {
            if let address = entry.pointee.ai_addr.flatMap({ NetworkAddress($0) }) { addresses.append(address) }
            next = entry.pointee.ai_next
        }
        return addresses
    }
}
