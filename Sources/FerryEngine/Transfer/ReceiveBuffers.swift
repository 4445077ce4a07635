import NIOCore
import Synchronization

/// The size limits of a transport's receive buffers: one budget, shared by the open connections.
///
/// Large buffers make bodies cheap (measured for 2 GiB: 2.9 s with the default 64 KiB, 1.1–1.3 s with 1 MiB; 512 KiB costs no
/// more than that). The budget prevents sixteen connections from using sixteen times the memory of one. Each connection has up
/// to three buffers: one being filled, one waiting, one being written.
final class ReceiveBuffers: Sendable {
    /// The total of all connections' receive buffers. It equals the need of one or two connections, so that a long download,
    /// which tries more connections, uses no more memory than a short one.
    static let budget = 1024 * 1024
    static let largest = 512 * 1024
    static let initial = 64 * 1024
    static let smallest = 16 * 1024
    /// Under TLS all data is buffered twice, encrypted and decrypted. NIOSSL's decryption buffer doubles when it
    /// cannot hold another record of 16 KiB; with this size it stays at 256 KiB even when a read completes a record
    /// begun by the previous read. That is cheap to copy while the last piece is being written, and fits the
    /// processor's cache (measured against 512 KiB: copying falls from 15 to 9 % of the samples).
    static let largestEncrypted = 224 * 1024

    private let channels = Atomic<Int>(0)
    private let limit = Atomic<Int>(ReceiveBuffers.largest)

    /// The maximum size of one buffer regardless of the budget; at least ``smallest``.
    var cap: Int {
        get { limit.load(ordering: .relaxed) }
        set { limit.store(min(max(newValue, Self.smallest), Self.largest), ordering: .relaxed) }
    }

    /// The number of open connections.
    var channelCount: Int { channels.load(ordering: .relaxed) }

    /// Returns the current maximum size of a buffer.
    func ceiling(isEncrypted: Bool) -> Int {
        let share = Self.budget / max(1, channelCount)
        let largest = isEncrypted ? Self.largestEncrypted : Self.largest
        return max(Self.smallest, min(cap, largest, share))
    }

    func channelOpened() { channels.add(1, ordering: .relaxed) }
    func channelClosed() { channels.subtract(1, ordering: .relaxed) }
}

/// Grows a connection's receive buffer while reads fill it and shrinks it while they do not, within the shared
/// budget.
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
        // Only two small reads in a row shrink the buffer, because one may be the end of a burst.
        if actualReadBytes <= used / 2 {
            if shrinksNext { size = max(ReceiveBuffers.smallest, used / 2) }
            shrinksNext.toggle()
        } else {
            shrinksNext = false
        }
        return false
    }
}
