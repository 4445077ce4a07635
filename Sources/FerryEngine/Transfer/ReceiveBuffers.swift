import NIOCore
import Synchronization

/// How large the receive buffers of a transport's connections may be: one budget, shared over the live ones.
///
/// Large buffers are what makes a body cheap (measured for 2 GiB: 2.9 s with the stock 64 KiB, 1.1–1.3 s with 1 MiB;
/// 512 KiB costs no more than that); the budget keeps sixteen connections from costing sixteen times the memory of one.
/// Of each buffer there are up to three: one is filled, one waits, one is being written.
final class ReceiveBuffers: Sendable {
    /// What all connections together may have in receive buffers; that of one or two, so that a long download, which
    /// tries more connections than a short one, needs no more memory.
    static let budget = 1024 * 1024
    static let largest = 512 * 1024
    static let initial = 64 * 1024
    static let smallest = 16 * 1024
    /// Under TLS everything is held twice, as it came and as it reads. NIOSSL collects what it decrypts in a buffer that
    /// doubles when it has no room for one more record of 16 KiB: with this it stays at 256 KiB, even when a read ends
    /// the record that the last one began. That is cheap to copy when the last piece is not yet written, and stays in the
    /// processor's cache (measured, against 512 KiB: copying 15 → 9 % of the samples).
    static let largestEncrypted = 224 * 1024

    private let channels = Atomic<Int>(0)
    private let limit = Atomic<Int>(ReceiveBuffers.largest)

    /// The most bytes for one buffer, whatever the budget; at least ``smallest``.
    var cap: Int {
        get { limit.load(ordering: .relaxed) }
        set { limit.store(min(max(newValue, Self.smallest), Self.largest), ordering: .relaxed) }
    }

    /// How many connections are alive.
    var channelCount: Int { channels.load(ordering: .relaxed) }

    /// The size that no buffer may now exceed.
    func ceiling(isEncrypted: Bool) -> Int {
        let share = Self.budget / max(1, channelCount)
        let largest = isEncrypted ? Self.largestEncrypted : Self.largest
        return max(Self.smallest, min(cap, largest, share))
    }

    func channelOpened() { channels.add(1, ordering: .relaxed) }
    func channelClosed() { channels.subtract(1, ordering: .relaxed) }
}

/// Grows a connection's receive buffer while it is filled, shrinks it while it is not, within the shared budget.
struct SharedRecvAllocator: RecvByteBufferAllocator {
    private let shared: ReceiveBuffers
    private let isEncrypted: Bool
    private var size = ReceiveBuffers.initial
    private var shrinksNext = false

    init(_ shared: ReceiveBuffers, isEncrypted: Bool) {
        self.shared = shared
        self.isEncrypted = isEncrypted
    }

    private var ceiling: Int { shared.ceiling(isEncrypted: isEncrypted) }
    private var current: Int { min(size, ceiling) }

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        allocator.buffer(capacity: current)
    }

    func nextBufferSize() -> Int? { current }

    mutating func record(actualReadBytes: Int) -> Bool {
        let used = current
        if actualReadBytes >= used {
            shrinksNext = false
            size = min(used * 2, ceiling)
            return size > used
        }
        // Only two small reads in a row shrink it: one may be the end of a burst.
        if actualReadBytes <= used / 2 {
            if shrinksNext { size = max(ReceiveBuffers.smallest, used / 2) }
            shrinksNext.toggle()
        } else {
            shrinksNext = false
        }
        return false
    }
}
