import Testing

@testable import FerryEngine

/// Connections, then KiB for each in plain and under TLS.
private let sharingRows: [(Int, Int, Int)] = [
    (0, 512, 224), (1, 512, 224), (2, 512, 224), (4, 256, 224), (8, 128, 128), (16, 64, 64), (64, 16, 16),
    (10_000, 16, 16),
]

@Suite("Receive buffers")
struct ReceiveBufferTests {
    @Test(
        "The budget is shared over the live connections, between 16 and 512 KiB each",
        arguments: sharingRows)
    func sharing(connections: Int, plain: Int, encrypted: Int) {
        let buffers = ReceiveBuffers()
        for _ in 0..<connections { buffers.channelOpened() }
        #expect(buffers.ceiling(isEncrypted: false) == plain * 1024)
        #expect(buffers.ceiling(isEncrypted: true) == encrypted * 1024)
        for _ in 0..<connections { buffers.channelClosed() }
        #expect(buffers.ceiling(isEncrypted: false) == 512 * 1024)
    }

    @Test("As many connections as a download may have hold no more than the budget", arguments: [false, true])
    func bound(isEncrypted: Bool) {
        let buffers = ReceiveBuffers()
        for count in 1...64 {
            buffers.channelOpened()
            #expect(count * buffers.ceiling(isEncrypted: isEncrypted) <= ReceiveBuffers.budget)
        }
    }

    @Test("What a read under TLS decrypts to, with the record it ends, leaves room for one more in 256 KiB")
    func encryptedRoom() {
        let record = 16 * 1024
        #expect(ReceiveBuffers().ceiling(isEncrypted: true) + 2 * record <= 256 * 1024)
    }

    @Test("A buffer grows while it is filled and shrinks after two small reads, within the cap")
    func adapting() {
        let buffers = ReceiveBuffers()
        var allocator = SharedRecvAllocator(buffers, isEncrypted: false)
        #expect(allocator.nextBufferSize() == 64 * 1024)
        var sizes: [Int] = []
        for _ in 0..<6 {
            let size = allocator.nextBufferSize() ?? 0
            sizes.append(size)
            _ = allocator.record(actualReadBytes: size)
        }
        #expect(sizes == [65_536, 131_072, 262_144, 524_288, 524_288, 524_288])
        _ = allocator.record(actualReadBytes: 100)
        #expect(allocator.nextBufferSize() == 524_288)
        _ = allocator.record(actualReadBytes: 100)
        #expect(allocator.nextBufferSize() == 262_144)
        buffers.cap = 32 * 1024
        #expect(allocator.nextBufferSize() == 32 * 1024)
        buffers.cap = 1
        #expect(allocator.nextBufferSize() == 16 * 1024)
    }
}
