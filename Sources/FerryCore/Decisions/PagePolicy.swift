/// Whether a web page may be the file that is asked for.
///
/// Sign-in forms, captive portals and the error pages of expired links come with status 200. A page is refused where a name
/// promises something else: the name that the user gave decides alone, when it has an extension; else the server's name
/// and the names in the URLs. A name without an extension promises nothing, and those that web servers give to pages
/// (`.html`, `.php`, …) are pages.
package struct PagePolicy: Hashable, Sendable {
    /// The name that the user gave to the file; `nil` where the server names it.
    package var givenName: String?

    package init(givenName: String?) { self.givenName = givenName }

    /// Whether only the first bytes of the body tell whether it is a page: there is no usable Content-Type.
    package static func mustLook(at verdict: ResponseVerdict) -> Bool {
        guard case .whole(let representation) = verdict, !representation.isEncoded else { return false }
        return representation.identity.contentType.flatMap { MediaType($0) } == nil
    }

    /// The verdict with what the names promise, and with the type that the first bytes showed.
    package func judge(
        _ verdict: ResponseVerdict, beginsAPage: Bool, url: DownloadURL, finalURL: DownloadURL
    ) -> ResponseVerdict {
        func judged(_ representation: Representation) -> Representation {
            var representation = representation
            if beginsAPage { representation.identity.contentType = "text/html" }
            representation.isPromisedFile =
                representation.isPage && promisesFile(representation.suggestedName, url: url, finalURL: finalURL)
            return representation
        }
        return switch verdict {
        case .whole(let representation): .whole(judged(representation))
        case .part(let range, let representation): .part(range, judged(representation))
        default: verdict
        }
    }

    private func promisesFile(_ suggested: String?, url: DownloadURL, finalURL: DownloadURL) -> Bool {
        if let givenName, let promise = Self.promise(of: givenName) { return promise == .file }
        let named = [suggested.map { Array($0.utf8) }, url.lastPathSegment].compactMap(\.self)
        let promises = named.compactMap { Self.promise(of: String(decoding: $0, as: UTF8.self)) }
        if !promises.isEmpty { return promises.contains(.file) }
        return Self.promise(of: String(decoding: finalURL.lastPathSegment, as: UTF8.self)) == .file
    }

    enum Promise: Hashable { case file, page }

    /// What an extension promises; `nil` for a name without one.
    ///
    /// An extension is 1 to 12 ASCII letters and digits behind the last dot, with a letter among them and something in
    /// front of the dot: `v1.2` and `.config` have none.
    static func promise(of name: String) -> Promise? {
        let bytes = name.utf8
        guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot > bytes.startIndex else { return nil }
        let tail = bytes[bytes.index(after: dot)...]
        guard 1...12 ~= tail.count, tail.allSatisfy({ ASCII.isLetter($0) || ASCII.isDigit($0) }),
            tail.contains(where: ASCII.isLetter)
        else { return nil }
        return pageExtensions.contains(String(decoding: tail.map(ASCII.lowercased), as: UTF8.self)) ? .page : .file
    }

    /// Extensions that web servers give to pages, and domains that stand at the end of addresses of pages about them.
    private static let pageExtensions: Set<String> = [
        "html", "htm", "xhtml", "xht", "shtml", "shtm", "stm", "dhtml", "jhtml", "phtml", "rhtml", "mhtml", "hta",
        "php", "php3", "php4", "php5", "php7", "php8", "asp", "aspx", "ashx", "axd", "jsp", "jspx", "jspa", "jsf",
        "do", "action", "seam", "faces", "xsp", "nsf", "cgi", "fcgi", "pl", "cfm", "cfml", "esp", "ssp", "lasso", "srf",
        "com", "org", "net", "edu", "gov", "io",
    ]
}
