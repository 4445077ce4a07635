import NIOCore
import Synchronization

/// One request on the wire, as the fetch and the connection's handler both see it.
final class HTTPExchange: Sendable {
    /// The name under which a request tells its connection which hop it is; it never leaves the process.
    static let fieldName = "ferry-hop"

    /// What goes into the request line, byte for byte: `/path?query`, or the whole URL for a proxy.
    let target: String
    /// It goes out only on a connection whose other end is of the public internet.
    let needsPublicPeer: Bool
    private let refused = Mutex<String?>(nil)
    private let flags = Atomic<UInt8>(0)
    private let leftover = Mutex<[ByteBuffer]>([])

    private enum Flag {
        static let reused: UInt8 = 1
        static let answered: UInt8 = 2
        static let sent: UInt8 = 4
    }

    init(target: String, needsPublicPeer: Bool) {
        self.target = target
        self.needsPublicPeer = needsPublicPeer
    }

    /// The address that it did not go out to; `nil` when it was not refused.
    var refusedPeer: String? { refused.withLock(\.self) }

    func refuse(_ peer: String) { refused.withLock { $0 = peer } }

    /// It went out on a connection that had served a request before.
    var isReused: Bool { flags.load(ordering: .acquiring) & Flag.reused != 0 }
    /// It never reached a connection's handlers: nothing was written.
    var isUnsent: Bool { flags.load(ordering: .acquiring) & Flag.sent == 0 }
    /// At least one byte of an answer has come.
    var isAnswered: Bool { flags.load(ordering: .acquiring) & Flag.answered != 0 }

    func wentOut(onReusedConnection isReused: Bool) {
        flags.bitwiseOr(isReused ? Flag.reused | Flag.sent : Flag.sent, ordering: .releasing)
    }

    func answerBegan() {
        flags.bitwiseOr(Flag.answered, ordering: .releasing)
    }

    /// Bytes of the connection that came last, before its end, and that nobody had asked for.
    func leave(_ bytes: ByteBuffer) { leftover.withLock { $0.append(bytes) } }

    /// What was left has been delivered after all.
    func forgetLeftover() { leftover.withLock { $0.removeAll() } }

    /// Takes the first of what was left.
    func takeLeftover() -> ByteBuffer? { leftover.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}

/// The hops that are under way, by number.
final class HTTPExchangeRegistry: Sendable {
    private struct Contents {
        var last: UInt64 = 0
        var hops: [UInt64: HTTPExchange] = [:]
    }
    private let contents = Mutex(Contents())

    /// Registers a hop; the number is for ``HTTPExchange/fieldName``.
    func add(_ hop: HTTPExchange) -> UInt64 {
        contents.withLock { contents in
            contents.last += 1
            contents.hops[contents.last] = hop
            return contents.last
        }
    }

    func remove(_ number: UInt64) {
        contents.withLock { _ = $0.hops.removeValue(forKey: number) }
    }

    func hop(_ number: UInt64) -> HTTPExchange? {
        contents.withLock { $0.hops[number] }
    }
}
