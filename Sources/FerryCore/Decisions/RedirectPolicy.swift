/// Whether an answer leads elsewhere, and whether Ferry goes there (RFC 9110 §15.4).
///
/// It also keeps the trail of one chain, so that loops and endless chains end (A33).
package struct RedirectPolicy: Sendable, Hashable {
    /// What to do with one answer.
    package enum Verdict: Sendable, Hashable {
        /// No redirect: this is the answer.
        case final
        /// Ask there, with a GET.
        case follow(DownloadURL)
        /// A redirect that must not or cannot be followed.
        case refuse(Refusal)
    }

    /// Why a redirect is refused.
    package enum Refusal: Error, Sendable, Hashable {
        /// There is no Location, or it is blank.
        case noLocation
        /// There is more than one Location.
        case severalLocations
        /// What Location says is no URL that can be fetched: `file:`, `ftp:`, `data:`, garbage (A34).
        case unusable(String)
        /// From https to http, and that was not allowed (A34).
        case downgrade(DownloadURL)
        /// This URL has been asked before, and nothing has changed since.
        case loop(DownloadURL)
        /// More redirects than are allowed.
        case tooMany(limit: Int)
    }

    /// Follow from https to http.
    package let allowsDowngrade: Bool
    /// The most redirects in the chain.
    package let limit: Int
    /// The URLs that were followed, in order.
    package private(set) var followed: [DownloadURL] = []
    /// What has been asked since something last changed that a server could decide by.
    private var asked: Set<String>

    /// Begins a chain at `start`.
    ///
    /// - Parameters:
    ///   - allowsDowngrade: follow from https to http. Default false.
    ///   - limit: the most redirects. Default 20.
    package init(start: DownloadURL, allowsDowngrade: Bool = false, limit: Int = 20) {
        self.allowsDowngrade = allowsDowngrade
        self.limit = max(0, limit)
        asked = [start.text]
    }

    /// Judges the answer that came from `url`.
    ///
    /// - Parameters:
    ///   - locations: the values of all Location lines.
    ///   - stateChanged: the answer changed the cookies, so that asking the same URL again may give something else.
    package mutating func judge(
        status: Int, locations: [String], from url: DownloadURL, stateChanged: Bool = false
    ) -> Verdict {
        guard Self.isRedirect(status) else { return .final }
        guard locations.count <= 1 else { return .refuse(.severalLocations) }
        guard let location = locations.first, location.contains(where: { !$0.isWhitespace }) else {
            return .refuse(.noLocation)
        }
        let target: DownloadURL
        do {
            target = try url.resolving(location)
        } catch {
            return .refuse(.unusable(error.message))
        }
        guard followed.count < limit else { return .refuse(.tooMany(limit: limit)) }
        if url.scheme == .https, target.scheme == .http, !allowsDowngrade { return .refuse(.downgrade(target)) }
        if stateChanged { asked.removeAll() }
        guard asked.insert(target.text).inserted else { return .refuse(.loop(target)) }
        followed.append(target)
        return .follow(target)
    }

    /// 301, 302, 303, 307 and 308; the other 3xx have no single place to go to.
    package static func isRedirect(_ status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }
}

extension RedirectPolicy.Refusal: CustomStringConvertible {
    /// One line, without a query.
    package var description: String { phrase.text(in: .english) }

    /// The same, known in every language.
    package var phrase: ErrorPhrase {
        switch self {
        case .noLocation: ErrorPhrase(.redirectNowhere)
        case .severalLocations: ErrorPhrase(.severalRedirects)
        case .unusable(let reason): ErrorPhrase(.unusableRedirect, reason)
        case .downgrade(let url): ErrorPhrase(.unencryptedRedirect, url.redacted)
        case .loop(let url): ErrorPhrase(.redirectLoop, url.redacted)
        case .tooMany(let limit): ErrorPhrase(.tooManyRedirects, "\(limit)")
        }
    }
}
