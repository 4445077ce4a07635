import Ferry
import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore
import NIOCore
import Synchronization

/// Limits the number of responses that read the content of downloads.
public final class ContentSeats: Sendable {
    /// A permit to read, which is returned when the object is released.
    public final class Seat: Sendable {
        private let seats: ContentSeats
        private let claimant: Claimant
        fileprivate init(_ seats: ContentSeats, _ claimant: Claimant) {
            (self.seats, self.claimant) = (seats, claimant)
        }
        deinit { seats.taken.withLock { $0.giveBack(1, of: claimant) } }
    }

    private let taken: Mutex<Portions>

    init(most: Int) { taken = Mutex(Portions(most, ofOther: most / 4)) }

    var hasRoom: Bool { taken.withLock { $0.hasRoom } }
    var held: Int { taken.withLock { $0.held } }

    /// Returns a permit; `nil` if no permit is available to this claimant.
    public func take(for claimant: Claimant = .own) -> Seat? {
        taken.withLock { $0.take(1, for: claimant) } ? Seat(self, claimant) : nil
    }
}

/// Reading the file of a download, even while it is being downloaded.
extension API {
    /// The time that a request waits for the size of a file; a download may be far back in the queue.
    private static let longestWait: Duration = .seconds(300)

    /// The query item of a link to the content.
    static let codeItem = "code"

    /// Creates a link from which a browser can save the file. Throws if the file of a completed download is missing or changed,
    /// because a browser would not show the reason.
    func makeContentLink(_ call: APIRequest) async throws -> Response {
        _ = try await readIfPresent(NothingBody.self, of: call)
        let download = try await download(call.id, for: call)
        if case .completed = download.status.state { _ = try await Self.description(of: download.content) }
        let id = download.id
        let code = links.make(for: id, token: call.token, at: .sinceStart)
        let path = "\(Route.content.path(id: id.rawValue))?\(Self.codeItem)=\(code)"
        return try Answer.json(ContentLinkBody(path: path), status: .created)
    }

    /// Returns the grant of the link in a request for the content of a download; `nil` if the request has no valid link.
    func grant(ofLink query: Substring?, to identifier: String) -> ContentLinks.Grant? {
        guard let query, let items = try? QueryItems(query, known: [Self.codeItem]),
            let code = items.text(Self.codeItem),
            let grant = links.grant(of: code, for: DownloadID(rawValue: identifier), at: .sinceStart)
        else { return nil }
        return grant.token.map { tokens.contains($0) } ?? true ? grant : nil
    }

    func content(_ call: APIRequest) async throws -> Response {
        _ = try call.items([Self.codeItem])
        let download = try await download(call.id, for: call)
        guard let seat = seats.take() else { throw Problem(.busy, "Too many files are being read. Try again.") }
        let content = download.content
        let description = try await Self.description(of: content)
        var headers = Self.fields(of: description, named: download.status.name)
        // No browser requests handles over the Unix socket, so the original media type is safe.
        if call.isLocal, call.wantsHandles, let name = HTTPField.Name(FerryAPI.bootHeader) {
            headers[name] = broadcaster.boot
            headers[.contentType] = description.mediaType
        }
        // The connection is watched while the response is written, and closes after it.
        headers[.connection] = "close"
        var range: Range<Int64>?
        var status = HTTPResponse.Status.ok
        if let size = description.size {
            headers[.acceptRanges] = "bytes"
            headers[.contentLength] = String(size)
            if call.http.method == .get {
                switch Self.range(of: call.http.headers, description, size) {
                case .whole: break
                case .part(let part):
                    (status, range) = (.partialContent, part)
                    headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
                    headers[.contentLength] = String(part.upperBound - part.lowerBound)
                case .unsatisfiable:
                    var answer = Answer.problem(
                        Problem(.rangeNotSatisfiable, "The file has \(size) bytes."),
                        at: Route.content.path(id: download.id.rawValue))
                    answer.headers[.contentRange] = "bytes */\(size)"
                    answer.headers[.acceptRanges] = "bytes"
                    return answer
                }
            }
        }
        if call.http.method == .head { return Response(status: status, headers: headers) }
        let bytes = content.bytes(in: range, of: description)
        return Response(
            status: status, headers: headers,
            body: ResponseBody { writer in
                defer { withExtendedLifetime(seat) {} }
                // If the client disconnects, the reader ends, even while it is waiting.
                // allow(single-place): only the end of the body is read.
                try await call.http.body.consumeWithCancellationOnInboundClose { _ in
                    for try await piece in bytes { try await writer.write(ByteBuffer(bytes: piece)) }
                }
                try await writer.finish(nil)
            })
    }

    private static func description(of content: DownloadContent) async throws -> DownloadContent.Description {
        try await withThrowingTaskGroup(of: DownloadContent.Description?.self) { group in
            group.addTask { try await content.description() }
            group.addTask {
                try await Task.sleep(for: longestWait)
                return nil
            }
            defer { group.cancelAll() }
            guard let description = try await group.next() ?? nil else {
                throw Problem(.busy, "The download has not begun yet. Try again.")
            }
            return description
        }
    }

    /// Applies Range and If-Range. Only a strong entity tag can match If-Range.
    private static func range(
        of fields: HTTPFields, _ description: DownloadContent.Description, _ size: Int64
    ) -> RangeField {
        if let condition = fields[.ifRange], condition != description.entityTag { return .whole }
        return RangeField(fields[.range], length: size)
    }

    /// The fields of a representation. Its bytes, name and media type come from a foreign server, and the page has the same origin,
    /// so no browser may show or run it here.
    private static func fields(of description: DownloadContent.Description, named name: String) -> HTTPFields {
        var fields: HTTPFields = [
            .contentType: safeType(description.mediaType),
            .contentDisposition: "attachment; filename*=UTF-8''\(Route.encoded(name))",
            .contentSecurityPolicy: "sandbox; default-src 'none'; frame-ancestors 'none'",
            .xContentTypeOptions: "nosniff",
        ]
        fields[.eTag] = description.entityTag
        fields[.lastModified] = description.lastModified.flatMap { HTTPDate.parse($0) }.map { HTTPDate.format($0) }
        return fields
    }

    /// The media type without parameters if it is a picture, sound or video; otherwise `application/octet-stream`.
    static func safeType(_ type: String?) -> String {
        guard let type = type.flatMap({ MediaType($0) }), ["audio", "image", "video"].contains(type.type),
            !type.subtype.utf8.hasSuffix("xml")
        else { return "application/octet-stream" }
        return type.description
    }
}
