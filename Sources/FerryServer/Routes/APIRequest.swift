import Ferry
import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore
import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One API request that the access policy has allowed.
struct APIRequest: Sendable {
    let route: Route
    /// The path component in place of `{id}` or `{session}`.
    let identifier: String
    let query: Substring?
    let http: Request
    let isLocal: Bool
    /// The identifier of the request's token; `nil` over the Unix socket and on routes that need no token.
    let token: String?
    /// The session that the request's header names; by default `default`.
    let session: String

    /// The maximum nesting depth of JSON bodies.
    static let mostDepth = 32

    /// Whether the client is the library of an app, which needs the properties of handles.
    var wantsHandles: Bool {
        HTTPField.Name(FerryAPI.handlesHeader).map { http.headers[$0] == "1" } ?? false
    }

    /// Whether the request may read and change this session's downloads. Over TCP, a request may use only its own session.
    func mayUse(_ other: String) -> Bool { isLocal || other == session }

    var id: DownloadID { DownloadID(rawValue: identifier) }

    /// Returns the query items. Throws for names that are not in `known`.
    func items(_ known: Set<String>) throws(Problem) -> QueryItems { try QueryItems(query, known: known) }

    /// Decodes the body. Its bytes count against `budget` until it is decoded.
    func body<Body: Decodable>(_ type: Body.Type, _ budget: BodyBudget) async throws -> Body {
        var share = budget.share()
        let bytes = try await bytes(&share)
        return try Self.decode(type, from: bytes)
    }

    /// Decodes the body; `nil` for an empty body.
    func bodyIfPresent<Body: Decodable>(_ type: Body.Type, _ budget: BodyBudget) async throws -> Body? {
        var share = budget.share()
        let data = try await bytes(&share)
        return data.isEmpty ? nil : try Self.decode(type, from: data)
    }

    private static func decode<Body: Decodable>(_ type: Body.Type, from data: Data) throws(Problem) -> Body {
        guard JSONStructure.isShallow(data, depth: mostDepth) else {
            throw Problem(.badRequest, "The body nests deeper than \(mostDepth).")
        }
        do { return try JSONCoding.decode(type, from: data) } catch { throw Problem(decoding: error) }
    }

    private func bytes(_ share: inout BodyBudget.Share) async throws(Problem) -> Data {
        try await Self.bytes(of: http, most: route.mostBytes, &share)
    }

    /// Reads the body of a request up to a limit. A body whose declared length exceeds the limit is not read at all.
    static func bytes(
        of http: Request, most: Int, _ share: inout BodyBudget.Share
    ) async throws(Problem) -> Data {
        let tooLarge = Problem(.bodyTooLarge, "At most \(most) bytes.")
        let declared = http.headers[.contentLength].flatMap { Int($0) }
        if let declared, declared > most { throw tooLarge }
        var data = Data()
        var pieces = http.body.makeAsyncIterator()
        while true {
            let piece: ByteBuffer?
            do { piece = try await pieces.next() } catch { throw Problem(.badRequest, "The body ended too early.") }
            guard let piece else { break }
            guard piece.readableBytes <= most - data.count else { throw tooLarge }
            guard share.take(piece.readableBytes) else {
                throw Problem(.busy, "Too many request bodies in progress. Try again.")
            }
            data.append(contentsOf: piece.readableBytesView)
        }
        if let declared, data.count != declared { throw Problem(.badRequest, "The body ended too early.") }
        return data
    }

    /// Returns the session that the query names; `nil` for all sessions.
    func session(in items: QueryItems) throws -> String? {
        guard let named = items.text("session") else { return session }
        guard isLocal || named == session else {
            throw Problem(
                .forbidden, "Only the session \(session) is available over TCP. Use the Unix socket for others.")
        }
        if named == FerryAPI.everySession { return nil }
        try SessionStore.check(named)
        return named
    }
}
