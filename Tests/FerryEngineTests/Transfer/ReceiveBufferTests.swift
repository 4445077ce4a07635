import Testing

@testable import FerryEngine

/// Connections, then KiB for each in plain and under TLS.
private let sharingRows: [(Int, Int, Int)] = [
    (0, 1024, 512), (1, 1024, 512), (4, 1024, 512), (8, 1024, 256), (16, 512, 128), (64, 128, 32), (10_000, 16, 16),
]

@Suite("Receive buffers")
struct ReceiveBufferTests {
    @Test(
        "The budget is shared over the live connections, between 16 KiB and 1 MiB each",
        arguments: sharingRows)
    func sharing(connections: Int, plain: Int, encrypted: Int) {
        let buffers = ReceiveBuffers()
        for _ in 0..<connections { buffers.channelOpened() }
        #expect(buffers.ceiling(isEncrypted: false) == plain * 1024)
        #expect(buffers.ceiling(isEncrypted: true) == encrypted * 1024)
        for _ in 0..<connections { buffers.channelClosed() }
        #expect(buffers.ceiling(isEncrypted: false) == 1 << 20)
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
        #expect(sizes == [65_536, 131_072, 262_144, 524_288, 1_048_576, 1_048_576])
        _ = allocator.record(actualReadBytes: 100)
        #expect(allocator.nextBufferSize() == 1_048_576)
        _ = allocator.record(actualReadBytes: 100)
        #expect(allocator.nextBufferSize() == 524_288)
        buffers.cap = 32 * 1024
        #expect(allocator.nextBufferSize() == 32 * 1024)
        buffers.cap = 1
        #expect(allocator.nextBufferSize() == 16 * 1024)
    }
}
