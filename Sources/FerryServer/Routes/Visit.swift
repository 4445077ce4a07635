import Ferry
import FerryAPI
import FerryCore
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// One request to the API that was let in.
struct Visit: Sendable {
    let route: Route
    /// What stands in the path for `{id}` or `{session}`.
    let identifier: String
    let query: Substring?
    let request: Request
    let isLocal: Bool
    /// The session that it is about, by its header.
    let session: String

    /// Bodies are at most this large, in bytes.
    static let mostBytes = 16 << 20
    /// JSON nests at most so deep.
    static let mostDepth = 32

    /// Before rows are read for an answer: what makes them comparable, for a client that asks for that.
    func revision() -> UInt64? {
        guard let name = HTTPField.Name(FerryAPI.handlesHeader), request.headers[name] == "1" else { return nil }
        return DownloadManager.nextRevision()
    }

    var id: DownloadID { DownloadID(rawValue: identifier) }

    /// The query; names that are not among these are refused.
    func items(_ known: Set<String>) throws(Problem) -> QueryItems { try QueryItems(query, known: known) }

    /// The body as a shape.
    func body<Body: Decodable>(_ type: Body.Type) async throws -> Body {
        let data = try await bytes()
        guard APICoding.isShallow(data, depth: Self.mostDepth) else {
            throw Problem(.badRequest, "The body nests deeper than \(Self.mostDepth).")
        }
        do { return try APICoding.decode(type, from: data) } catch { throw Problem(decoding: error) }
    }

    /// The same; `nil` for an empty body.
    func bodyIfPresent<Body: Decodable>(_ type: Body.Type) async throws -> Body? {
        let data = try await bytes()
        guard !data.isEmpty else { return nil }
        guard APICoding.isShallow(data, depth: Self.mostDepth) else {
            throw Problem(.badRequest, "The body nests deeper than \(Self.mostDepth).")
        }
        do { return try APICoding.decode(type, from: data) } catch { throw Problem(decoding: error) }
    }

    private func bytes() async throws -> Data {
        do {
            let buffer = try await request.body.collect(upTo: Self.mostBytes)
            return Data(buffer.readableBytesView)
        } catch is NIOTooManyBytesError {
            throw Problem(.bodyTooLarge, "At most \(Self.mostBytes) bytes.")
        }
    }

    /// A session by name in the query; `nil` for all of them.
    func session(in items: QueryItems) throws -> String? {
        guard let named = items.text("session") else { return session }
        if named == FerryAPI.everySession { return nil }
        try SessionBook.check(named)
        return named
    }
}
