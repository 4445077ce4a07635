import Foundation
import NIOCore
import Synchronization

/// The state shared by all connections of a server, behind one lock.
final class OriginState: Sendable {
    struct Inner {
        var resources: [String: Resource] = [:]
        var routes: [String: OriginServer.Route] = [:]
        var scripts: [String: Script] = [:]
        var hits: [String: Int] = [:]
        var connectionRate: Int64?
        var serverRate: Int64?
        var serverLimiter: RateLimiter?
        var limit: ConnectionLimit?
        var keepsAlive = true
        var latency: Duration?
        var greetings: [Greeting] = []
        var fallback: OriginServer.Route?

        var traffic = Traffic()
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
        var channels: [Int: any Channel] = [:]
        var served: Set<Int> = []
        var queue: [(connection: Int, resume: @Sendable () -> Void)] = []
        /// The last value of `setListening`.
        var isListening = true
        var isClosed = false
    }

    /// The behaviours of the first requests for a path, then of all others.
    struct Script {
        var behaviours: [Behaviour]
        var then: Behaviour
        var used = 0
    }

    /// A task waiting for traffic.
    struct Waiter {
        let condition: @Sendable (Traffic) -> Bool
        let continuation: CheckedContinuation<Traffic, Never>
    }

    let inner: Mutex<Inner>
    /// Called when the listener may have to be opened or closed, for `.refuse`. The hook evaluates `wantsListening` later.
    let listen: Mutex<(@Sendable () -> Void)?> = Mutex(nil)

    init(_ inner: sending Inner) { self.inner = Mutex(inner) }

    /// Changes the state and resumes waiters whose condition is now met.
    func change<T: Sendable>(_ body: (inout Inner) -> T) -> T {
        let (result, ready, traffic) = inner.withLock { inner in
            let result = body(&inner)
            guard !inner.waiters.isEmpty else { return (result, [Waiter](), Traffic?.none) }
            let met = inner.waiters.filter { inner.isClosed || $0.value.condition(inner.traffic) }
            for key in met.keys { inner.waiters[key] = nil }
            return (result, Array(met.values), met.isEmpty ? nil : inner.traffic)
        }
        if let traffic { for waiter in ready { waiter.continuation.resume(returning: traffic) } }
        return result
    }

    // MARK: Connections

    /// Counts an accepted connection. Returns its greeting.
    func accepted(_ channel: any Channel) -> (connection: Int, greeting: Greeting) {
        change { inner -> (Int, Greeting) in
            let connection = inner.traffic.acceptedConnections
            inner.traffic.acceptedConnections += 1
            inner.traffic.openConnections += 1
            inner.traffic.peakConnections = max(inner.traffic.peakConnections, inner.traffic.openConnections)
            inner.channels[connection] = channel
            if !inner.greetings.isEmpty {
                let greeting = inner.greetings.removeFirst()
                if greeting != .serve { return (connection, greeting) }
            }
            guard let limit = inner.limit else { return (connection, .serve) }
            let isFull = inner.served.count >= limit.count
            switch limit.excess {
            case .status, .document, .unsatisfied, .wait: return (connection, .serve)
            case .hang where isFull: return (connection, .silence)
            case .close where isFull: return (connection, .close)
            case .reset where isFull, .refuse where isFull: return (connection, .reset)
            case .hang, .close, .reset, .refuse:
                inner.served.insert(connection)
                return (connection, .serve)
            }
        }
    }

    /// Called when the connection is active. Closing the listener earlier would also close a connection that is not fully
    /// accepted.
    func active() { listen.withLock { $0 }?() }

    /// Whether the listener should be open.
    var wantsListening: Bool {
        inner.withLock { inner in
            guard inner.isListening, !inner.isClosed else { return false }
            guard let limit = inner.limit, limit.excess == .refuse else { return true }
            return inner.served.count < limit.count
        }
    }

