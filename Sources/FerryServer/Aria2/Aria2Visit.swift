/// What one message has shown of its sender.
struct Aria2Visit: Sendable {
    /// The maximum number of calls in a message.
    static let mostCalls = 10_000

    let format: Aria2Format
    /// Whether a call had the token.
    private(set) var isKnown = false
    /// Whether a call had no token or a wrong one. Those of later calls are not compared, so that a message, however many
    /// calls it has, tries one token.
    private(set) var isRefused = false
    private var calls = 0

    init(_ format: Aria2Format) { self.format = format }

    /// Throws unless the call has the token.
    mutating func present(_ token: String?, to secret: SharedToken) throws(Aria2Error) {
        guard !isRefused, let token, secret.matches(token) else {
            isRefused = true
            throw .unauthorized
        }
        isKnown = true
    }

    mutating func count() throws(Aria2Error) {
        calls += 1
        if calls > Self.mostCalls { throw Aria2Error("At most \(Self.mostCalls) calls at a time.") }
    }
}
