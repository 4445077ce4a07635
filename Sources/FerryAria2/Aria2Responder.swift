import FerryAPI
import FerryCore
import FerryServer
import HTTPTypes
import HummingbirdCore
import NIOCore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Responds to requests to aria2's interface: `POST /jsonrpc`, WebSockets on `/jsonrpc`, and `POST /rpc`.
final class Aria2Responder: Door {
    static let doorName = "aria2"
    /// The maximum size of a message, as in aria2.
    static let mostBytes = 2 << 20
    /// The name that identifies connections with the token.
    static let tokenName = "aria2"
    static let jsonPath = "/jsonrpc"
    static let xmlPath = "/rpc"

    let name = Aria2Responder.doorName
    let port: Int
    let option = "--aria2-rpc"
    let rpc: Aria2RPC
    let notifier = Aria2Notifier()
    /// Whether a WebSocket receives notifications before it has presented the token. Only set if the peer is known to be this
    /// user.
    let notifiesUnknown: Bool
    private let access: Mutex<Aria2Access>

    init(_ rpc: Aria2RPC, allowedOrigins: [String], port: Int) {
        self.rpc = rpc
        self.port = port
        notifiesUnknown = rpc.host.knowsPeers
        access = Mutex(Aria2Access(port: port, allowedOrigins: allowedOrigins.map { $0.lowercased() }))
    }

    func listens(on port: Int) {
        access.withLock { $0.port = port }
        rpc.port.set(port)
    }

    func upgrade() -> (any ChannelInboundHandler & RemovableChannelHandler)? { WebSocketUpgrade(self) }

    func heard(_ event: DownloadEvent) { notifier.tell(event) }

    func announcement(port: Int, showsSecret: Bool) -> String {
        let token = showsSecret ? rpc.secret.made.map { " token:\($0)" } : nil
        return "aria2 http://127.0.0.1:\(port)\(Self.jsonPath)" + (token ?? "")
    }

    func verdict(_ request: AccessPolicy.RequestOrigin) -> Aria2Access.Verdict {
        access.withLock { $0 }.verdict(request)
    }

    func respond(to request: Request, on channel: any Channel) async -> Response {
        var response: Response
        switch verdict(AccessPolicy.RequestOrigin(request)) {
        case .refused(let status): response = Self.empty(status)
        case .allowed(let origin):
            do { response = try await answer(request, channel) } catch {
                response = Self.empty((error as? Problem)?.status ?? 500)
            }
            if let origin { Self.share(&response, with: origin, request) }
        }
        return response
    }

    private func answer(_ request: Request, _ channel: any Channel) async throws -> Response {
        let path = request.uri.string.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        switch (request.method, String(Substring(path))) {
        case (.options, _): return Self.empty(200)
        case (.post, Self.jsonPath):
            let reply = await rpc.answer(try await body(of: request))
            await note(reply.visit, on: channel)
            return Self.json(reply.text, status: reply.status)
        case (.post, Self.xmlPath):
            guard let call = XMLRPC.call(in: try await body(of: request)) else { return Self.empty(400) }
            var visit = Aria2Visit(.xml)
            let result = await rpc.result(of: .success(call), &visit)
            await note(visit, on: channel)
            return Self.body(Data(XMLRPC.response(result).utf8), type: "text/xml")
        // aria2 would read the call from the query, but a token in a query ends up in histories and logs.
        case (.get, Self.jsonPath):
            let refusal = JSONRPC.response(.null, .failure(JSONRPC.invalidRequest))
            return Self.json(try JSONCoding.encode(refusal), status: 400)
        default: return Self.empty(404)
        }
    }

    private func body(of request: Request) async throws(Problem) -> Data {
        try await rpc.host.body(of: request, most: Self.mostBytes)
    }

    /// Marks a connection that has presented the token. Delays the response to a wrong token.
    func note(_ visit: Aria2Visit, on channel: any Channel) async {
        if visit.isRefused { try? await Task.sleep(for: rpc.host.wrongTokenDelay) }
        if visit.isKnown { rpc.host.identify(channel, as: Self.tokenName) }
    }

    private static func json(_ text: Data, status: Int) -> Response {
        body(text, type: "application/json-rpc", status: .init(code: status))
    }

    private static func body(_ data: Data, type: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
    }

    private static func empty(_ status: Int) -> Response {
        Response(status: .init(code: status), headers: [.contentLength: "0"])
    }

    /// Allows a page of an allowed origin to read the response (Fetch §3.2) and, if the request is a preflight, to send further
    /// requests.
    private static func share(_ response: inout Response, with origin: String, _ request: Request) {
        func set(_ name: String, _ value: String) {
            if let name = HTTPField.Name(name) { response.headers[name] = value }
        }
        set("Access-Control-Allow-Origin", origin)
        set("Vary", "Origin")
        guard request.method == .options else { return }
        set("Access-Control-Allow-Methods", "POST, GET, OPTIONS")
        set("Access-Control-Allow-Headers", "Content-Type")
        set("Access-Control-Max-Age", "1728000")
        if let name = HTTPField.Name("Access-Control-Request-Private-Network"), request.headers[name] == "true" {
            set("Access-Control-Allow-Private-Network", "true")
        }
    }
}
