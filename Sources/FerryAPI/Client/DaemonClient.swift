import AsyncHTTPClient
package import FerryCore
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix

#if canImport(FoundationEssentials)
    import FoundationEssentials
    import struct FoundationEssentials.Data
    import struct FoundationEssentials.Date
    import struct FoundationEssentials.URL
#else
    import Foundation
    import struct Foundation.Data
    import struct Foundation.Date
    import struct Foundation.URL
#endif

/// Sends single requests to the daemon over its Unix socket, on behalf of one session.
///
/// The client neither starts the daemon nor reconnects to it, and has no time limits; `DaemonLink` provides these. Every
/// request, including the first, states the API version, so that a daemon with another version refuses it. Access to the socket
/// gives all rights of its user.
package struct DaemonClient: Sendable {
    /// The path of the Unix socket.
    package let socket: String
    /// The session that requests apply to.
    package let session: String
    /// Whether responses include ``HandleBody``.
    private let wantsHandles: Bool

    /// One client per process, never shut down; idle connections are closed after 10 s.
    private static let http: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.httpVersion = .http1Only
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.idleTimeout = .seconds(10)
        configuration.connectionPool.retryConnectionEstablishment = false
        // Each event stream and each waiting request occupies a connection.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
        return HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
    }()

    /// The maximum size of a response in bytes; a page of the list takes about 1 MiB.
    private static let mostBytes = 256 << 20

    package init(socket: String, session: String, wantsHandles: Bool = false) {
        self.socket = socket
        self.session = session
        self.wantsHandles = wantsHandles
    }

    /// Sends a request and decodes its response; calls `begun` when its head has arrived.
    package func send<Answer: Decodable>(
        _ call: DaemonCall, as type: Answer.Type, begun: @Sendable () -> Void = {}
    ) async throws(DaemonFailure) -> Answer {
        let response = try await head(call)
        begun()
        let body = try await body(of: response)
        guard (200..<300).contains(response.status.code) else { throw Self.failure(response, body) }
        do {
            // Some responses have no body.
            return try JSONCoding.decode(type, from: body.isEmpty ? Data("{}".utf8) : body)
        } catch { throw .unreadable("\(call.route): \(error)") }
    }

    /// Opens the event stream after the event `id`; with `nil`, the stream begins with a snapshot of at most `limit` downloads.
    package func events(
        after id: String?, of named: String? = nil, limit: Int? = nil
    ) async throws(DaemonFailure) -> EventReader {
        var fields = HTTPHeaders([("Accept", "text/event-stream")])
        if let id { fields.add(name: "Last-Event-ID", value: id) }
        let query = [("session", named), ("limit", limit.map(String.init))].compactMap { name, value in
            value.map { (name: name, value: $0) }
        }
        let response = try await head(DaemonCall(.events, query: query), fields)
        guard response.status == .ok else { throw try await failure(response) }
        return EventReader(response.body)
    }

    /// Requests a range of the content of a download, or the whole content if the range is `nil`. If the representation does not
    /// have the entity tag `tag`, the response contains the whole current representation.
    package func content(
        of id: DownloadID, _ range: Range<ByteCount>? = nil, ifRange tag: String? = nil
    ) async throws(DaemonFailure) -> ContentResponse {
        var fields: HTTPHeaders = [:]
        if let range {
            let last = range.upperBound == .max ? "" : "\(range.upperBound - 1)"
            fields.add(name: "Range", value: "bytes=\(range.lowerBound)-\(last)")
            if let tag { fields.add(name: "If-Range", value: tag) }
        }
        let response = try await head(DaemonCall(.content, id: id.rawValue), fields)
        if response.status == .rangeNotSatisfiable { return ContentResponse(response) }
        guard response.status == .ok || response.status == .partialContent else {
            throw try await failure(response)
        }
        return ContentResponse(response)
    }

    /// Requests only the header fields of ``content(of:_:ifRange:)``.
    package func contentHead(of id: DownloadID) async throws(DaemonFailure) -> ContentResponse {
        let response = try await head(DaemonCall(.content, id: id.rawValue), method: .HEAD)
        if response.status == .ok { return ContentResponse(response) }
        // A response to HEAD has no body with the reason.
        return try await content(of: id, 0..<1)
    }

    private func head(
        _ call: DaemonCall, _ fields: HTTPHeaders = [:], method: HTTPMethod? = nil
    ) async throws(DaemonFailure) -> HTTPClientResponse {
        guard let url = URL(httpURLWithSocketPath: socket, uri: call.target(session: session)) else {
            throw .unreachable("\(socket) cannot be the path of a socket")
        }
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = method ?? HTTPMethod(rawValue: call.route.method.rawValue)
        request.headers = fields
        request.headers.replaceOrAdd(name: "Host", value: "localhost")
        request.headers.add(name: FerryAPI.versionHeader, value: "\(FerryAPI.version)")
        request.headers.add(name: FerryAPI.sessionHeader, value: session)
        if wantsHandles { request.headers.add(name: FerryAPI.handlesHeader, value: "1") }
        if call.route.method != .get {
            request.headers.add(name: "Content-Type", value: "application/json")
            do {
                request.body = .bytes(
                    ByteBuffer(bytes: try call.json.map { try JSONCoding.encode($0) } ?? Data("{}".utf8)))
            } catch { throw .unreadable("\(call.route): \(error)") }
        }
        do {
            return try await Self.http.execute(request, deadline: .distantFuture)
        } catch { throw .unreachable(by: error) }
    }

    private func body(of response: HTTPClientResponse) async throws(DaemonFailure) -> Data {
        do {
            return Data(try await response.body.collect(upTo: Self.mostBytes).readableBytesView)
        } catch { throw .unreachable(by: error) }
    }

    /// Reads the body of an error response, and returns the failure that it describes.
    private func failure(_ response: HTTPClientResponse) async throws(DaemonFailure) -> DaemonFailure {
        let body = try await body(of: response)
        return Self.failure(response, body)
    }

    private static func failure(_ response: HTTPClientResponse, _ body: Data) -> DaemonFailure {
        guard let problem = try? JSONCoding.decode(Problem.self, from: body) else {
            return .unreadable("status \(response.status.code)")
        }
        switch Problem.Code(rawValue: problem.code) {
        case .versionMismatch: return .otherVersion(problem.detail ?? problem.title)
        // A daemon that is shutting down may be replaced by another one.
        case .shuttingDown: return .unreachable(problem.detail ?? problem.title)
        default:
            var error = problem.downloadError
            let wish = response.headers.first(name: "Retry-After").flatMap { RetryAfter.delay($0, now: Date()) }
            if let wish { error.recovery = .transient(retryAfter: wish) }
            return .refused(error)
        }
    }
}

