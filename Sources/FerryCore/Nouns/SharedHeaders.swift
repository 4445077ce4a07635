package import HTTPTypes

/// Request headers for all downloads of a manager, each for the origins that it may be sent to. In memory alone: nothing of
/// them is stored with a download.
package struct SharedHeaders: Sendable, Hashable {
    /// The fields for the origins of each download's sources; none of them is secret.
    private var open = HTTPFields()
    /// The fields for single origins.
    private var own: [Origin: HTTPFields] = [:]

    package init() {}

    /// Sets a header in place of the one with that name, for these origins or, without any, for the sources of each
    /// download. `nil` removes it; without origins, from all of them.
    fileprivate mutating func set(_ name: String, to value: String?, for origins: [Origin]) throws(DownloadError) {
        guard let field = HTTPField.Name(name), value.map(HTTPField.isValidValue) ?? true else {
            // The value may be a secret.
            throw DownloadError(.invalidRequest, ErrorPhrase(.unusableHeader, TextError.quote(name)))
        }
        for origin in origins { own[origin, default: HTTPFields()][field] = value }
        guard origins.isEmpty else { return }
        guard let value else { return remove(field) }
        guard !field.isSecret else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.headerForNobody, TextError.quote(name)))
        }
        open[field] = value
    }

    /// Removes the header, whatever it is for.
    package mutating func remove(_ name: HTTPField.Name) {
        open[name] = nil
        for origin in own.keys { own[origin]?[name] = nil }
    }

    fileprivate func value(of name: String, for origin: Origin?) -> String? {
        guard let name = HTTPField.Name(name) else { return nil }
        return origin.map { own[$0]?[name] } ?? open[name]
    }

    /// The fields for a request to `origin`; `isSource`: the user has named that origin, and no redirect alone leads to it.
    package func fields(for origin: Origin, isSource: Bool) -> HTTPFields {
        var fields = own[origin] ?? HTTPFields()
        if isSource {
            for field in open where fields[field.name] == nil { fields.append(field) }
        }
        return fields
    }
}

extension SharedHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `headers`: values may be secret, and printed values end up in logs.
    package var description: String { "headers" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension TransferSettings {
    /// Sets a header for all downloads of the manager, in place of the one with that name; `nil` removes it.
    ///
    /// ```swift
    /// var configuration = DownloadManager.Configuration.default(identifier: "com.example.app", directory: folder)
    /// try configuration.transfer.setHeader("Accept-Language", to: "de")
    /// try configuration.transfer.setHeader("Authorization", to: "Bearer …", for: [Origin(of: url)])
    /// ```
    ///
    /// A header for `origins` is sent with each request to one of them, after a redirect too, and to no other. Without
    /// origins it is sent to the sources of each download, and no further after a redirect; only Accept, Accept-Language,
    /// User-Agent and Referer can be set so, all others may be secret. Without origins `nil` removes the header for all of them.
    ///
    /// A download's own headers, credentials, cookies and user agent take precedence. None of the manager's headers is stored:
    /// each launch sets them anew. A change applies from the next request on; a download that waits for credentials tries them
    /// with `resume()`. The daemon sends none of them.
    ///
    /// Throws `invalidRequest` if no header can have that name or value, or if a header that may be secret has no origin.
    public mutating func setHeader(
        _ name: String, to value: String?, for origins: [Origin] = []
    ) throws(DownloadError) {
        try headers.set(name, to: value, for: origins)
    }

    /// The value of the header with this name for an origin, or for the sources of each download; `nil` if there is none.
    public func header(_ name: String, for origin: Origin? = nil) -> String? {
        headers.value(of: name, for: origin)
    }
}
