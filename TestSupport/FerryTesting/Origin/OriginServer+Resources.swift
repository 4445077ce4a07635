import NIOCore
import Synchronization

extension OriginServer {
    /// Returns `http://127.0.0.1:PORT/path`, or `https://localhost:PORT/path` with TLS.
    public func url(_ path: String, host: String? = nil) -> String {
        let isTLS = configuration.certificate != nil
        let address = configuration.addresses.first ?? "127.0.0.1"
        let name = host ?? (isTLS ? "localhost" : address.contains(":") ? "[\(address)]" : address)
        return "\(isTLS ? "https" : "http")://\(name):\(port)\(path)"
    }

    /// Serves a file at a path, percent-encoded as in requests. A path with a query matches only that exact target.
    public func serve(_ path: String, _ resource: Resource) {
        state.change { $0.resources[path] = resource }
    }

    /// Changes the file at a path. Responses in progress keep their version.
    public func update(_ path: String, _ change: (inout Resource) -> Void) {
        state.change { inner in
            guard var resource = inner.resources[path] else { return }
            change(&resource)
            inner.resources[path] = resource
        }
    }

    /// Returns the current file at a path.
    public func resource(_ path: String) -> Resource? { state.inner.withLock { $0.resources[path] } }

    /// Removes a path (404).
    public func remove(_ path: String) {
        state.change { inner in
            inner.resources[path] = nil
            inner.routes[path] = nil
            inner.scripts[path] = nil
        }
    }

    /// Answers a path with a closure; behaviours still apply.
    public func route(_ path: String, _ route: @escaping Route) {
        state.change { $0.routes[path] = route }
    }

    /// Sets the behaviours of the next requests for a path, one each, and of all later ones. Replaces an earlier
    /// script.
    public func script(_ path: String, _ behaviours: [Behaviour], then: Behaviour = .honest) {
        state.change { $0.scripts[path] = OriginState.Script(behaviours: behaviours, then: then) }
    }

    /// Sets the behaviour of all requests for a path.
    public func always(_ path: String, _ behaviour: Behaviour) { script(path, [], then: behaviour) }

    /// Serves a path that redirects to a link which is valid for `hits` requests and then responds with `status` (A36).
    /// Each request for `path` creates a new link `target?token=N`, where `resource` is served.
    public func serveExpiring(
        _ path: String, to target: String, _ resource: Resource, hits: Int, status: Int = 403
    ) {
        serve(target, resource)
        let tokens = TokenBook(hits: hits)
        route(path) { _ in .redirect(to: "\(target)?token=\(tokens.issue())") }
        route(target) { request in
            let token = request.parameters.first { $0.name == "token" }.flatMap { Int($0.value) }
            return tokens.use(token) ? nil : .page(status, "<html>this link has expired</html>")
        }
    }

    /// Sets the greetings of the next accepted connections, one each; later ones are served.
    public func greet(_ greetings: [Greeting]) { state.change { $0.greetings += greetings } }

    /// Limits the rate of content on each connection, in bytes per second; nil for no limit.
    public func setConnectionRate(_ bytesPerSecond: Int64?) { state.change { $0.connectionRate = bytesPerSecond } }

    /// Limits the rate of content on all connections together, in bytes per second; nil for no limit.
    public func setServerRate(_ bytesPerSecond: Int64?) {
        let now = NIODeadline.now().uptimeNanoseconds
        state.change { inner in
            inner.serverRate = bytesPerSecond
            inner.serverLimiter = bytesPerSecond.map { RateLimiter(bytesPerSecond: $0, now: now) }
        }
    }

    // MARK: Traffic

    /// The traffic so far.
    public var traffic: Traffic { state.inner.withLock { $0.traffic } }

    /// All requests so far, in the order of arrival.
    public var requests: [Traffic.Request] { traffic.requests }

    /// Returns the number of content bytes sent for a path, or for all paths if `path` is nil.
    public func bodyBytes(_ path: String? = nil) -> Int64 {
        state.inner.withLock { inner in
            path.map { inner.traffic.bodyBytesByPath[$0] ?? 0 } ?? inner.traffic.bodyBytes
        }
    }

    /// Waits until the traffic meets a condition, which must not call the server. Returns the traffic at that time, or when
    /// the server is shut down. Throws if the task is cancelled.
    @discardableResult
    public func waitFor(_ condition: @escaping @Sendable (Traffic) -> Bool) async throws -> Traffic {
        let key = state.change { inner in
            inner.nextWaiter += 1
            return inner.nextWaiter
        }
        let traffic = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.change { inner -> Traffic? in
                    if inner.isClosed || Task.isCancelled || condition(inner.traffic) { return inner.traffic }
                    inner.waiters[key] = OriginState.Waiter(condition: condition, continuation: continuation)
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let waiter = state.change { $0.waiters.removeValue(forKey: key) }
            waiter?.continuation.resume(returning: Traffic())
        }
        try Task.checkCancellation()
        return traffic
    }
}
