import Ferry
import FerryAPI
import FerryCore
import HTTPTypes
import HummingbirdCore
import NIOCore

extension GatewayResponder {
    /// Serves a file while it is downloaded: whole, or the range that the client asks for.
    ///
    /// - Parameter fields: The fields of the response, with its `ETag`.
    func serve(_ visit: Visit, _ file: GatewayFile, _ fields: HTTPFields) async throws -> Response {
        var fields = fields
        fields[.acceptRanges] = "bytes"
        if fields[.contentType] == nil { fields[.contentType] = "application/octet-stream" }
        if visit.http.method == .head, let size = file.size {
            fields[.contentLength] = String(size)
            return Response(status: .ok, headers: fields)
        }
        guard let seat = seats.take() else { throw Problem(.busy, "Too many files are read at once. Try again.") }
        let holding = try await cache.download(file, seat)
        let content = holding.download.content
        // While the file is fetched, the connection is watched: a client that has gone ends its reader, also one that
        // waits.
        var watched: Request?
        if case .completed = holding.download.status.state {
        } else {
            fields[.connection] = "close"
            watched = visit.http
        }
        // Before the head of the response, so that a failure is not a broken body.
        let size = try await content.description().size ?? file.size
        guard let size else {
            return Response(status: .ok, headers: fields, body: Self.body(holding, nil, size: nil, watching: watched))
        }
        if visit.http.method == .head {
            fields[.contentLength] = String(size)
            return Response(status: .ok, headers: fields)
        }
        // apt knows files by their date.
        let isOther =
            visit.http.headers[.ifRange].map { asked in
                ![fields[.eTag], fields[.lastModified]].contains { $0?.hasSameBytes(as: asked) == true }
            } ?? false
        switch RangeField(isOther ? nil : visit.http.headers[.range], length: size) {
        case .whole:
            return Response(status: .ok, headers: fields, body: Self.body(holding, nil, size: size, watching: watched))
        case .part(let range):
            fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            return Response(
                status: .partialContent, headers: fields, body: Self.body(holding, range, size: size, watching: watched)
            )
        case .unsatisfiable:
            fields[.contentRange] = "bytes */\(size)"
            fields[.contentLength] = "0"
            return Response(status: .rangeNotSatisfiable, headers: fields)
        }
    }

    /// The body of a response: a range, or with `nil` the whole file.
    private static func body(
        _ holding: GatewayCache.Holding, _ range: Range<Int64>?, size: Int64?, watching request: Request?
    ) -> ResponseBody {
        ResponseBody(contentLength: (range.map { Int64($0.count) } ?? size).map { Int($0) }) { writer in
            if let request {
                // allow(single-place): nothing is read of the body but its end.
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    try await write(range, of: holding, size: size, to: &writer)
                }
            } else {
                try await write(range, of: holding, size: size, to: &writer)
            }
            try await writer.finish(nil)
        }
    }

    /// Writes a range. What has the end of the file is written when the download has ended well.
    ///
    /// Concurrent, as `ResponseBodyWriter` is.
    @concurrent private static func write(
        _ range: Range<Int64>?, of holding: GatewayCache.Holding, size: Int64?, to writer: inout any ResponseBodyWriter
    ) async throws {
        let content = holding.download.content
        var parts = [range]
        if let range, range.upperBound == size {
            let end = max(range.lowerBound, range.upperBound - heldBack)
            parts = [range.lowerBound..<end, end..<range.upperBound]
        }
        for part in parts {
            // The library itself holds back the end of a whole file.
            if let part, part.upperBound == size { _ = try await holding.download.finished() }
            for try await piece in content.bytes(in: part) { try await writer.write(ByteBuffer(bytes: piece)) }
        }
    }

    /// The end of a range that is held back until the file has been compared with its digest.
    private static let heldBack: Int64 = 64 << 10
}
