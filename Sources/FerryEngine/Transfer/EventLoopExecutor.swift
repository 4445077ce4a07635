package import NIOCore

/// Runs tasks on an event loop, so that they share a thread with their connections.
///
/// Only for decisions and small bodies, because a task that waits for the disk blocks the loop's other connections. Large bodies
/// run on ``FileThreads``.
package final class EventLoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    package init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Whether the caller is on this event loop.
    var isCurrent: Bool { eventLoop.inEventLoop }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
