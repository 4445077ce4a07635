package import HTTPTypes

/// Request headers for all downloads of a manager, each with the origins that it may be sent to. They are kept only in
/// memory and never stored with a download.
package struct SharedHeaders: Sendable, Hashable {
    /// The fields for the origins of each download's sources; they contain no secrets.
    private var open = HTTPFields()
    /// The fields for individual origins.
    private var own: [Origin: HTTPFields] = [:]

    package init() {}

    /// Sets a header for these origins or, if there are none, for the sources of each download, replacing the one with
    /// that name. `nil` removes it; without origins, from all origins.
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

    /// Removes the header for all origins.
    package mutating func remove(_ name: HTTPField.Name) {
        open[name] = nil
        for origin in own.keys { own[origin]?[name] = nil }
    }

    fileprivate func value(of name: String, for origin: Origin?) -> String? {
        guard let name = HTTPField.Name(name) else { return nil }
        return origin.map { own[$0]?[name] } ?? open[name]
    }

    /// The fields for a request to `origin`. `isSource` is true if the user named that origin, false if only a redirect
    /// led to it.
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
    /// Sets a header for all downloads of the manager, replacing the one with that name; `nil` removes it.
    ///
    /// ```swift
    /// var configuration = DownloadManager.Configuration.default(identifier: "com.example.app", directory: folder)
    /// try configuration.transfer.setHeader("Accept-Language", to: "de")
    /// try configuration.transfer.setHeader("Authorization", to: "Bearer …", for: [Origin(of: url)])
    /// ```
    ///
    /// A header for `origins` is sent with each request to one of them, including after a redirect, and to no other
    /// origin. A header without origins is sent to the sources of each download, and not to other origins after a
    /// redirect; only Accept, Accept-Language, User-Agent and Referer can be set this way, because any other header may
    /// contain a secret. Without origins, `nil` removes the header for all origins.
    ///
    /// A download's own headers, credentials, cookies and user agent take precedence. The manager's headers are never
    /// stored: set them again at each launch. A change applies from the next request on; a download that waits for
    /// credentials tries the new headers when you call `resume()`. The daemon does not send these headers.
    ///
    /// Throws `invalidRequest` if the name or the value is not valid in a header, or if a header that may be secret has
    /// no origin.
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
