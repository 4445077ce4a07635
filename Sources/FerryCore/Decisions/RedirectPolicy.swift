/// Decides whether a response is a redirect and whether to follow it (RFC 9110 §15.4).
///
/// The policy records one chain of redirects, so that loops and endless chains end.
package struct RedirectPolicy: Sendable, Hashable {
    /// The decision for one response.
    package enum Verdict: Sendable, Hashable {
        /// Not a redirect.
        case final
        /// Send a GET request to this URL.
        case follow(DownloadURL)
        /// A redirect that must not or cannot be followed.
        case refuse(Refusal)
    }

    /// The reason why a redirect is refused.
    package enum Refusal: Error, Sendable, Hashable {
        /// Location is missing or empty.
        case noLocation
        /// More than one Location field line.
        case severalLocations
        /// Location is not a URL that can be fetched: `file:`, `ftp:`, `data:`, malformed.
        case unusable(String)
        /// A redirect from https to http without permission.
        case downgrade(DownloadURL)
        /// The URL was already requested with the same cookies.
        case loop(DownloadURL)
        /// More redirects than ``RedirectPolicy/limit``.
        case tooMany(limit: Int)
    }

    /// Whether redirects from https to http are followed.
    package let allowsDowngrade: Bool
    /// The maximum number of redirects in the chain.
    package let limit: Int
    /// The URLs that were followed, in order.
    package private(set) var followed: [DownloadURL] = []
    /// The URLs requested since the cookies last changed.
    private var asked: Set<String>

    /// Starts a chain at `start`.
    ///
    /// - Parameters:
    ///   - allowsDowngrade: Whether redirects from https to http are followed. Default false.
    ///   - limit: The maximum number of redirects.
    package init(start: DownloadURL, allowsDowngrade: Bool = false, limit: Int = DownloadRequest.plain.maxRedirects) {
        self.allowsDowngrade = allowsDowngrade
        self.limit = max(0, limit)
        asked = [start.text]
    }

    /// Judges a response from `url`.
    ///
    /// - Parameters:
    ///   - locations: The values of all Location field lines.
    ///   - stateChanged: Whether the response changed the cookies, so that the same URL may respond differently.
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

    /// True for 301, 302, 303, 307 and 308; other 3xx responses have no single target.
    package static func isRedirect(_ status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }
}

extension RedirectPolicy.Refusal: CustomStringConvertible {
    /// One line, without a URL's query.
    package var description: String { phrase.text(in: .english) }

    /// The translatable form, with the URL that redirected. The reason comes first, because narrow lists truncate the end. A
    /// loop already names its URL.
    package func phrase(of url: DownloadURL) -> ErrorPhrase {
        if case .loop = self { return phrase }
        return ErrorPhrase(.redirectOf, phrase, url.redacted)
    }

    /// The translatable form of the description.
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
