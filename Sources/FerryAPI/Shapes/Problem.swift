package import FerryCore

/// What every refusal is answered with: `application/problem+json` (RFC 9457).
///
/// `code` is a ``FerryCore/DownloadError/Code``, or one of ``Code``; `error` is the whole failure where the library gave one.
package struct Problem: Error, Sendable, Hashable {
    package var status: Int
    package var code: String
    package var title: String
    package var detail: String?
    /// The path that it is about.
    package var instance: String?
    package var error: ErrorBody?

    package static let mediaType = "application/problem+json"

    /// Codes of the API itself, beside those of ``FerryCore/DownloadError``.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// What was sent cannot be read: no JSON, a member that is not known, a value that cannot be.
        case badRequest
        /// No token, or not the right one.
        case unauthorized
        /// Another site, another user, or a door that this is not allowed through.
        case forbidden
        /// A Host that is not ours.
        case misdirected
        /// There is no such path.
        case noSuchPath
        /// The path has no such method.
        case methodNotAllowed
        /// Bodies are JSON.
        case unsupportedMediaType
        /// The body is too large.
        case bodyTooLarge
        /// The request did not come in whole in time.
        case timeout
        /// Another version of the API.
        case versionMismatch
        /// Too many connections that have shown no token.
        case tooMany
        /// The bodies of other requests hold all the room that there is.
        case busy
        /// The daemon is leaving.
        case shuttingDown
        /// A defect.
        case `internal`
    }

    package init(status: Int, code: String, title: String, detail: String? = nil, error: ErrorBody? = nil) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.error = error
    }

    package init(_ code: Code, _ detail: String? = nil) {
        self.init(status: code.status, code: code.rawValue, title: code.title, detail: detail)
    }

    /// What the library said, with the status that fits it.
    package init(_ error: DownloadError) {
        self.init(
            status: Self.status(of: error.code), code: error.code.rawValue, title: error.code.sentence(in: .english),
            detail: error.message, error: ErrorBody(error))
    }

    /// What was wrong with a body: where, and what.
    package init(decoding error: any Error) {
        guard let error = error as? DecodingError else {
            self.init(.badRequest, "The body is no JSON.")
            return
        }
        let (context, fallback): (DecodingError.Context, String) =
            switch error {
            case .dataCorrupted(let context): (context, context.debugDescription)
            case .keyNotFound(let key, let context):
                (context, "the member \(APIText.quote(key.stringValue)) is missing")
            case .typeMismatch(let type, let context): (context, "it is no \(Self.name(of: type))")
            case .valueNotFound(let type, let context): (context, "it is null, and must be a \(Self.name(of: type))")
            @unknown default: (DecodingError.Context(codingPath: [], debugDescription: ""), "it cannot be read")
            }
        let place = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
        self.init(.badRequest, place.isEmpty ? "The body: \(fallback)." : "\(APIText.quote(place)): \(fallback).")
    }

    private static func name(of type: Any.Type) -> String {
        switch type {
        case is String.Type: "text"
        case is Bool.Type: "truth value"
        case is any BinaryInteger.Type: "whole number"
        case is any BinaryFloatingPoint.Type: "number"
        default: "object or list that fits"
        }
    }

    private static func status(of code: DownloadError.Code) -> Int {
        switch code {
        case .invalidRequest: 400
        case .notFound: 404
        case .duplicate, .conflict, .wrongState, .notResumable: 409
        case .tooLarge: 413
        case .credentials, .freshLink, .refused, .remoteChanged, .checksum, .unproven, .certificate: 422
        case .network: 502
        case .shutDown, .catalogue: 503
        case .diskFull: 507
        default: 500
        }
    }
}

extension Problem.Code {
    package var status: Int {
        switch self {
        case .badRequest: 400
        case .unauthorized: 401
        case .forbidden: 403
        case .noSuchPath: 404
        case .methodNotAllowed: 405
        case .timeout: 408
        case .bodyTooLarge: 413
        case .unsupportedMediaType: 415
        case .misdirected: 421
        case .versionMismatch: 426
        case .tooMany: 429
        case .internal: 500
        case .shuttingDown, .busy: 503
        }
    }

    package var title: String {
        switch self {
        case .badRequest: "The request cannot be read"
        case .unauthorized: "A token is needed"
        case .forbidden: "Not allowed through this door"
        case .misdirected: "This is not that host"
        case .noSuchPath: "There is no such path"
        case .methodNotAllowed: "The path has no such method"
        case .unsupportedMediaType: "Bodies are JSON"
        case .timeout: "The request took too long to come in"
        case .bodyTooLarge: "The body is too large"
        case .versionMismatch: "Another version of the API"
        case .tooMany: "Too many at once"
        case .busy: "No room for the body"
        case .shuttingDown: "The daemon is leaving"
        case .internal: "A defect in Ferry"
        }
    }
}

extension Problem: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable { case type, title, status, detail, code, instance, error }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        status = try members.decode(Int.self, forKey: .status)
        code = try members.decode(String.self, forKey: .code)
        title = try members.decode(String.self, forKey: .title)
        detail = try members.decodeIfPresent(String.self, forKey: .detail)
        instance = try members.decodeIfPresent(String.self, forKey: .instance)
        error = try members.decodeIfPresent(ErrorBody.self, forKey: .error)
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode("https://ferry.invalid/problems/\(code)", forKey: .type)
        try members.encode(title, forKey: .title)
        try members.encode(status, forKey: .status)
        try members.encode(detail, forKey: .detail)
        try members.encode(code, forKey: .code)
        try members.encode(instance, forKey: .instance)
        try members.encode(error, forKey: .error)
    }

    /// The failure that a client of the library throws for it.
    package var downloadError: DownloadError {
        if let error { return error.error }
        // What was sent makes no sense to the daemon: that has one name in the library.
        let code: DownloadError.Code =
            self.code == Code.badRequest.rawValue ? .invalidRequest : DownloadError.Code(rawValue: self.code)
        return DownloadError(code, detail ?? title)
    }
}
