import Synchronization

/// One-time sign-in codes for the page: created over the Unix socket, exchanged over TCP for a token.
///
/// A code has 128 random bits and expires after a minute by default. Such a code cannot be guessed at any request rate, so wrong
/// codes need no rate limit, which would block the right code too.
package final class OneTimeCodes: Sendable {
    /// The default lifetime of a code.
    package static let standardLifetime: Duration = .seconds(60)
    private let lifetime: Duration
    /// The maximum number of valid codes; a new one replaces the oldest.
    static let mostCodes = 64

    private struct Code {
        var text: String
        var until: Duration
        /// The HTML file that opens the page with this code.
        var file: SignInFile?
    }
    private let codes = Mutex<[Code]>([])

    /// - Parameter lifetime: How long a code is valid.
    package init(lifetime: Duration = OneTimeCodes.standardLifetime) { self.lifetime = lifetime }

    /// Creates a code. `now` is monotonic. `file` creates the HTML file for the code, which is removed with the code.
    package func make(at now: Duration, file: (String) -> SignInFile? = { _ in nil }) -> (
        text: String, file: SignInFile?
    ) {
        let text = RandomText.hex(bytes: 16)
        let code = Code(text: text, until: now + lifetime, file: file(text))
        expire(at: now)
        let oldest: Code? = codes.withLock { codes in
            defer { codes.append(code) }
            return codes.count >= Self.mostCodes ? codes.removeFirst() : nil
        }
        oldest?.file?.remove()
        return (text, code.file)
    }

    /// Returns whether the code is valid, and invalidates it.
    package func redeem(_ text: String, at now: Duration) -> Bool {
        expire(at: now)
        let redeemed: Code? = codes.withLock { codes in
            // Compares all codes, so that the timing reveals nothing.
            var found: Int?
            for (index, code) in codes.enumerated() where ConstantTime.areEqual(code.text, text) { found = index }
            return found.map { codes.remove(at: $0) }
        }
        redeemed?.file?.remove()
        return redeemed != nil
    }

    /// Removes expired codes and their files.
    package func expire(at now: Duration) {
        let old = codes.withLock { codes in
            defer { codes.removeAll { $0.until <= now } }
            return codes.filter { $0.until <= now }
        }
        for code in old { code.file?.remove() }
    }

    /// Removes all codes and their files.
    package func clear() {
        let all = codes.withLock { codes in
            defer { codes = [] }
            return codes
        }
        for code in all { code.file?.remove() }
    }
}
