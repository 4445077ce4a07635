import FerryCore
import HTTPTypes
import NIOHTTP1

import struct Foundation.Date

/// The state of one fetch on its way through redirects and challenges: what to ask next, of whom, with which fields.
struct FetchChain {
    enum Step: Sendable, Hashable {
        /// This is the answer.
        case final
        /// Ask again, at ``FetchChain/url``, with the fields of now.
        case again
    }

    private let request: TransferRequest
    private let userAgent: String
    private var policy: RedirectPolicy
    private var cookies: CookieJar
    /// How many challenges were answered for the URL that is asked now.
    private var answeredChallenges = 0
    /// The value of the Authorization field that was sent last; `nil` without credentials, or before a challenge.
    private var authorization: String?
    /// The next URL to ask.
    private(set) var url: DownloadURL

    init(_ request: TransferRequest, settings: TransferSettings) {
        self.request = request
        userAgent = settings.userAgent
        url = request.url
        cookies = settings.cookies
        policy = RedirectPolicy(
            start: request.url, allowsDowngrade: request.allowsDowngrade, limit: request.maxRedirects)
    }

    /// The URLs that redirects led to.
    var redirects: [DownloadURL] { policy.followed }

    /// The fields of the next request.
    mutating func fields(challenges: ChallengeMemory, now: Date) -> HTTPHeaders {
        authorization = request.secrets.credentials(for: url).flatMap {
            challenges.authorization(for: url, credentials: $0)
        }
        return OutgoingFields.make(
            host: url.authority, userAgent: userAgent, own: request.fields, user: request.secrets.headers(for: url),
            cookies: cookies.header(for: url, now: now), authorization: authorization)
    }

    /// Takes the head of an answer in, and says what comes next.
    ///
    /// - Throws: a redirect that is not followed.
    mutating func received(
        _ head: ResponseHead, challenges: ChallengeMemory, now: Date
    ) throws(TransferFailure) -> Step {
        let before = cookies
        for line in head.values(.setCookie) { cookies.store(line, from: url, now: now) }
        if head.status == 401, answersChallenge(in: head, challenges: challenges) { return .again }
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
            throw TransferFailure(kind, ErrorPhrase(.failedWith, url.redacted, refusal.phrase))
        }
    }

    /// Whether a challenge can be answered: once, and once more when only a nonce was stale.
    private mutating func answersChallenge(in head: ResponseHead, challenges: ChallengeMemory) -> Bool {
        guard let credentials = request.secrets.credentials(for: url),
            request.secrets.headers(for: url)[.authorization] == nil, answeredChallenges < 2
        else { return false }
        let isFirst = answeredChallenges == 0
        guard
            challenges.learn(
                from: head, url: url, credentials: credentials, answer: authorization, isFirst: isFirst)
        else { return false }
        answeredChallenges += 1
        return true
    }
}
