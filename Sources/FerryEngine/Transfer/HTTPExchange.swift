import FerryCore
import NIOCore
import Synchronization

/// One HTTP exchange, shared by the fetch and the connection's handler.
final class HTTPExchange: Sendable {
    /// The internal header field that carries the exchange's number to its connection; removed before the request is
    /// sent.
    static let fieldName = "ferry-exchange"

    /// The request target, byte for byte: `/path?query`, or the absolute URL for a proxy.
    let target: String
    /// Whether the request may only be sent to a peer with a public address.
    let needsPublicPeer: Bool
    /// Receives the opening and the end of its connection.
    let trace: TransferTrace?
    /// Receives the system's information about its connection.
    let observe: (@Sendable (SocketFacts) -> Void)?
    private let refused = Mutex<String?>(nil)
    private let flags = Atomic<UInt8>(0)
    private let length = Atomic<Int64>(0)
    private let leftover = Mutex<[ByteBuffer]>([])

    private enum Flag {
        static let reused: UInt8 = 1
        static let answered: UInt8 = 2
        static let sent: UInt8 = 4
    }

    init(
        target: String, needsPublicPeer: Bool, trace: TransferTrace? = nil,
        observe: (@Sendable (SocketFacts) -> Void)? = nil
    ) {
        self.target = target
        self.trace = trace
        self.observe = observe
        self.needsPublicPeer = needsPublicPeer
    }

    /// The peer address that was refused; `nil` if none was.
    var refusedPeer: String? { refused.withLock(\.self) }

    func refuse(_ peer: String) { refused.withLock { $0 = peer } }

    /// Whether the request was sent on a connection that had served another request before.
    var isReused: Bool { flags.load(ordering: .acquiring) & Flag.reused != 0 }
    /// Whether the request never reached a connection's handlers, so that nothing was written.
    var isUnsent: Bool { flags.load(ordering: .acquiring) & Flag.sent == 0 }
    /// Whether at least one byte of the response has arrived.
    var isAnswered: Bool { flags.load(ordering: .acquiring) & Flag.answered != 0 }

    func wentOut(onReusedConnection isReused: Bool) {
        flags.bitwiseOr(isReused ? Flag.reused | Flag.sent : Flag.sent, ordering: .releasing)
    }

    /// The length that frames the response's body; 0 if it is not known or there is none.
    var bodyLength: Int64 {
        get { length.load(ordering: .relaxed) }
        set { length.store(newValue, ordering: .relaxed) }
    }

    func answerBegan() {
        flags.bitwiseOr(Flag.answered, ordering: .releasing)
    }

    /// Stores bytes that arrived without a read request, possibly the last ones before the connection ends.
    func leave(_ bytes: ByteBuffer) { leftover.withLock { $0.append(bytes) } }

    /// Drops the stored bytes, because they were delivered after all.
    func forgetLeftover() { leftover.withLock { $0.removeAll() } }

    /// Removes and returns the first of the stored buffers.
    func takeLeftover() -> ByteBuffer? { leftover.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}

/// The exchanges in progress, by number.
final class HTTPExchangeRegistry: Sendable {
    private struct Contents {
        var last: UInt64 = 0
        var exchanges: [UInt64: HTTPExchange] = [:]
    }
    private let contents = Mutex(Contents())

    /// Registers an exchange and returns its number, the value for ``HTTPExchange/fieldName``.
    func add(_ exchange: HTTPExchange) -> UInt64 {
        contents.withLock { contents in
            contents.last += 1
            contents.exchanges[contents.last] = exchange
            return contents.last
        }
    }

    func remove(_ number: UInt64) {
        contents.withLock { _ = $0.exchanges.removeValue(forKey: number) }
    }

    subscript(number: UInt64) -> HTTPExchange? {
        contents.withLock { $0.exchanges[number] }
    }
}
