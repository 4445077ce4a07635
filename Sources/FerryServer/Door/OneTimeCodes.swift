import Synchronization

/// Codes that open the page once: made over the Unix socket, traded over TCP for the token.
package final class OneTimeCodes: Sendable {
    /// How long a code is good for.
    package static let lifetime: Duration = .seconds(60)
    /// Wrong codes that are answered within ``lifetime``; more are not looked at.
    package static let mostWrong = 20
    private static let mostCodes = 64

    private struct State {
        var codes: [(text: AccessToken, until: Duration)] = []
        var wrong: [Duration] = []
    }
    private let state = Mutex(State())

    package init() {}

    /// A new code; `now` is monotonic.
    package func make(at now: Duration) -> String {
        let code = AccessToken(text: RandomText.hex(bytes: 16))
        state.withLock { state in
            state.codes.removeAll { $0.until <= now }
            if state.codes.count >= Self.mostCodes { state.codes.removeFirst() }
            state.codes.append((code, now + Self.lifetime))
        }
        return code.text
    }

    package enum Trade: Sendable, Hashable {
        case good
        case wrong
        /// Too many wrong ones came of late.
        case tooMany
    }

    /// Whether this code is good; it is not any more after that.
    package func trade(_ text: String, at now: Duration) -> Trade {
        state.withLock { state in
            state.codes.removeAll { $0.until <= now }
            state.wrong.removeAll { $0 + Self.lifetime <= now }
            guard state.wrong.count < Self.mostWrong else { return .tooMany }
            // All are compared, so that the time tells nothing.
            var found: Int?
            for (index, code) in state.codes.enumerated() where code.text.matches(text) { found = index }
            guard let found else {
                state.wrong.append(now)
                return .wrong
            }
            state.codes.remove(at: found)
            return .good
        }
    }
}
