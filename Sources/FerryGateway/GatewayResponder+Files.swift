import Ferry
import FerryAPI
import FerryCore
import FerryServer
import HTTPTypes
import HummingbirdCore
import NIOCore

extension GatewayResponder {
    /// Serves a file, or the range that the client requests, while it is being downloaded.
    ///
    /// - Parameter fields: The fields of the response, with its `ETag`.
    /// - Parameter match: Another download with the bytes of the file.
    func serve(
        _ visit: Visit, _ file: GatewayFile, _ match: Download?, _ fields: HTTPFields
    ) async throws -> Response {
        var fields = fields
        fields[.acceptRanges] = "bytes"
        if fields[.contentType] == nil { fields[.contentType] = "application/octet-stream" }
        if visit.http.method == .head, let size = file.size {
            fields[.contentLength] = String(size)
            return Response(status: .ok, headers: fields)
        }
        guard let seat = host.seats.take(for: visit.claimant) else {
            throw Problem(.busy, "Too many files are being read. Try again.")
        }
        let holding = try await cache.download(file, match, seat)
        visit.note.reads(holding.origin)
        // The connection is watched while the file is being fetched, so that the reader of a disconnected client ends even if
        // it is waiting.
        var watched: Request?
        if case .completed = holding.download.status.state {
        } else {
            fields[.connection] = "close"
            watched = visit.http
        }
        // Determined before the head of the response is sent, so that a failure does not truncate a body.
        let size: Int64?
        do {
            // A client that disconnects releases its seat even while the server sends nothing.
            size = try await ClientWatch.run(visit.channel) { [self] in
                let size = try await described(holding, visit, file)
                return Size(bytes: size)
            }.bytes
        } catch let refusal as Refusal {
            return relay(refusal.answer, visit, prefix: "", isHead: true)
        } catch { throw holding.noRoom ?? error }
        guard let size = size ?? file.size else {
            return Response(status: .ok, headers: fields, body: body(holding, file, nil, size: nil, watching: watched))
        }
        if visit.http.method == .head {
            fields[.contentLength] = String(size)
            return Response(status: .ok, headers: fields)
        }
        // apt identifies a version of a file by its date.
        let isOther =
            visit.http.headers[.ifRange].map { asked in
                ![fields[.eTag], fields[.lastModified]].contains { $0?.hasSameBytes(as: asked) == true }
            } ?? false
        // If the digest of the file was wrong, the bytes that apt has may be wrong, and apt's request does not show from which
        // bytes it resumes.
        let isDoubtful = file.kind == .apt && cache.wasWrong(holding.download.id)
        switch RangeField(isOther || isDoubtful ? nil : visit.http.headers[.range], length: size) {
        case .whole:
            return Response(
                status: .ok, headers: fields, body: body(holding, file, nil, size: size, watching: watched))
        case .part(let range):
            fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            return Response(
                status: .partialContent, headers: fields,
                body: body(holding, file, range, size: size, watching: watched))
        case .unsatisfiable:
            fields[.contentRange] = "bytes */\(size)"
            fields[.contentLength] = "0"
            return Response(status: .rangeNotSatisfiable, headers: fields)
        }
    }

    /// Returns the size of a file once it is known. While the download waits for a retry before its first bytes, sends a
    /// request to the server. An error response is passed to the client, and the download continues independently.
    private func described(
        _ holding: GatewayCache.Holding, _ visit: Visit, _ file: GatewayFile
    ) async throws -> Int64? {
        let download = holding.download
        if case .completed = download.status.state { return try await download.content.description().size }
        return try await withThrowingTaskGroup(of: Size?.self) { group in
            group.addTask {
                let size = try await download.content.description().size
                return Size(bytes: size)
            }
            group.addTask { [self] in
                for await status in download.updates {
                    if status.state.isFinal { break }
                    guard case .waiting(.retry) = status.state, status.progress.completedBytes == 0 else { continue }
                    let answer = try await exchange(visit, .get, file.url)
                    if answer.head.status >= 400 { throw Refusal(answer: answer) }
                    break
                }
                return nil
            }
            defer { group.cancelAll() }
            while let found = try await group.next() {
                if let found { return found.bytes }
            }
            throw CancellationError()
        }
    }

    private struct Size: Sendable { let bytes: Int64? }

    /// Returns the body of a response: a range of the file, or the whole file if the range is `nil`.
    private func body(
        _ holding: GatewayCache.Holding, _ file: GatewayFile, _ range: Range<Int64>?, size: Int64?,
        watching request: Request?
    ) -> ResponseBody {
        ResponseBody(contentLength: (range.map { Int64($0.count) } ?? size).map { Int($0) }) { [self] writer in
            if let request {
                // allow(single-place): only the end of the body is read.
                try await request.body.consumeWithCancellationOnInboundClose { [self] _ in
                    try await write(file, range, of: holding, size: size, to: &writer)
                }
            } else {
                try await write(file, range, of: holding, size: size, to: &writer)
            }
            try await writer.finish(nil)
        }
    }

    /// Writes a range. The part with the end of the file is written only after the download has been completed.
    ///
    /// `@concurrent`, because the methods of `ResponseBodyWriter` do not run on the caller's actor either.
    @concurrent private func write(
        _ file: GatewayFile, _ range: Range<Int64>?, of holding: GatewayCache.Holding, size: Int64?,
        to writer: inout any ResponseBodyWriter
    ) async throws {
        let content = holding.download.content
        var parts = [range]
        // For a file with a digest, the end of the whole file is a separate part too.
        if let size, size > 0, let range = range ?? (file.checksum == nil ? nil : 0..<size), range.upperBound == size {
            let end = max(range.lowerBound, range.upperBound - Self.heldBack)
            parts = [range.lowerBound..<end, end..<range.upperBound].filter { !$0.isEmpty }
        }
        for part in parts {
            // The library itself holds back the end of a whole file.
            if let part, part.upperBound == size { try await finish(file, holding.download) }
            for try await piece in content.bytes(in: part) { try await writer.write(ByteBuffer(bytes: piece)) }
        }
        // Without a size, the body is complete only with the end that follows.
        if size == nil, file.checksum != nil { try await finish(file, holding.download) }
    }

    /// Waits until the download of a file is complete, and reads the file if it is an index. Throws if it was not compared with
    /// its digest, because the request of the download was changed meanwhile.
    private func finish(_ file: GatewayFile, _ download: Download) async throws(DownloadError) {
        _ = try await download.finished()
        guard file.isVerified(by: download.request) else {
            throw DownloadError(.checksum, "the checksum of the download was changed")
        }
        verified(file, download)
    }

    /// The size of the end of a range that is held back until the file has been verified.
    private static let heldBack: Int64 = 64 << 10
}
