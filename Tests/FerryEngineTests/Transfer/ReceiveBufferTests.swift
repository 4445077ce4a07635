import Testing

@testable import FerryEngine

/// Connections, then KiB for each in plain and under TLS.
private let sharingRows: [(Int, Int, Int)] = [
    (0, 512, 224), (1, 512, 224), (2, 512, 224), (4, 256, 224), (8, 128, 128), (16, 64, 64), (64, 16, 16),
    (10_000, 16, 16),
]

@Suite("ReceiveBuffers")
struct ReceiveBufferTests {
    @Test(
        "ReceiveBuffers: the budget is shared by the open connections, 16 to 512 KiB each",
        arguments: sharingRows)
    func sharing(connections: Int, plain: Int, encrypted: Int) {
        let buffers = ReceiveBuffers()
        for _ in 0..<connections { buffers.channelOpened() }
        #expect(buffers.ceiling(isEncrypted: false) == plain * 1024)
        #expect(buffers.ceiling(isEncrypted: true) == encrypted * 1024)
        for _ in 0..<connections { buffers.channelClosed() }
        #expect(buffers.ceiling(isEncrypted: false) == 512 * 1024)
    }

    @Test("ReceiveBuffers: up to 64 connections together stay within the budget", arguments: [false, true])
    func bound(isEncrypted: Bool) {
        let buffers = ReceiveBuffers()
        for count in 1...64 {
            buffers.channelOpened()
            #expect(count * buffers.ceiling(isEncrypted: isEncrypted) <= ReceiveBuffers.budget)
        }
    }

    @Test("ReceiveBuffers: a TLS read, the record it ends and one more fit into 256 KiB")
    func encryptedRoom() {
        let record = 16 * 1024
        #expect(ReceiveBuffers().ceiling(isEncrypted: true) + 2 * record <= 256 * 1024)
    }

    @Test("SharedRecvAllocator: a buffer grows when filled, shrinks after two small reads, and obeys the cap")
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
