/// Decides when to query NetworkManager's metered property, and which value is the newest.
///
/// Queries on each network change, one query at a time. After the first value, subscribes to NetworkManager's signals. Without
/// a subscription, queries again some time after each change, because NetworkManager decides later than the kernel.
struct MeteredMachine: Equatable {
    /// A command to the driver.
    enum Command: Equatable {
        /// Run the query, then call `answered` or `timedOut`.
        case ask
        /// Start the subscription, then call `heard` for each line and `listenerEnded`, or `cannotListen`.
        case listen
    }

    /// The newest value; `nil` if NetworkManager is not running or has not responded yet.
    private(set) var answer: MeteredAnswer?
    /// Whether no query is running.
    var isSettled: Bool { !isAsking }
    /// Whether NetworkManager is running without a subscription, so that every event requires a query.
    var asksOften: Bool { answer != nil && !isListening }
    /// When to call `timeHasCome`, on the clock of the `now` arguments.
    private(set) var wake: Duration?

    private var isAsking = false
    private var asksAgain = false
    private var isListening = false
    private var canListen = true
    /// Permits at most one subscription for each network change, so that a subscription that ends at once is not restarted in a
    /// loop.
    private var mayListen = false
    /// NetworkManager is updated shortly after the kernel; two seconds suffice.
    private static let settling: Duration = .seconds(2)
    /// The number of consecutive queries that timed out.
    private var timeouts = 0
    /// The number of retries after time-outs, with doubled delays; after these, NetworkManager counts as absent until the
    /// network changes.
    private static let maximumTimeouts = 6

    init() {}

    /// The network has changed, or monitoring begins.
    mutating func networkChanged(at now: Duration) -> [Command] {
        mayListen = true
        timeouts = 0
        if !isListening, answer != nil { wake = now + Self.settling }
        return ask()
    }

    /// The time ``wake`` has come.
    mutating func timeHasCome() -> [Command] {
        wake = nil
        return ask()
    }

    /// The query timed out. The machine may be busy, so the last value is kept and the query is repeated.
    mutating func timedOut(at now: Duration) -> [Command] {
        timeouts += 1
        guard timeouts <= Self.maximumTimeouts else { return answered(nil, at: now) }
        isAsking = false
        if asksAgain { return ask() }
        wake = now + Self.settling * (1 << (timeouts - 1))
        return []
    }

    /// The query has ended; `nil` if NetworkManager is not running or its output cannot be parsed.
    mutating func answered(_ answer: MeteredAnswer?, at now: Duration) -> [Command] {
        isAsking = false
        timeouts = 0
        var commands: [Command] = []
        if asksAgain {
            commands = ask()
        } else {
            self.answer = answer
        }
        if answer != nil, !isListening, canListen, mayListen {
            isListening = true
            mayListen = false
            wake = nil
            commands.append(.listen)
        }
        if answer == nil { wake = nil }
        return commands
    }

    /// The subscription has printed a line.
    mutating func heard(_ notice: NetworkManagerText.Notice) -> [Command] {
        switch notice {
        case .metered(let answer):
            self.answer = answer
            // The running query may have been answered before this signal.
            return isAsking ? ask() : []
        case .ask:
            return ask()
        case .gone:
            answer = nil
            return isAsking ? ask() : []
        case .other:
            return []
        }
    }

    /// The subscription has ended. The first value after the next network change starts a new subscription.
    mutating func listenerEnded() { isListening = false }

    /// The subscription's program is missing.
    mutating func cannotListen(at now: Duration) {
        canListen = false
        isListening = false
        wake = now + Self.settling
    }

    private mutating func ask() -> [Command] {
        asksAgain = isAsking
        guard !isAsking else { return [] }
        isAsking = true
        return [.ask]
    }
}

/// NetworkManager's metered property (its enumeration `NMMetered`).
package enum MeteredAnswer: Int, Sendable, Hashable, CaseIterable {
    case unknown = 0
    case yes = 1
    case no = 2
    case guessYes = 3
    case guessNo = 4
}
