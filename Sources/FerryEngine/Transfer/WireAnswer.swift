import AsyncHTTPClient
import FerryCore
import HTTPTypes
import NIOCore
import NIOHTTP1

/// One response of a connection: its parsed head and its unread body.
struct WireAnswer: Sendable {
    let head: ResponseHead
    let body: HTTPClientResponse.Body
    let framing: Framing
    let exchange: HTTPExchange
    /// Retained because its connections close when it is released.
    let client: RouteClient

    /// What ends the body (RFC 9112 §6.3).
    enum Framing: Sendable, Hashable {
        case length(Int64)
        case chunked
        /// The end of the connection.
        case connection
    }

    /// The length that frames the body; `nil` if the body is chunked or ends with the connection.
    var declaredLength: Int64? {
        guard case .length(let length) = framing else { return nil }
        return length
    }

    /// The maximum length of an unwanted body that is read so that its connection can be reused.
    static let discardLimit: Int64 = 64 * 1024
    /// The time limit for reading such a body.
    static let discardTime = Duration.milliseconds(500)

    init(_ response: HTTPClientResponse, to exchange: HTTPExchange, via client: RouteClient, hasBody: Bool = true) {
        self.exchange = exchange
        self.client = client
        var fields = HTTPFields()
        // Parsed leniently, because values with control bytes are checked later.
        fields.replaceSubrange(
            0..<0,
            with: response.headers.compactMap { name, value in
                HTTPField.Name(name).map { HTTPField(name: $0, lenientValue: value.utf8) }
            })
        head = ResponseHead(status: Int(response.status.code), headers: fields)
        body = response.body
        if !hasBody || response.status == .noContent || response.status == .notModified {
            framing = .length(0)
        } else if let encoding = fields[.transferEncoding] {
            // Only the last coding can be `chunked`; after any other one, the connection ends the body.
            let last = encoding.split(at: ",").last.map { String($0).trimmedText.asciiLowercased }
            framing = last == "chunked" ? .chunked : .connection
        } else {
            framing = fields[values: .contentLength].first.flatMap { Int64($0) }.map(Framing.length) ?? .connection
        }
        exchange.bodyLength = declaredLength ?? 0
    }

    /// Reads an unwanted body if it is short and arrives quickly, so that its connection can be reused.
    ///
    /// Otherwise the connection closes when this response is released.
    func discardBody() async {
        if declaredLength == 0 {
            _ = await Self.drain(body)
            return
        }
        guard framing != .connection, declaredLength ?? 0 <= Self.discardLimit else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [body] in await Self.drain(body) }
            group.addTask { try? await Task.sleep(for: Self.discardTime) }
            await group.next()
            group.cancelAll()
        }
    }

    private static func drain(_ body: HTTPClientResponse.Body) async {
        var left = discardLimit
        var iterator = body.makeAsyncIterator()
        do {
            while left >= 0, let chunk = try await iterator.next(isolation: #isolation) {
                left -= Int64(chunk.readableBytes)
            }
        } catch {
            // The connection is already closed.
        }
    }
}
