#if canImport(Darwin)
    public import FerryCore
    public import Foundation

    extension DownloadRequest {
        /// Takes URL, headers and rules for networks from a request of Foundation, for a download into a directory. Throws
        /// `invalidRequest` for another method than GET, for a body, and without a URL.
        public init(_ request: URLRequest, into directory: URL) throws(DownloadError) {
            try self.init(from: Self.url(of: request), into: directory)
            try take(request)
        }

        /// As the initializer for a directory, for a download to a file.
        public init(_ request: URLRequest, to file: URL) throws(DownloadError) {
            try self.init(from: Self.url(of: request), to: file)
            try take(request)
        }

        private mutating func take(_ request: URLRequest) throws(DownloadError) {
            for (name, value) in request.allHTTPHeaderFields ?? [:] { try setHeader(name, to: value) }
            if !request.allowsCellularAccess || !request.allowsExpensiveNetworkAccess { network.allowsMetered = false }
            if !request.allowsConstrainedNetworkAccess { network.allowsConstrained = false }
        }

        /// Returns the URL of a plain GET.
        private static func url(of request: URLRequest) throws(DownloadError) -> URL {
            guard let url = request.url else { throw DownloadError(.invalidRequest, ErrorPhrase(.noURL)) }
            guard request.httpMethod ?? "GET" == "GET", request.httpBody == nil, request.httpBodyStream == nil else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.notAPlainGet))
            }
            return url
        }
    }
#endif
