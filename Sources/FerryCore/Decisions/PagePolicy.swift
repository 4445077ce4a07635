/// Decides whether a web page can be the requested file.
///
/// Sign-in forms, captive portals and the error pages of expired links are sent with status 200. A page is rejected if the file
/// name indicates another type. If the name that the user gave has an extension, only that name decides; otherwise the server's
/// name and the names in the URLs do. A name without an extension indicates nothing; page extensions (`.html`, `.php`, …)
/// indicate a page. If the given name is that of the URL, as in a set, and the URL leads to itself with a `/` at its end, the page
/// is that of a directory in place of the file.
package struct PagePolicy: Hashable, Sendable {
    /// The file name that the user gave; `nil` if the server names the file.
    package var givenName: String?

    package init(givenName: String?) { self.givenName = givenName }

    /// Whether the type must be sniffed from the first bytes of the body because there is no usable Content-Type.
    package static func mustLook(at verdict: ResponseVerdict) -> Bool {
        guard case .whole(let representation) = verdict, !representation.isEncoded else { return false }
        return representation.identity.contentType.flatMap { MediaType($0) } == nil
    }

    /// Returns the verdict, completed with the sniffed type and with the types that the names indicate.
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
        // allow(origin): of two addresses of one page; nothing is sent.
        let isDirectory = finalURL.path == url.path + "/" && finalURL.origin == url.origin
        if isDirectory, givenName?.utf8.elementsEqual(url.lastPathSegment) == true { return true }
        let named = [suggested.map { Array($0.utf8) }, url.lastPathSegment].compactMap(\.self)
        let promises = named.compactMap { Self.promise(of: String(decoding: $0, as: UTF8.self)) }
        if !promises.isEmpty { return promises.contains(.file) }
        return Self.promise(of: String(decoding: finalURL.lastPathSegment, as: UTF8.self)) == .file
    }

    package enum Promise: Hashable { case file, page }

    /// Returns the type that the extension of `name` indicates; `nil` if there is no extension.
    ///
    /// An extension is 1 to 12 ASCII letters and digits after the last dot, including at least one letter, with text
    /// before the dot: `v1.2` and `.config` have none.
    package static func promise(of name: String) -> Promise? {
        let bytes = name.utf8
        guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot > bytes.startIndex else { return nil }
        let tail = bytes[bytes.index(after: dot)...]
        guard 1...12 ~= tail.count, tail.allSatisfy({ ASCII.isLetter($0) || ASCII.isDigit($0) }),
            tail.contains(where: ASCII.isLetter)
        else { return nil }
        return pageExtensions.contains(String(decoding: tail.map(ASCII.lowercased), as: UTF8.self)) ? .page : .file
    }

    /// Extensions of web pages, and top-level domains, because the names of pages often end in a domain.
    private static let pageExtensions: Set<String> = [
        "html", "htm", "xhtml", "xht", "shtml", "shtm", "stm", "dhtml", "jhtml", "phtml", "rhtml", "mhtml", "hta",
        "php", "php3", "php4", "php5", "php7", "php8", "asp", "aspx", "ashx", "axd", "jsp", "jspx", "jspa", "jsf",
        "do", "action", "seam", "faces", "xsp", "nsf", "cgi", "fcgi", "pl", "cfm", "cfml", "esp", "ssp", "lasso", "srf",
        "com", "org", "net", "edu", "gov", "io",
    ]
}
