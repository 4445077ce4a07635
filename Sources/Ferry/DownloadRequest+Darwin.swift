#if canImport(Darwin)
    public import FerryCore
    public import Foundation

    extension DownloadRequest {
        /// Creates a request for a download into a directory, with the URL, headers and network rules of a Foundation
        /// `URLRequest`. Throws `invalidRequest` if the method is not GET, there is a body, the URL is missing or not an http,
        /// https or s3 URL, a header is not valid, or `directory` is not a file URL.
        public init(_ request: URLRequest, into directory: URL) throws(DownloadError) {
            try self.init(from: Self.url(of: request), into: directory)
            try take(request)
        }

        /// Creates a request for a download to a file, with the URL, headers and network rules of a Foundation `URLRequest`. Throws
        /// like ``init(_:into:)``.
        public init(_ request: URLRequest, to file: URL) throws(DownloadError) {
            try self.init(from: Self.url(of: request), to: file)
            try take(request)
        }

        private mutating func take(_ request: URLRequest) throws(DownloadError) {
            for (name, value) in request.allHTTPHeaderFields ?? [:] { try setHeader(name, to: value) }
            if !request.allowsCellularAccess || !request.allowsExpensiveNetworkAccess { network.allowsMetered = false }
            if !request.allowsConstrainedNetworkAccess { network.allowsConstrained = false }
        }

        /// Returns the URL of a GET request without a body.
        private static func url(of request: URLRequest) throws(DownloadError) -> URL {
            guard let url = request.url else { throw DownloadError(.invalidRequest, ErrorPhrase(.noURL)) }
            guard request.httpMethod ?? "GET" == "GET", request.httpBody == nil, request.httpBodyStream == nil else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.notAPlainGet))
            }
            return url
        }
    }
#endif
