import Crypto
import FerryCore
import HTTPTypes
import Synchronization

/// The challenges that this transport was given, so that later requests need not be refused first (RFC 7616 §3.6).
final class ChallengeMemory: Sendable {
    private struct Key: Hashable {
        let origin: Origin
        let credentials: Credentials
    }

    private struct Entry {
        /// `nil`: the origin asked for Basic.
        let challenge: DigestChallenge?
        let cnonce: String
        /// How many requests went out with this nonce.
        var count = 0
    }

    /// A server may lead from host to host, each with a challenge: one that is forgotten is asked for again.
    static let most = 256
    private let entries = Mutex(RecentValues<Key, Entry>(capacity: ChallengeMemory.most))

    var count: Int { entries.withLock { $0.count } }

    /// The value of the Authorization field: Digest where the origin asked for it, else Basic; `nil` over http as long as
    /// the origin has not asked, so that no password is sent in clear to a server that needs none.
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

    /// Takes the challenges of a 401 in.
    ///
    /// - Parameters:
    ///   - answer: the Authorization field of the request that was refused.
    ///   - isFirst: this URL has not been asked again yet.
    /// - Returns: whether asking again with ``authorization(for:credentials:)`` may help: once with what is new, and once
    ///   more when only the nonce was too old.
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
            // Refused with it, the password is wrong.
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
