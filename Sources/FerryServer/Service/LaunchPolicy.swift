/// Decides when to launch a session's app: when events are unacknowledged and no client is connected, once per burst.
/// Pure.
///
/// Acknowledgement counts, not presence: a connected client may crash before it handles an event.
package struct LaunchPolicy: Sendable, Hashable {
    /// The minimum time between two launches.
    package static let pause: Duration = .seconds(30)

    /// The unacknowledged events.
    private var pending: Set<Int64> = []
    /// The newest event that caused a launch: the app is not launched twice for an event that it ignores.
    private var launchedFor: Int64 = 0
    private var isRunning = false
    private var earliest: Duration?

    /// - Parameter earliest: The earliest launch: clients from before the daemon's start may reconnect by themselves.
    package init(earliest: Duration? = nil) { self.earliest = earliest }

    /// The result of ``decide(hasClient:at:)``.
    package enum Decision: Sendable, Hashable {
        case nothing
        case launch
        /// Decide again at this time.
        case wait(until: Duration)
    }

    /// Records an event that ended a download.
    package mutating func ended(_ number: Int64) { pending.insert(number) }

    /// Records the events that the app has handled.
    package mutating func acknowledged(_ numbers: some Sequence<Int64>) { pending.subtract(numbers) }

    /// Records the exit of the launched command.
    package mutating func exited() { isRunning = false }

    /// Returns the next action, and records a launch as started. `hasClient` is whether the session has a client.
    package mutating func decide(hasClient: Bool, at now: Duration) -> Decision {
        guard !hasClient, !isRunning, let newest = pending.max(), newest > launchedFor else { return .nothing }
        if let earliest, now < earliest { return .wait(until: earliest) }
        launchedFor = newest
        isRunning = true
        earliest = now + Self.pause
        return .launch
    }
}
