import Synchronization

/// Codes that open the page once: made over the Unix socket, traded over TCP for a token.
///
/// A code has 128 random bits and a minute: it cannot be guessed at any rate, so that wrong codes are answered and counted
/// nowhere, and keep no right one out.
package final class OneTimeCodes: Sendable {
    /// How long a code is good for.
    package static let lifetime: Duration = .seconds(60)
    /// The most codes at a time; a further one takes the place of the oldest.
    static let mostCodes = 64

    private struct Code {
        var text: String
        var until: Duration
        /// The file that leads a browser to the page with this code.
        var file: SignInFile?
    }
    private let codes = Mutex<[Code]>([])

    package init() {}

    /// A new code; `now` is monotonic. `file` makes the file that leads to the page with it, which goes when the code does.
    package func make(at now: Duration, file: (String) -> SignInFile? = { _ in nil }) -> (
        text: String, file: SignInFile?
    ) {
        let text = RandomText.hex(bytes: 16)
        let code = Code(text: text, until: now + Self.lifetime, file: file(text))
        expire(at: now)
        let oldest: Code? = codes.withLock { codes in
            defer { codes.append(code) }
            return codes.count >= Self.mostCodes ? codes.removeFirst() : nil
        }
        oldest?.file?.remove()
        return (text, code.file)
    }

    /// Whether this code is good; it is not any more after that.
    package func trade(_ text: String, at now: Duration) -> Bool {
        expire(at: now)
        let traded: Code? = codes.withLock { codes in
            // All are compared, so that the time tells nothing.
            var found: Int?
            for (index, code) in codes.enumerated() where ConstantTime.areEqual(code.text, text) { found = index }
            return found.map { codes.remove(at: $0) }
        }
        traded?.file?.remove()
        return traded != nil
    }

    /// Lets go of codes whose time is over, and of their files.
    package func expire(at now: Duration) {
        let old = codes.withLock { codes in
            defer { codes.removeAll { $0.until <= now } }
            return codes.filter { $0.until <= now }
        }
        for code in old { code.file?.remove() }
    }

    /// Lets go of all codes and of their files.
    package func clear() {
        let all = codes.withLock { codes in
            defer { codes = [] }
            return codes
        }
        for code in all { code.file?.remove() }
    }
}
