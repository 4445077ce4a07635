public import FerryCore

/// The body of all error responses: `application/problem+json` (RFC 9457).
///
/// `code` is a ``FerryCore/DownloadError/Code`` or a ``Code``; `error` is the library's error, if there is one.
public struct Problem: Error, Codable, Sendable, Hashable {
    /// A URI that identifies the code.
    public var type: String
    /// The HTTP status.
    public var status: Int
    public var code: String
    /// A few words that name the problem.
    public var title: String
    /// A description of the problem with this request; `nil` if the title is sufficient.
    public var detail: String?
    /// The path of the request.
    public var instance: String?
    /// The error of the library that caused the problem.
    public var error: DownloadError?
    /// The index, from 0, of the download in the request that caused the problem; `nil` for a request with a single download,
    /// or if the problem concerns the whole request.
    public var index: Int?

    package static let mediaType = "application/problem+json"

    /// Codes of the API, in addition to those of ``FerryCore/DownloadError``.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// Malformed request: invalid JSON, an unknown member, an invalid value.
        case badRequest
        /// The token is missing or invalid.
        case unauthorized
        /// A request from another origin or another user, or a route that is not permitted on this listener.
        case forbidden
        /// The Host field does not name this daemon.
        case misdirected
        /// Unknown path.
        case noSuchPath
        /// The path does not support this method.
        case methodNotAllowed
        /// The body must be JSON.
        case unsupportedMediaType
        /// The body is too large.
        case bodyTooLarge
        /// The file contains no byte of the requested range.
        case rangeNotSatisfiable
        /// The request was not received completely in time.
        case timeout
        /// Incompatible API version.
        case versionMismatch
        /// Too many connections without a token.
        case tooMany
        /// Other requests use all of the memory for request bodies.
        case busy
        /// The daemon is shutting down.
        case shuttingDown
        /// An internal defect.
        case `internal`
    }

    package init(status: Int, code: String, title: String, detail: String? = nil, error: DownloadError? = nil) {
        type = "https://ferry.invalid/problems/\(code)"
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.error = error
    }

    package init(_ code: Code, _ detail: String? = nil) {
        self.init(status: code.status, code: code.rawValue, title: code.title, detail: detail)
    }

    /// Creates a problem from the library's error, with a suitable status.
    package init(_ error: DownloadError, at index: Int? = nil) {
        self.init(
            status: Self.status(of: error.code), code: error.code.rawValue, title: error.code.sentence(in: .english),
            detail: error.message, error: error)
        self.index = index
    }

    /// Creates a problem from a decoding error. The detail names the invalid member and the defect.
    package init(decoding error: any Error) {
        if let problem = error as? Problem {
            self = problem
            return
        }
        if let error = error as? DownloadError {
            self.init(error)
            return
        }
        guard let error = error as? DecodingError else {
            self.init(.badRequest, "The body is no JSON.")
            return
        }
        let (context, fallback): (DecodingError.Context, String) =
            switch error {
            case .dataCorrupted(let context):
                (context, String(context.debugDescription.dropping(suffix: ".") ?? context.debugDescription[...]))
            case .keyNotFound(let key, let context):
                (context, "the member \(ForeignText.quote(key.stringValue)) is missing")
            case .typeMismatch(let type, let context): (context, "it is not \(Self.name(of: type))")
            case .valueNotFound(let type, let context): (context, "it is null, which is not \(Self.name(of: type))")
            @unknown default: (DecodingError.Context(codingPath: [], debugDescription: ""), "it cannot be read")
            }
        let place = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
        self.init(.badRequest, place.isEmpty ? "The body: \(fallback)." : "\(ForeignText.quote(place)): \(fallback).")
    }

    private static func name(of type: Any.Type) -> String {
        switch type {
        case is String.Type: "a text"
        case is Bool.Type: "a truth value"
        case is any BinaryInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        case is [String: Any].Type: "an object"
        case is [Any].Type: "a list"
        default: "an object or list that fits"
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
        case .rangeNotSatisfiable: 416
        case .misdirected: 421
        case .versionMismatch: 426
        case .tooMany: 429
        case .internal: 500
        case .shuttingDown, .busy: 503
        }
    }

    package var title: String {
        switch self {
        case .badRequest: "Bad request"
        case .unauthorized: "Token required"
        case .forbidden: "Forbidden"
        case .misdirected: "Misdirected request"
        case .noSuchPath: "Path not found"
        case .methodNotAllowed: "Method not allowed"
        case .unsupportedMediaType: "Unsupported media type"
        case .rangeNotSatisfiable: "Range not satisfiable"
        case .timeout: "Request timeout"
        case .bodyTooLarge: "Body too large"
        case .versionMismatch: "API version mismatch"
        case .tooMany: "Too many requests"
        case .busy: "Server busy"
        case .shuttingDown: "Daemon shutting down"
        case .internal: "Internal error"
        }
    }
}

extension Problem {
    /// The error that a client of the library throws for this problem.
    package var downloadError: DownloadError {
        if let error { return error }
        // The library has one code for all requests that the daemon considers invalid.
        let code: DownloadError.Code =
            self.code == Code.badRequest.rawValue ? .invalidRequest : DownloadError.Code(rawValue: self.code)
        return DownloadError(code, detail ?? title)
    }
}
