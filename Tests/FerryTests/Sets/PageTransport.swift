import HTTPTypes
import NIOCore
import Synchronization

@testable import Ferry
@testable import FerryCore
@testable import FerryEngine

/// A server with the pages that a closure makes.
final class PageTransport: Transport {
    /// Which pages wait until another one has been asked for, and which one that is.
    typealias Order = (held: @Sendable (DownloadURL) -> Bool, until: @Sendable (DownloadURL) -> Bool)

    private let page: @Sendable (DownloadURL) -> (type: String, text: String)
    private let status: @Sendable (DownloadURL) -> Int
    private let count = Mutex(0)
    private let order: Order?
    private let (ends, end) = AsyncStream<Void>.makeStream()

    /// - Parameter status: Of the answer; default 200.
    init(
        order: Order? = nil, status: @escaping @Sendable (DownloadURL) -> Int = { _ in 200 },
        _ page: @escaping @Sendable (DownloadURL) -> (type: String, text: String)
    ) {
        (self.order, self.status, self.page) = (order, status, page)
    }

    var requests: Int { count.withLock { $0 } }

    func fetch(_ request: TransferRequest) async throws(TransferFailure) -> sending TransferResponse {
        count.withLock { $0 += 1 }
        let (type, text) = page(request.url)
        var head = ResponseHead(status: status(request.url))
        head.headers[.contentType] = type
        let rest = Mutex<ByteBuffer?>(ByteBuffer(string: text))
        if order?.until(request.url) == true { end.finish() }
        let ends = order?.held(request.url) == true ? ends : nil
        return TransferResponse(
            head: head, url: request.url,
            body: TransferBody { () async throws(TransferFailure) in
                if let ends { for await _ in ends {} }
                return rest.withLock { $0.take() }
            })
    }

    func shutdown() async {}
}
