package import FerryCore
package import SystemPackage

/// An event of the system's background session.
package enum SystemEvent: Sendable {
    /// A task has received a response, and the body is in this file until the handler returns.
    case landed(SystemTask, head: ResponseHead, file: FilePath)
    /// A task has ended. After ``landed(_:head:file:)`` it has no failure.
    case ended(SystemTask, SystemFailure?)
    /// The task has received bytes. Some sessions never report this.
    case wrote(SystemTask)
    /// All events that were waiting for the app have been delivered.
    case drained
}

/// A background session of the system, whose tasks outlive the process: a background `URLSession`, or its model in tests.
///
/// The session is created again at each start of the process, with the same identifier. It delivers events only while it exists
/// and the app runs.
package protocol SystemTransferSession: Sendable {
    /// Returns the tasks that have not ended.
    func tasks() async -> [SystemTask]

    /// Starts one task for each request, all before it returns, and returns their numbers. The session itself follows redirects
    /// and retries requests; its resume data are not used.
    func begin(_ requests: [LeasedRequest]) async -> [LeaseNumber: Int]

    /// Cancels a task, whose end is reported later.
    func cancel(_ task: Int)

    /// Sets the handler of all events. It is called on the session's thread, one event at a time, and may block for the duration
    /// of a rename.
    func setHandler(_ handler: @escaping @Sendable (SystemEvent) -> Void)
}
