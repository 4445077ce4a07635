import Crypto
import FerryCore
import HTTPTypes
import Synchronization

/// The challenges that origins sent to this transport, so that later requests can be authorized without being refused first (RFC
/// 7616 §3.6).
final class ChallengeMemory: Sendable {
    private struct Key: Hashable {
        let origin: Origin
        let credentials: Credentials
    }

    private struct Entry {
        /// The Digest challenge; `nil` for Basic.
        let challenge: DigestChallenge?
        let cnonce: String
        /// The number of requests sent with this nonce.
        var count = 0
    }

    /// The maximum number of entries. A server may redirect through many hosts, each with a challenge; an evicted challenge is
    /// received again.
    static let most = 256
    private let entries = Mutex(RecentValues<Key, Entry>(capacity: ChallengeMemory.most))

    var count: Int { entries.withLock { $0.count } }

    /// Returns the value of the Authorization field: Digest if the origin requested it, otherwise Basic. Returns `nil` over http
    /// until the origin has sent a challenge, so that no password is sent in clear text needlessly.
    func authorization(for url: DownloadURL, credentials: Credentials) -> String? {
        let entry = entries.withLock { entries -> Entry? in
            let key = Key(origin: url.origin, credentials: credentials)
            guard var entry = entries[key] else { return nil }
            entry.count += 1
            entries[key] = entry
            return entry
        }
        guard let entry else { return url.scheme == .https ? BasicCredentials.header(credentials) : nil }
        guard let challenge = entry.challenge else { return BasicCredentials.header(credentials) }
        return challenge.authorization(
            method: "GET", uri: url.requestTarget, credentials: credentials, nonceCount: entry.count,
            cnonce: entry.cnonce, hash: Self.hash)
    }

    /// Records the challenges of a 401 response.
    ///
    /// - Parameters:
    ///   - answer: The Authorization field of the refused request.
    ///   - isFirst: Whether the request has not been repeated for this URL yet.
    /// - Returns: Whether to repeat the request with ``authorization(for:credentials:)``: once for a new challenge,
    ///   and once more if only the nonce was stale.
    func learn(
        from head: ResponseHead, url: DownloadURL, credentials: Credentials, answer: String?, isFirst: Bool
    ) -> Bool {
        let key = Key(origin: url.origin, credentials: credentials)
        switch AuthAnswer.best(ofFields: head.values(.wwwAuthenticate)) {
        case .digest(let challenge):
            guard isFirst || challenge.isStale else { return false }
            entries.withLock { $0[key] = Entry(challenge: challenge, cnonce: Self.randomText()) }
            return true
        case .basic:
            // Basic credentials that were refused are wrong.
            guard isFirst, answer != BasicCredentials.header(credentials) else { return false }
            entries.withLock { $0[key] = Entry(challenge: nil, cnonce: "") }
            return true
        case nil:
            return false
        }
    }

    private static func randomText() -> String {
        var generator = SystemRandomNumberGenerator()
        return String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
    }

    private static func hash(_ algorithm: DigestAlgorithm, _ bytes: [UInt8]) -> [UInt8] {
        switch algorithm {
        case .md5: Array(Insecure.MD5.hash(data: bytes))
        case .sha1: Array(Insecure.SHA1.hash(data: bytes))
        case .sha256: Array(SHA256.hash(data: bytes))
        case .sha512: Array(SHA512.hash(data: bytes))
        }
    }
}
