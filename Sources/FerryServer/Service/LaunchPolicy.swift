/// When the app of a session is started: events wait for it and nobody is there. Once for a burst of them. Pure.
///
/// What counts is whether an event was acknowledged, not whether somebody was there when it was told: who was there may
/// have died before it heard.
package struct LaunchPolicy: Sendable, Hashable {
    /// After a launch no other one follows before this time is over.
    package static let pause: Duration = .seconds(30)

    /// The events that were not acknowledged.
    private var pending: Set<Int64> = []
    /// The newest event that a launch was for: nobody is started twice for one that he leaves alone.
    private var launchedFor: Int64 = 0
    private var isRunning = false
    private var earliest: Duration?

    /// - Parameter earliest: No launch before this time: who was there before the daemon began may come back by himself.
    package init(earliest: Duration? = nil) { self.earliest = earliest }

    /// What to do now.
    package enum Decision: Sendable, Hashable {
        case nothing
        case launch
        /// Ask again at this time.
        case wait(until: Duration)
    }

    /// An event ended a download.
    package mutating func ended(_ number: Int64) { pending.insert(number) }

    /// The app has handled these.
    package mutating func acknowledged(_ numbers: some Sequence<Int64>) { pending.subtract(numbers) }

    /// What was launched has ended.
    package mutating func exited() { isRunning = false }

    /// Asks; `hasClient` is whether somebody follows the session now. `launch` counts as done.
    package mutating func decide(hasClient: Bool, at now: Duration) -> Decision {
        guard !hasClient, !isRunning, let newest = pending.max(), newest > launchedFor else { return .nothing }
        if let earliest, now < earliest { return .wait(until: earliest) }
        launchedFor = newest
        isRunning = true
        earliest = now + Self.pause
        return .launch
    }
}