    func closed(_ connection: Int) {
        let next = change { inner -> (@Sendable () -> Void)? in
            guard inner.channels.removeValue(forKey: connection) != nil else { return nil }
            inner.traffic.openConnections -= 1
            inner.queue.removeAll { $0.connection == connection }
            guard inner.served.remove(connection) != nil, let limit = inner.limit, limit.excess == .wait,
                inner.served.count < limit.count, !inner.queue.isEmpty
            else { return nil }
            let next = inner.queue.removeFirst()
            inner.served.insert(next.connection)
            return next.resume
        }
        next?()
        listen.withLock { $0 }?()
    }

    /// Whether a connection may be served now; otherwise `resume` is called later.
    func admit(_ connection: Int, resume: @escaping @Sendable () -> Void) -> Bool {
        change { inner in
            guard let limit = inner.limit, limit.excess == .wait, !inner.served.contains(connection) else {
                return true
            }
            if inner.served.count < limit.count {
                inner.served.insert(connection)
                return true
            }
            inner.queue.append((connection, resume))
            return false
        }
    }

    // MARK: Requests

    /// Determines and counts the response to a request.
    func answer(_ request: RequestHead, connection: Int) -> (answer: Answer, number: Int) {
        let plan = change { inner in inner.plan(for: request) }
        var answer = plan.resource.map { Answer.honest(request, $0) } ?? .page(404, "<html>not here</html>")
        if let routed = plan.route?(request) { answer = routed }
        plan.behaviour?.change(&answer, request, plan.resource ?? Resource(size: 0))
        let (number, latency, keepsAlive) = change { inner -> (Int, Duration?, Bool) in
            if let limit = inner.limit, limit.excess.countsRequests, inner.traffic.activeRequests >= limit.count {
                answer.replace(with: limit.excess)
            }
            let number = inner.traffic.requestCount
            inner.traffic.requestCount += 1
            inner.traffic.activeRequests += 1
            inner.traffic.peakRequests = max(inner.traffic.peakRequests, inner.traffic.activeRequests)
            if number < Traffic.recordLimit {
                inner.traffic.requests.append(
                    Traffic.Request(number: number, connection: connection, head: request, status: answer.status))
            }
            return (number, inner.latency, inner.keepsAlive)
        }
        if request.method == "HEAD" { answer.body = [] }
        if let latency { answer.before.insert(.delay(latency), at: 0) }
        if answer.ending == .keepAlive, !keepsAlive || request.wantsClose {
            answer.fields["Connection"] = "close"
            answer.ending = .close
        }
        return (answer, number)
    }

    /// Counts sent content.
    func sent(_ count: Int, number: Int, path: String) {
        change { inner in
            inner.traffic.bodyBytes += Int64(count)
            inner.traffic.bodyBytesByPath[path, default: 0] += Int64(count)
            if number < inner.traffic.requests.count { inner.traffic.requests[number].bodyBytes += Int64(count) }
        }
    }

    /// Counts the end of a response.
    func ended(_ number: Int, isFinished: Bool) {
        change { inner in
            inner.traffic.activeRequests -= 1
            if number < inner.traffic.requests.count { inner.traffic.requests[number].isFinished = isFinished }
        }
    }

    /// Takes bytes from the server's rate limit. Returns how many may be sent, or the delay in nanoseconds before the next
    /// attempt.
    func takeServerRate(_ wanted: Int, now: UInt64) -> (granted: Int, delay: Int64) {
        inner.withLock { inner in
            guard inner.serverLimiter != nil else { return (wanted, 0) }
            let granted = inner.serverLimiter?.take(wanted, now: now) ?? wanted
            return (granted, granted > 0 ? 0 : inner.serverLimiter?.delay(wanted) ?? 0)
        }
    }
}

extension OriginState.Inner {
    /// Returns the resource, route and behaviour for this request, and counts it.
    mutating func plan(
        for request: RequestHead
    ) -> (resource: Resource?, route: OriginServer.Route?, behaviour: Behaviour?) {
        let path = request.path
        hits[path, default: 0] += 1
        var behaviour: Behaviour?
        if var script = scripts[path] {
            behaviour = script.used < script.behaviours.count ? script.behaviours[script.used] : script.then
            script.used += 1
            scripts[path] = script
        }
        let resource = resources[request.target] ?? resources[path]
        let route = routes[path] ?? (resource == nil ? fallback : nil)
        return (resource, route, behaviour)
    }
}
