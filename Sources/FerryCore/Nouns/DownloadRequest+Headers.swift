import HTTPTypes

extension DownloadRequest {
    /// Sets a header by its name, replacing all headers with that name; `nil` removes them. Equivalent to changing
    /// ``headers``, for apps that do not use the package swift-http-types.
    ///
    /// ```swift
    /// try request.setHeader("Authorization", to: "Bearer " + token)
    /// ```
    ///
    /// Throws `invalidRequest` if the name or the value is not valid in a header.
    public mutating func setHeader(_ name: String, to value: String?) throws(DownloadError) {
        guard let field = HTTPField.Name(name), value.map(HTTPField.isValidValue) ?? true else {
            // The value may be a secret.
            throw DownloadError(.invalidRequest, ErrorPhrase(.unusableHeader, TextError.quote(name)))
        }
        headers[field] = value
    }

    /// The value of the header with this name; `nil` if there is none. Several values are joined by commas.
    public func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
}
