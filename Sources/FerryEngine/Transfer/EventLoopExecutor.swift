package import NIOCore

/// Runs tasks on an event loop, for code that wants to live on the same thread as its connections.
///
/// For decisions and small bodies: what it saves in thread hops it would pay with the disk's waits, during which no other
/// connection of that loop moves. Large bodies run on ``TransferExecutor`` for that reason.
package final class EventLoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    package init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Whether the caller is on its thread.
    var isCurrent: Bool { eventLoop.inEventLoop }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
