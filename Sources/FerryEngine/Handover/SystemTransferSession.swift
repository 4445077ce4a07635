package import FerryCore
package import SystemPackage

/// An event of the system's session.
package enum SystemEvent: Sendable {
    /// A task has a response, and its body is in this file until the handler returns.
    case landed(SystemTask, head: ResponseHead, file: FilePath)
    /// A task has ended. After ``landed(_:head:file:)`` there is no failure.
    case ended(SystemTask, SystemFailure?)
    /// The task has received bytes. Some sessions never tell.
    case wrote(SystemTask)
    /// All events that had been waiting for the app were delivered.
    case drained
}

/// A session of the system whose tasks outlive the process: a background `URLSession`, or the model of one in tests.
///
/// The session is made again at each start of the process, with the same identifier, and its events come only while it is
/// there and the app runs.
package protocol SystemTransferSession: Sendable {
    /// Returns the tasks that have not ended.
    func tasks() async -> [SystemTask]

    /// Begins one task for each request, all before it returns, and returns their numbers. The session follows redirects
    /// and repeats requests by itself; its resume data are not used.
    func begin(_ requests: [LeasedRequest]) async -> [LeaseNumber: Int]

    /// Cancels a task, whose end is told then.
    func cancel(_ task: Int)

    /// Sets the handler of all events. It is called on a thread of the session, one event at a time, and may block for as
    /// long as a rename takes.
    func setHandler(_ handler: @escaping @Sendable (SystemEvent) -> Void)
}
