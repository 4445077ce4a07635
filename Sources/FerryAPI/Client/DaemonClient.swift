import AsyncHTTPClient
package import struct Foundation.Data
package import struct Foundation.URL
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix

/// Sends requests to the daemon over its Unix socket, for one session.
///
/// Knows nothing of starting or re-joining it. Requests have no limit of time: what is asked may take long, and a daemon
/// that dies closes its connections. Who may open the socket has its user's rights.
package struct DaemonClient: Sendable {
    /// The path of the socket.
    package let socket: String
    /// The session that requests are about.
    package let session: String
    /// Whether answers hold what a handle of the library shows.
    private let wantsHandles: Bool

    /// One for the process, never shut down: connections that nobody uses close by themselves.
    private static let http: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.httpVersion = .http1Only
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.idleTimeout = .seconds(10)
        configuration.connectionPool.retryConnectionEstablishment = false
        // Event streams and requests that wait each have one.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
        return HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
    }()

    /// The largest answer that is read: a page of the list has about 1 MiB.
    private static let mostBytes = 256 << 20

    package init(socket: String, session: String, wantsHandles: Bool = false) {
        self.socket = socket
        self.session = session
        self.wantsHandles = wantsHandles
    }

    // MARK: Asking

    /// The first exchange. Throws `otherVersion` when the daemon and this program have no version in common.
    package func greet() async throws(DaemonFailure) -> Greeting {
        let greeting = try await send(DaemonCall(.greeting), as: Greeting.self)
        guard greeting.minimum <= FerryAPI.version, greeting.api >= FerryAPI.minimumVersion else {
            throw .otherVersion("\(greeting.version), API \(greeting.api)")
        }
        return greeting
    }

    /// The answer of a request, as this shape.
    package func send<Answer: Decodable>(_ call: DaemonCall, as type: Answer.Type) async throws(DaemonFailure) -> Answer
    {
        let data = try await send(call)
        do {
            // Some answers have no body.
            return try APICoding.decode(type, from: data.isEmpty ? Data("{}".utf8) : data)
        } catch { throw .unreadable("\(call.route): \(error)") }
    }

    /// The body of the answer.
    @discardableResult
    package func send(_ call: DaemonCall) async throws(DaemonFailure) -> Data {
        let response = try await head(call)
        let body = try await body(of: response)
        guard (200..<300).contains(response.status.code) else {
            throw Self.failure(status: Int(response.status.code), body)
        }
        return body
    }

    /// Follows the daemon's events, from those behind `id` on; with `nil` first how everything stands.
    package func events(after id: String?, of named: String? = nil) async throws(DaemonFailure) -> EventReader {
        var fields = HTTPHeaders([("Accept", "text/event-stream")])
        if let id { fields.add(name: "Last-Event-ID", value: id) }
        let response = try await head(DaemonCall(.events, query: named.map { [("session", $0)] } ?? []), fields)
        guard response.status == .ok else {
            throw Self.failure(status: Int(response.status.code), try await body(of: response))
        }
        return EventReader(response.body)
    }

    private func head(_ call: DaemonCall, _ fields: HTTPHeaders = [:]) async throws(DaemonFailure) -> HTTPClientResponse
    {
        guard let url = URL(httpURLWithSocketPath: socket, uri: call.target(session: session)) else {
            throw .unreachable("\(socket) cannot be the path of a socket")
        }
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = HTTPMethod(rawValue: call.route.method.rawValue)
        request.headers = fields
        request.headers.replaceOrAdd(name: "Host", value: "localhost")
        request.headers.add(name: FerryAPI.versionHeader, value: "\(FerryAPI.version)")
        request.headers.add(name: FerryAPI.sessionHeader, value: session)
        if wantsHandles { request.headers.add(name: FerryAPI.handlesHeader, value: "1") }
        if call.route.method != .get {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: call.body ?? Data("{}".utf8)))
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

    private static func failure(status: Int, _ body: Data) -> DaemonFailure {
        guard let problem = try? APICoding.decode(Problem.self, from: body) else {
            return .unreadable("status \(status)")
        }
        switch Problem.Code(rawValue: problem.code) {
        case .versionMismatch: return .otherVersion(problem.detail ?? problem.title)
        // It closes its doors: another one may come.
        case .shuttingDown: return .unreachable(problem.detail ?? problem.title)
        default: return .refused(problem.downloadError)
        }
    }
}
