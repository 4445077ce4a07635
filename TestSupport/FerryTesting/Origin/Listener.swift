import NIOCore
import NIOPosix
import Synchronization

/// The listening sockets of a server, which can be closed and reopened on the same port. Changes are serialized.
final class Listener: Sendable {
    private struct State {
        var channels: [any Channel] = []
        var port: Int
        var last: EventLoopFuture<Void>
        /// Reserves the port while the sockets are closed.
        var held: ClosedPort?
    }

    private let state: Mutex<State>
    private let addresses: [String]
    private let makeBootstrap: @Sendable () -> ServerBootstrap

    init(
        group: any EventLoopGroup, addresses: [String], port: Int,
        makeBootstrap: @escaping @Sendable () -> ServerBootstrap
    ) {
        self.addresses = addresses
        self.makeBootstrap = makeBootstrap
        state = Mutex(State(port: port, last: group.next().makeSucceededVoidFuture()))
    }

    var port: Int { state.withLock { $0.port } }

    /// Opens or closes the sockets after all earlier changes; `isOpen` is evaluated then.
    @discardableResult
    func set(open isOpen: @escaping @Sendable () -> Bool) -> EventLoopFuture<Void> {
        let (previous, promise) = state.withLock { state in
            let promise = state.last.eventLoop.makePromise(of: Void.self)
            defer { state.last = promise.futureResult }
            return (state.last, promise)
        }
        // Outside the lock, because the closure runs immediately on its own event loop.
        previous.whenComplete { _ in
            (isOpen() ? self.open(self.addresses[...]) : self.close()).cascade(to: promise)
        }
        return promise.futureResult
    }

    /// Opens or closes the sockets after all earlier changes.
    @discardableResult
    func set(open isOpen: Bool) -> EventLoopFuture<Void> { set(open: { isOpen }) }

    private func open(_ addresses: ArraySlice<String>) -> EventLoopFuture<Void> {
        let (loop, count, port) = state.withLock { state in
            state.held = nil
            return (state.last.eventLoop, state.channels.count, state.port)
        }
        guard count < self.addresses.count, let address = addresses.first else { return loop.makeSucceededVoidFuture() }
        return makeBootstrap().bind(host: address, port: port).hop(to: loop).flatMap { channel in
            self.state.withLock { state in
                state.channels.append(channel)
                state.port = channel.localAddress?.port ?? state.port
            }
            return self.open(addresses.dropFirst())
        }
    }

    private func close() -> EventLoopFuture<Void> {
        let (loop, channels) = state.withLock { state in
            defer { state.channels = [] }
            return (state.last.eventLoop, state.channels)
        }
        return EventLoopFuture.andAllComplete(channels.map { $0.close() }, on: loop).map {
            self.state.withLock { $0.held = try? ClosedPort($0.port) }
        }
    }
}
