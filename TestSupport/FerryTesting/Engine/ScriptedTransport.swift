package import FerryCore
package import FerryEngine
import HTTPTypes
import NIOCore
import Synchronization

/// A correct server in this process: one file, ranges, a strong ETag, and connections that fail where scripted.
package final class ScriptedTransport: Transport {
    private struct State {
        var served: ByteCount = 0
        var requests = 0
        /// The number of body bytes after which each response fails; `nil` for never.
        var breaks: [ByteCount?]
    }
    private let resource: Resource
    private let bytes: FileBytes
    private let piece: Int
    private let before: @Sendable (ByteCount) async -> Void
    private let state: Mutex<State>

    /// - Parameters:
    ///   - piece: The size of body pieces in bytes.
    ///   - breaks: The offsets at which the bodies of the first responses fail, in order.
    ///   - before: Called before each piece with its offset.
    package init(
        _ resource: Resource, piece: Int = 100_000, breaks: [ByteCount?] = [],
        before: @escaping @Sendable (ByteCount) async -> Void = { _ in }
    ) {
        self.resource = resource
        self.piece = max(1, piece)
        self.before = before
        bytes = FileBytes.of(resource)
        state = Mutex(State(breaks: breaks))
    }

    /// The number of body bytes returned.
    package var served: ByteCount { state.withLock { $0.served } }
    package var requests: Int { state.withLock { $0.requests } }

    package func shutdown() async {}

    package func fetch(_ request: TransferRequest) async throws(TransferFailure) -> sending TransferResponse {
        if Task.isCancelled { throw TransferFailure(.cancelled, ErrorPhrase(.stopped)) }
        let limit: ByteCount? = state.withLock { state in
            state.requests += 1
            return state.breaks.isEmpty ? nil : state.breaks.removeFirst()
        }
        var head = ResponseHead(status: 200)
        head.headers[.eTag] = resource.etag
        head.headers[.acceptRanges] = "bytes"
        if let date = resource.lastModified { head.headers[.lastModified] = OriginDate.format(date) }
        var range = 0..<resource.size
        if let tag = request.fields[.ifNoneMatch], tag == resource.etag {
            head.status = 304
            range = 0..<0
        } else if let wanted = request.fields[.range].flatMap(Self.range), wanted.lowerBound < resource.size,
            request.fields[.ifRange].map({ $0 == resource.etag }) ?? true
        {
            range = wanted.clamped(to: range)
            head.status = 206
            head.headers[.contentRange] =
                "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(resource.size)"
        }
        if head.status != 304 { head.headers[.contentLength] = "\(range.upperBound - range.lowerBound)" }
        let cursor = Cursor(
            Cursor.Place(
                position: range.lowerBound, end: range.upperBound, breaksAt: limit.map { range.lowerBound + $0 }))
        return TransferResponse(
            head: head, url: request.url,
            body: TransferBody { [self] () async throws(TransferFailure) -> ByteBuffer? in try await next(cursor) })
    }

    /// The position in one body.
    private final class Cursor: Sendable {
        struct Place {
            var position: ByteCount
            var end: ByteCount
            var breaksAt: ByteCount?
        }
        let place: Mutex<Place>
        init(_ place: Place) { self.place = Mutex(place) }
    }

    private func next(_ cursor: Cursor) async throws(TransferFailure) -> ByteBuffer? {
        if Task.isCancelled { throw TransferFailure(.cancelled, ErrorPhrase(.stopped)) }
        let place = cursor.place.withLock { $0 }
        let (position, breaksAt) = (place.position, place.breaksAt)
        guard position < place.end else { return nil }
        await before(position)
        if Task.isCancelled { throw TransferFailure(.cancelled, ErrorPhrase(.stopped)) }
        if let breaksAt, position >= breaksAt {
            throw TransferFailure(.broken, ErrorPhrase(.bodyTooShort, "script", "1"))
        }
        let until = min(place.end, position + ByteCount(piece), breaksAt ?? .max)
        cursor.place.withLock { $0.position = until }
        state.withLock { $0.served += until - position }
        return ByteBuffer(bytes: bytes.all[Int(position)..<Int(until)])
    }

    /// Parses `bytes=3-7` and `bytes=3-` into a half-open range.
    private static func range(_ text: String) -> Range<ByteCount>? {
        guard text.hasPrefix("bytes=") else { return nil }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ByteCount(ends[0]) else { return nil }
        guard let last = ends[1].isEmpty ? ByteCount.max - 1 : ByteCount(ends[1]), last >= first else { return nil }
        return first..<last + 1
    }
}
