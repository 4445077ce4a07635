import AsyncHTTPClient
package import FerryCore
import NIOCore
import NIOHTTP1

/// A response with the content of a download, or a part of it.
package struct ContentResponse: Sendable {
    /// The length of the whole representation in bytes; `nil` if it is unknown.
    package let size: ByteCount?
    /// The position of the first byte of the body in the representation.
    package let start: ByteCount
    /// Whether no byte of the requested range exists; the body is empty then.
    package let isBeyondEnd: Bool
    package let mediaType: String?
    package let entityTag: String?
    package let lastModified: String?
    /// The boot identifier of the daemon.
    package let boot: String?
    private let stream: HTTPClientResponse.Body

    init(_ response: HTTPClientResponse) {
        func field(_ name: String) -> String? { response.headers.first(name: name) }
        let range = field("Content-Range").flatMap { ContentRange($0) }
        (start, size) =
            switch range {
            case .part(let part, let total): (part.lowerBound, total)
            case .unsatisfied(let total): (0, total)
            case nil: (0, field("Content-Length").flatMap { ByteCount($0) })
            }
        isBeyondEnd = response.status == .rangeNotSatisfiable
        // If the range is beyond the end, the field states the type of the body, which describes the problem.
        mediaType = isBeyondEnd ? nil : field("Content-Type")
        entityTag = field("ETag")
        lastModified = field("Last-Modified")
        boot = field(FerryAPI.bootHeader)
        stream = response.body
    }

    /// The body, which can be read once.
    package var body: ContentBody { ContentBody(stream.makeAsyncIterator()) }
}

/// The bytes of a ``ContentResponse`` in order. They are received only as fast as they are read.
package final class ContentBody: Sendable {
    // SAFETY: one task at a time calls `next`, as with any iterator.
    nonisolated(unsafe) private var pieces: HTTPClientResponse.Body.AsyncIterator

    fileprivate init(_ pieces: HTTPClientResponse.Body.AsyncIterator) { self.pieces = pieces }

    /// Returns the next piece, `nil` at the end. Throws if the connection ended earlier.
    package func next() async throws(DaemonFailure) -> [UInt8]? {
        do { return try await pieces.next().map { Array($0.readableBytesView) } } catch {
            throw .unreachable(by: error)
        }
    }
}
