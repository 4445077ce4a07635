import FerryCore
import FerryServer

/// The state of one message: the credentials of its sender, and the limits on its calls and results.
struct Aria2Visit: Sendable {
    /// The maximum number of calls in a message.
    static let mostCalls = 10_000

    let format: Aria2Format
    /// Whether a call presented the token.
    private(set) var isKnown = false
    /// Whether a call presented no token or a wrong one. Tokens of later calls are not compared, so that a message can try only
    /// one token.
    private(set) var isRefused = false
    private var calls = 0
    /// The number of bytes left for the rest of the response.
    private var rest = Self.mostAnswerBytes

    /// The maximum number of bytes in the response to a message. It is limited because a short call can have a long result.
    static let mostAnswerBytes = 32 << 20
    /// Results up to this size are always returned, because the call may have changed something.
    private static let smallBytes = 1 << 10

    init(_ format: Aria2Format) { self.format = format }

    /// Throws unless the call presents the token.
    mutating func present(_ token: String?, to secret: SharedToken) throws(Aria2Error) {
        guard !isRefused, let token, secret.matches(token) else {
            isRefused = true
            throw .unauthorized
        }
        isKnown = true
    }

    /// Throws if the response has no room for results of this size.
    func checkRoom(for bytes: Int) throws(Aria2Error) {
        guard bytes <= Self.smallBytes || bytes <= rest else {
            throw Aria2Error("At most \(Self.mostAnswerBytes >> 20) MiB in an answer: ask for less at a time.")
        }
    }

    /// Counts a result in the response.
    mutating func tell(_ value: JSONValue) throws(Aria2Error) {
        let bytes = value.textLength
        try checkRoom(for: bytes)
        rest -= bytes
    }

    mutating func count() throws(Aria2Error) {
        calls += 1
        if calls > Self.mostCalls { throw Aria2Error("At most \(Self.mostCalls) calls at a time.") }
    }
}

extension JSONValue {
    /// The approximate number of bytes of the value's text.
    var textLength: Int {
        switch self {
        case .null, .flag: 5
        case .whole, .number: 12
        case .text(let text): text.utf8.count + 3
        case .list(let items): items.reduce(2) { $0 + $1.textLength }
        case .object(let members): members.reduce(2) { $0 + $1.key.utf8.count + 4 + $1.value.textLength }
        }
    }
}
