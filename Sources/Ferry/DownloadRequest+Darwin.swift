#if canImport(Darwin)
    public import FerryCore
    public import Foundation

    extension DownloadRequest {
        /// Takes URL, headers and rules for networks from a request of Foundation, for a download into a directory. Throws
        /// `invalidRequest` for another method than GET, for a body, and without a URL.
        public init(_ request: URLRequest, into directory: URL) throws(DownloadError) {
            guard let url = request.url else { throw DownloadError(.invalidRequest, ErrorPhrase(.noURL)) }
            guard request.httpMethod ?? "GET" == "GET", request.httpBody == nil, request.httpBodyStream == nil else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.notAPlainGet))
            }
            try self.init(from: url, into: directory)
            for (name, value) in request.allHTTPHeaderFields ?? [:] { try setHeader(name, to: value) }
            if !request.allowsCellularAccess || !request.allowsExpensiveNetworkAccess { network.allowsMetered = false }
            if !request.allowsConstrainedNetworkAccess { network.allowsConstrained = false }
        }
    }
#endif
