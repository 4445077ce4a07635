import Ferry
import FerryAPI
import FerryCore
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// One request to the API that was let in.
struct APIRequest: Sendable {
    let route: Route
    /// What stands in the path for `{id}` or `{session}`.
    let identifier: String
    let query: Substring?
    let request: Request
    let isLocal: Bool
    /// The identifier of the token that it carries; `nil` through the Unix socket, and where none is needed.
    let token: String?
    /// The session that it is about, by its header.
    let session: String

    /// JSON nests at most so deep.
    static let mostDepth = 32

    /// Before rows are read for an answer: what makes them comparable, for a client that asks for that.
    func revision() -> UInt64? {
        guard let name = HTTPField.Name(FerryAPI.handlesHeader), request.headers[name] == "1" else { return nil }
        return DownloadManager.nextRevision()
    }

    /// Whether it may see and change what is of this session: over TCP its own alone.
    func mayUse(_ other: String) -> Bool { isLocal || other == session }

    var id: DownloadID { DownloadID(rawValue: identifier) }

    /// The query; names that are not among these are refused.
    func items(_ known: Set<String>) throws(Problem) -> QueryItems { try QueryItems(query, known: known) }

    /// The body as a shape. `budget` holds its bytes until it is read as one.
    func body<Body: Decodable>(_ type: Body.Type, _ budget: BodyBudget) async throws -> Body {
        var share = budget.share()
        return try Self.decode(type, from: try await bytes(&share))
    }

    /// The same; `nil` for an empty body.
    func bodyIfPresent<Body: Decodable>(_ type: Body.Type, _ budget: BodyBudget) async throws -> Body? {
        var share = budget.share()
        let data = try await bytes(&share)
        return data.isEmpty ? nil : try Self.decode(type, from: data)
    }

    private static func decode<Body: Decodable>(_ type: Body.Type, from data: Data) throws(Problem) -> Body {
        guard APICoding.isShallow(data, depth: mostDepth) else {
            throw Problem(.badRequest, "The body nests deeper than \(mostDepth).")
        }
        do { return try APICoding.decode(type, from: data) } catch { throw Problem(decoding: error) }
    }

    /// Reads the body, up to the most bytes of the route. One that says that it is larger is not begun.
    private func bytes(_ share: inout BodyBudget.Share) async throws(Problem) -> Data {
        let most = route.mostBytes
        let tooLarge = Problem(.bodyTooLarge, "At most \(most) bytes.")
        let declared = request.headers[.contentLength].flatMap { Int($0) }
        if let declared, declared > most { throw tooLarge }
        var data = Data()
        var pieces = request.body.makeAsyncIterator()
        while true {
            let piece: ByteBuffer?
            do { piece = try await pieces.next() } catch { throw Problem(.badRequest, "The body ended too early.") }
            guard let piece else { break }
            guard piece.readableBytes <= most - data.count else { throw tooLarge }
            guard share.take(piece.readableBytes) else {
                throw Problem(.busy, "Other requests hold all the room for bodies. Try again.")
            }
            data.append(contentsOf: piece.readableBytesView)
        }
        if let declared, data.count != declared { throw Problem(.badRequest, "The body ended too early.") }
        return data
    }

    /// A session by name in the query; `nil` for all of them.
    func session(in items: QueryItems) throws -> String? {
        guard let named = items.text("session") else { return session }
        guard isLocal || named == session else {
            throw Problem(.forbidden, "Over TCP there is the session \(session) alone. Use the Unix socket for others.")
        }
        if named == FerryAPI.everySession { return nil }
        try SessionStore.check(named)
        return named
    }
}
