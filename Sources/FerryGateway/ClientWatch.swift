import FerryServer
import NIOCore

/// Cancels an operation when its client closes the connection or its sending side.
enum ClientWatch {
    /// The client has closed its connection.
    struct Gone: Error {}

    /// Runs an operation. If the client disconnects, cancels the operation and throws ``Gone``.
    ///
    /// A connection can have one operation at a time.
    static func run<Value: Sendable>(
        _ channel: any Channel, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let (ends, end) = AsyncStream<Void>.makeStream()
        // Without the handler, the connection is already closed.
        let isWatched =
            (try? await channel.eventLoop.submit {
                try channel.pipeline.syncOperations.handler(type: Handler.self).watch(end)
            }.get()) != nil
        if !isWatched { end.finish() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                let value = try await operation()
                return value
            }
            group.addTask {
                for await _ in ends {}
                try Task.checkCancellation()
                throw Gone()
            }
            defer { group.cancelAll() }
            while let value = try await group.next() {
                if let value { return value }
            }
            throw CancellationError()
        }
    }

    /// Returns the user of a connection's client; `nil` if the system does not report it.
    static func user(of channel: any Channel) async -> UInt32? {
        let found = try? await channel.eventLoop.submit {
            try channel.pipeline.syncOperations.handler(type: Handler.self).user
        }.get()
        return found ?? nil
    }

    /// A handler in the pipeline of a connection, which records the connection's user, and when the client closes the connection.
    final class Handler: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = Any

        private var isClosed = false
        fileprivate private(set) var user: UInt32?
        private var end: AsyncStream<Void>.Continuation?

        /// Finishes `end` when the client closes the connection. Replaces the continuation of an earlier request.
        func watch(_ end: AsyncStream<Void>.Continuation) {
            self.end = end
            if isClosed { end.finish() }
        }

        private func close() {
            isClosed = true
            end?.finish()
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case ChannelEvent.inputClosed = event { close() }
            if let event = event as? PeerAdmission, let number = event.user { user = number }
            context.fireUserInboundEventTriggered(event)
        }

        func channelInactive(context: ChannelHandlerContext) {
            close()
            context.fireChannelInactive()
        }
    }
}
