import FerryCore
import HTTPTypes
import NIOHTTP1

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// The state of one fetch across redirects and challenges: the next URL and its header fields.
struct FetchChain {
    enum Step: Sendable, Hashable {
        /// The response is final.
        case final
        /// Send another request to ``FetchChain/url``, with new fields.
        case again
    }

    private let request: TransferRequest
    private let userAgent: String
    private let netrc: Netrc?
    private let shared: SharedHeaders
    private var policy: RedirectPolicy
    private var cookies: CookieJar
    /// The number of challenges answered for the current URL.
    private var answeredChallenges = 0
    /// The last Authorization value sent; `nil` without credentials, or before a challenge.
    private var authorization: String?
    /// The next URL to request.
    private(set) var url: DownloadURL

    init(_ request: TransferRequest, settings: TransferSettings) {
        self.request = request
        userAgent = settings.userAgent
        netrc = settings.netrc
        shared = settings.headers
        url = request.url
        cookies = settings.cookies
        policy = RedirectPolicy(
            start: request.url, allowsDowngrade: request.allowsDowngrade, limit: request.maxRedirects)
    }

    /// Whether the last request had credentials or an Authorization field of the user or the manager.
    var isAuthorized: Bool { authorization != nil || headers[.authorization] != nil }

    /// The headers of the user and the manager for the current URL.
    private var headers: HTTPFields { request.secrets.headers(for: url, shared) }

    /// The credentials for the current URL: the user's, or after a redirect those in the netrc entry for its host.
    private var credentials: Credentials? {
        if let own = request.secrets.credentials(for: url) { return own }
        return policy.followed.isEmpty ? nil : request.secrets.credentials(forRedirectTo: url, netrc)
    }

    /// The URLs that redirects led to.
    var redirects: [DownloadURL] { policy.followed }

    mutating func fields(challenges: ChallengeMemory, now: Date) -> HTTPHeaders {
        authorization = credentials.flatMap { challenges.authorization(for: url, credentials: $0) }
        return OutgoingFields.make(
            host: url.authority, userAgent: userAgent, own: request.fields, user: headers,
            cookies: cookies.header(for: url, now: now), authorization: authorization)
    }

    /// Processes a response head and returns the next step.
    ///
    /// - Throws: The failure, if a redirect must not be followed.
    mutating func received(
        _ head: ResponseHead, challenges: ChallengeMemory, now: Date
    ) throws(TransferFailure) -> Step {
        let before = cookies
        for line in head.values(.setCookie) { cookies.store(line, from: url, now: now) }
        if head.status == 401, answersChallenge(in: head, challenges: challenges) { return .again }
        guard request.followsRedirects else { return .final }
        let verdict = policy.judge(
            status: head.status, locations: head.values(.location), from: url, stateChanged: cookies != before)
        switch verdict {
        case .final:
            return .final
        case .follow(let next):
            url = next
            answeredChallenges = 0
            return .again
        case .refuse(let refusal):
            var kind = TransferFailure.Kind.redirect
            if case .downgrade = refusal { kind = .downgrade }
            throw TransferFailure(kind, refusal.phrase(of: url))
        }
    }

    /// Answers a challenge: once per URL, and once more if only the nonce was stale. Returns whether to repeat the
    /// request.
    private mutating func answersChallenge(in head: ResponseHead, challenges: ChallengeMemory) -> Bool {
        guard let credentials, headers[.authorization] == nil, answeredChallenges < 2 else { return false }
        let isFirst = answeredChallenges == 0
        guard
            challenges.learn(
                from: head, url: url, credentials: credentials, answer: authorization, isFirst: isFirst)
        else { return false }
        answeredChallenges += 1
        return true
    }
}
