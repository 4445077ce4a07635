import Synchronization

/// The addresses that a daemon listens on.
package struct Addresses: Sendable, Hashable {
    package var socket: String
    /// The loopback port; `nil` if loopback is off.
    package var port: Int?
    /// The loopback port of each door, by its name.
    package var doors: [String: Int] = [:]
    /// The TCP addresses of the page with their port: `127.0.0.1:3377`, `[::1]:3377`.
    package var hosts: [String] = []
}

/// Collects the addresses of the listeners, and resumes waiting tasks once all are bound.
package final class AddressCache: Sendable {
    fileprivate struct State {
        var missing = 0
        var socket: String?
        var port: Int?
        var doors: [String: Int] = [:]
        var hosts: [String] = []
        var isClosed = false
        var waiting: [CheckedContinuation<Addresses?, Never>] = []
        var asking: [CheckedContinuation<Int?, Never>] = []
    }
    private let state = Mutex(State())

    /// The loopback port; `nil` if loopback is off or not bound yet.
    var port: Int? { state.withLock { $0.port } }

    /// Sets the number of listeners to wait for.
    func expect(_ count: Int) { state.withLock { $0.missing = count } }

    /// Records the addresses to which a listener is bound.
    ///
    /// - Parameter door: The name of a door and its port.
    func bound(
        socket: String? = nil, port: Int? = nil, host: String? = nil, door: (name: String, port: Int)? = nil
    ) {
        let (answer, waiting, asking) = state.withLock { state in
            if let socket { state.socket = socket }
            if let port { state.port = port }
            if let door { state.doors[door.name] = door.port }
            if let host { state.hosts.append(host) }
            state.missing -= 1
            let asking = state.port == nil ? [] : state.asking
            if state.port != nil { state.asking = [] }
            guard state.missing <= 0 else {
                return (Addresses?.none, [CheckedContinuation<Addresses?, Never>](), asking)
            }
            defer { state.waiting = [] }
            return (state.addresses, state.waiting, asking)
        }
        for one in asking { one.resume(returning: port) }
        for one in waiting { one.resume(returning: answer) }
    }

    /// Resumes all waiting tasks with `nil`, because the daemon has ended.
    func close() {
        let (waiting, asking) = state.withLock { state in
            state.isClosed = true
            defer {
                state.waiting = []
                state.asking = []
            }
            return (state.waiting, state.asking)
        }
        for one in waiting { one.resume(returning: nil) }
        for one in asking { one.resume(returning: nil) }
    }

    func wait() async -> Addresses? {
        await withCheckedContinuation { continuation in
            let answer: Addresses?? = state.withLock { state in
                if state.isClosed { return .some(nil) }
                if state.missing <= 0, state.socket != nil { return .some(state.addresses) }
                state.waiting.append(continuation)
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Returns the loopback port once the first TCP listener is bound; `nil` if the daemon ends first.
    func port() async -> Int? {
        await withCheckedContinuation { continuation in
            let answer: Int?? = state.withLock { state in
                if let port = state.port { return .some(port) }
                if state.isClosed { return .some(nil) }
                state.asking.append(continuation)
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }
}

extension AddressCache.State {
    fileprivate var addresses: Addresses? {
        socket.map {
            Addresses(socket: $0, port: port, doors: doors, hosts: hosts.sorted())
        }
    }
}
