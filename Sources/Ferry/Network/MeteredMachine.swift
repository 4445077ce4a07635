/// Decides when NetworkManager is asked, and which of its words is the newest.
///
/// It is asked when the network changes, one question at a time. Once it has answered, its signals are listened to; what
/// cannot be listened to is asked again a while after each change, since NetworkManager makes up its mind later than
/// the kernel.
struct MeteredMachine: Equatable {
    /// What is to be done now.
    enum Command: Equatable {
        /// Run the question; tell `answered`.
        case ask
        /// Start listening; tell `heard` each line and `listenerEnded`, or `cannotListen`.
        case listen
    }

    /// Its last word; `nil` when it is not there or has not answered yet.
    private(set) var answer: MeteredAnswer?
    /// No question is on its way.
    var isSettled: Bool { !isAsking }
    /// It is there and its signals are not heard: ask whenever anything happens.
    var asksOften: Bool { answer != nil && !isListening }
    /// When to say `timeHasCome`; on the scale of what was given.
    private(set) var wake: Duration?

    private var isAsking = false
    private var asksAgain = false
    private var isListening = false
    private var canListen = true
    /// One listener for each change at most, so that one that ends at once is not started in a loop.
    private var mayListen = false
    /// NetworkManager answers an instant later than the kernel: two seconds are plenty for it to settle.
    private static let settling: Duration = .seconds(2)
    /// Questions in a row that got no answer in time.
    private var timeouts = 0
    /// So many are asked again, each after twice as long; then it counts as not there until the network changes.
    private static let maximumTimeouts = 6

    init() {}

    /// The network has changed, or the watch begins.
    mutating func networkChanged(at now: Duration) -> [Command] {
        mayListen = true
        timeouts = 0
        if !isListening, answer != nil { wake = now + Self.settling }
        return ask()
    }

    /// The time of ``wake`` has come.
    mutating func timeHasCome() -> [Command] {
        wake = nil
        return ask()
    }

    /// The question was given up: a busy machine is no missing NetworkManager, so its last word stands, and it is asked again.
    mutating func timedOut(at now: Duration) -> [Command] {
        timeouts += 1
        guard timeouts <= Self.maximumTimeouts else { return answered(nil, at: now) }
        isAsking = false
        if asksAgain { return ask() }
        wake = now + Self.settling * (1 << (timeouts - 1))
        return []
    }

    /// The question has ended; `nil` when NetworkManager is not there or says nothing that can be read.
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

    /// A line has come from the listener.
    mutating func heard(_ notice: NetworkManagerText.Notice) -> [Command] {
        switch notice {
        case .metered(let answer):
            self.answer = answer
            // The question on its way may have been answered before this was said.
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

    /// The listener has ended by itself; the answer after the next change starts another one.
    mutating func listenerEnded() { isListening = false }

    /// There is nothing to listen with.
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
