import NIOCore
import Testing

@testable import FerryEngine

@Suite("ReadBatch")
struct ReadBatchTests {
    private static let length: Int64 = 100 << 20

    /// Reads `bytes` after each of the intervals in milliseconds, and returns the marks.
    private func marks(
        _ batch: inout ReadBatch, _ intervals: [Int64], bytes: Int = 64 * 1024, length: Int64 = Self.length,
        buffer: Int = 512 * 1024, trip: Int64 = 32
    ) -> [Int] {
        intervals.map { interval in
            batch.receive(bytes)
            let now = (batch.lastRead ?? .uptimeNanoseconds(1_000_000_000)) + .milliseconds(interval)
            batch.readCompleted(at: now, trip: .milliseconds(trip), length: length, buffer: buffer)
            return batch.mark / 1024
        }
    }

    @Test("ReadBatch: nothing is gathered before 256 KiB of a response; then the mark doubles up to its limits")
    func growth() {
        var batch = ReadBatch()
        #expect(marks(&batch, [0, 1, 1]) == [0, 0, 0])
        #expect(batch.mark == 1)
        #expect(marks(&batch, [1, 1, 1, 1, 1, 1, 1]) == [4, 8, 16, 32, 64, 64, 64])
        #expect(marks(&batch, [1], buffer: 64 * 1024) == [32])
        #expect(marks(&batch, [1], buffer: 4 * 1024) == [0])
    }

    @Test(
        "ReadBatch: reads come each three sixteenths to three eighths of a round trip, of which 4 to 32 ms count",
        arguments: [(16, 3, 6), (32, 6, 12), (64, 6, 12), (300, 6, 12)] as [(Int64, Int64, Int64)])
    func intervals(trip: Int64, shortest: Int64, longest: Int64) {
        var batch = ReadBatch()
        _ = marks(&batch, [0, 0, 0, 0, 0, 0], trip: trip)
        #expect(marks(&batch, [shortest, longest], trip: trip) == [16, 16])
        #expect(marks(&batch, [shortest - 1], trip: trip) == [32])
        #expect(marks(&batch, [longest + 1, longest + 1, longest + 1, longest + 1], trip: trip) == [16, 8, 4, 0])
        #expect(batch.mark == 1)
    }

    @Test("ReadBatch: three segments are gathered only if that takes less than three eighths of a round trip")
    func first() {
        var batch = ReadBatch()
        _ = marks(&batch, [0, 0, 0, 0, 100, 100, 100], trip: 24)
        #expect(marks(&batch, [3, 3, 3, 2], trip: 24) == [0, 0, 0, 4])
    }

    /// Segments that come one at a time, as evenly as a line gives them.
    @Test("ReadBatch: gathering makes no pause of half a round trip", arguments: [4.0, 5, 10, 20, 30, 100])
    func pauses(trip: Double) {
        for step in stride(from: trip / 200, to: trip / 2, by: trip / 200) {
            var (batch, now, waiting) = (ReadBatch(), 0.0, 0)
            var pauses = 0
            while now < trip * 200 {
                now += step
                waiting += 1448
                guard waiting >= batch.mark else { continue }
                let time = NIODeadline.uptimeNanoseconds(UInt64(1e9 + now * 1e6))
                if let last = batch.lastRead, time - last >= .nanoseconds(Int64(max(trip / 2, 2) * 1e6)) { pauses += 1 }
                batch.receive(waiting)
                waiting = 0
                batch.readCompleted(
                    at: time, trip: .nanoseconds(Int64(trip * 1e6)), length: 1 << 40, buffer: 512 * 1024)
            }
            #expect(pauses <= 2, "a segment each \(step) ms")
        }
    }

    @Test("ReadBatch: the end of a body is not gathered, whether it comes in one step or many")
    func end() {
        var batch = ReadBatch()
        let length: Int64 = 1 << 20
        var received: Int64 = 0
        while received < length {
            batch.receive(1000)
            received += 1000
            let now = (batch.lastRead ?? .uptimeNanoseconds(1)) + .milliseconds(1)
            batch.readCompleted(at: now, trip: .milliseconds(20), length: length, buffer: 512 * 1024)
            #expect(batch.mark == 1 || Int64(batch.mark) + ReadBatch.reserve <= length - received)
        }
        #expect(batch.mark == 1)
    }

    @Test("ReadBatch: a body of unknown or impossible length is not gathered", arguments: [0, -1, .min, 1] as [Int64])
    func unknownLength(length: Int64) {
        var batch = ReadBatch()
        _ = marks(&batch, Array(repeating: 1, count: 20), length: length)
        #expect(batch.mark == 1)
    }

    @Test("ReadBatch: bytes that wait for 16 ms are read, and gathered again later")
    func wait() throws {
        var batch = ReadBatch()
        _ = marks(&batch, [0, 1, 1, 1, 1, 1])
        let last = try #require(batch.lastRead)
        #expect(batch.checkWait(at: last + .milliseconds(15)) == last + .milliseconds(16))
        #expect(batch.mark == 16 * 1024)
        #expect(batch.checkWait(at: last + .milliseconds(16)) == nil)
        #expect(batch.mark == 1)
        #expect(batch.checkWait(at: last + .milliseconds(200)) == nil)
        #expect(marks(&batch, [20, 1]) == [0, 4])
    }

    @Test("ReadBatch: a new response begins without a mark")
    func newResponse() {
        var batch = ReadBatch()
        _ = marks(&batch, [0, 1, 1, 1, 1, 1])
        batch.begin()
        #expect(batch.mark == 1)
        #expect(marks(&batch, [1]) == [0])
    }
}
