/// When the app of a session is started: events wait for it and nobody is there. Once for a burst of them. Pure.
package struct LaunchPolicy: Sendable, Hashable {
    /// After a launch no other one follows before this time is over.
    package static let pause: Duration = .seconds(30)

    /// Events wait that nobody was there for.
    private var isWanted = false
    private var isRunning = false
    private var last: Duration?

    package init() {}

    /// What to do now.
    package enum Decision: Sendable, Hashable {
        case nothing
        case launch
        /// Ask again at this time.
        case wait(until: Duration)
    }

    /// An event ended a download.
    package mutating func ended() { isWanted = true }

    /// A client follows the session's events: it is told.
    package mutating func attached() { isWanted = false }

    /// What was launched has ended.
    package mutating func exited() { isRunning = false }

    /// Asks; `hasClient` is whether somebody follows the session now. `launch` counts as done.
    package mutating func decide(hasClient: Bool, at now: Duration) -> Decision {
        if hasClient { isWanted = false }
        guard isWanted, !isRunning else { return .nothing }
        if let last, now < last + Self.pause { return .wait(until: last + Self.pause) }
        isWanted = false
        isRunning = true
        last = now
        return .launch
    }
}