/// A request to the daemon: route, identifier, query and body.
package struct DaemonCall: Sendable {
    package var route: Route
    /// The identifier in the path, of a download, token or session.
    package var id: String
    /// Names and values of the query, not encoded.
    package var query: [(name: String, value: String)]
    /// The body; `nil` for `{}`.
    package var json: (any Encodable & Sendable)?

    package init(
        _ route: Route, id: String = "", query: [(name: String, value: String)] = [],
        json: (any Encodable & Sendable)? = nil
    ) {
        self.route = route
        self.id = id
        self.query = query
        self.json = json
    }

    /// The downloads that match a filter. One response contains all of them, because rows that move between two pages would be
    /// missed or repeated.
    package static func list(
        _ filter: [(name: String, value: String)] = [], offset: Int = 0, limit: Int = .max
    ) -> DaemonCall {
        let page = [("offset", min(offset, ListQuery.most)), ("limit", min(limit, ListQuery.most))]
        return DaemonCall(.list, query: filter + page.map { ($0, "\($1)") })
    }

    /// Returns path and query as in the request line.
    func target(session: String) -> String {
        let pairs = query.map { Route.encoded($0.name) + "=" + Route.encoded($0.value) }
        return route.path(id: id, session: session) + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }
}

/// Why a request to the daemon returned no usable response.
package enum DaemonFailure: Error, Sendable, Hashable {
    /// The connection failed or was lost; whether the request was executed is unknown. `isAbsent` states that no process listens on
    /// the socket, so that the request was not executed.
    case unreachable(String, isAbsent: Bool = false)
    /// The daemon responded with an error.
    case refused(DownloadError)
    /// The daemon has a different API version.
    case otherVersion(String)
    /// The response cannot be decoded, perhaps because the daemon is newer.
    case unreadable(String)
}

extension DaemonFailure {
    /// Wraps an error of the connection.
    static func unreachable(by error: any Error) -> DaemonFailure {
        switch error {
        case let error as IOError:
            .unreachable(
                String(cString: strerror(error.errnoCode)),
                isAbsent: [ENOENT, ECONNREFUSED].contains(error.errnoCode))
        case let error as HTTPClientError: .unreachable(error.shortDescription)
        default: .unreachable("\(error)")
        }
    }
}
