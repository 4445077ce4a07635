import FerryCore
import Testing

@Suite("TokenBucket")
struct TokenBucketTests {
    /// Takes pieces and waits each delay until the end; returns the bytes that passed.
    private func run(
        _ bucket: inout TokenBucket, takers: Int, piece: ByteCount, from start: Duration = .zero, until end: Duration
    ) -> ByteCount {
        var times = Array(repeating: start, count: takers)
        var total: ByteCount = 0
        while let index = times.indices.min(by: { times[$0] < times[$1] }), times[index] < end {
            total += piece
            // A fast network: each piece takes a tenth of a millisecond.
            times[index] += bucket.take(piece, at: times[index]) + .microseconds(100)
        }
        return total
    }

    @Test(
        "TokenBucket: the rate holds within five percent over ten seconds",
        arguments: [1_000_000, 10_000_000, 123_456_789, 1_000_000_000] as [Int64], [1, 4, 16])
    func rate(_ rate: Int64, _ takers: Int) {
        var bucket = TokenBucket(bytesPerSecond: rate)
        let piece = ByteCount(bucket.preferredPiece ?? 0)
        let total = run(&bucket, takers: takers, piece: max(piece, 1), until: .seconds(10))
        let capacity = min(Double(rate) * 10, Double(takers) * Double(piece) * 100_000)
        #expect(Double(total) <= Double(rate) * 10.5)
        // One taker alone cannot be faster than its network.
        if capacity > Double(rate) * 9.9 { #expect(Double(total) >= Double(rate) * 9.5) }
    }

    @Test(
        "TokenBucket: pieces that several downloads share are of one second at most, but for 8 KiB",
        arguments: [
            (1000, 8 << 10), (10_000, 10_000), (65_536, 64 << 10), (1_000_000, 64 << 10), (10_000_000, 200_000),
            (1 << 30, 1 << 20), (nil, nil),
        ] as [(ByteCount?, Int?)])
    func sharedPieces(_ rate: ByteCount?, _ piece: Int?) {
        #expect(TokenBucket(bytesPerSecond: rate).sharedPiece == piece)
    }

    @Test("TokenBucket: an idle bucket saves up the burst and no more") func burst() {
        var bucket = TokenBucket(bytesPerSecond: 1000, burst: .milliseconds(100))
        #expect(bucket.take(100, at: .seconds(5)) == .zero)
        #expect(bucket.take(100, at: .seconds(5)) == .milliseconds(100))
        #expect(bucket.take(100, at: .seconds(1000)) == .zero)
        #expect(bucket.take(1000, at: .seconds(1000)) == .seconds(1))
    }

    @Test("TokenBucket: without a limit there is no delay", arguments: [nil, 0, -1, .min] as [Int64?])
    func unlimited(_ rate: Int64?) {
        var bucket = TokenBucket(bytesPerSecond: rate)
        #expect(bucket.bytesPerSecond == nil && bucket.preferredPiece == nil)
        #expect(bucket.take(.max, at: .seconds(1)) == .zero)
        #expect(bucket.delay(at: .zero) == .zero)
    }

    @Test("TokenBucket: a changed rate applies at once") func change() {
        var bucket = TokenBucket(bytesPerSecond: 1_000_000)
        _ = bucket.take(600_000, at: .seconds(1))
        #expect(bucket.delay(at: .seconds(1)) == .milliseconds(500))
        bucket.setRate(2_000_000, at: .seconds(1))
        #expect(bucket.delay(at: .seconds(1)) == .milliseconds(250))
        bucket.setRate(1000, at: .seconds(1))
        #expect(bucket.delay(at: .seconds(1)) == .seconds(1))
        bucket.setRate(nil, at: .seconds(1))
        #expect(bucket.delay(at: .seconds(1)) == .zero)
        #expect(bucket.take(1 << 40, at: .seconds(1)) == .zero)
        bucket.setRate(1_000_000, at: .seconds(2))
        #expect(bucket.take(1_000_000, at: .seconds(2)) == .seconds(1))
        let before = run(&bucket, takers: 4, piece: 16_384, from: .seconds(3), until: .seconds(8))
        bucket.setRate(5_000_000, at: .seconds(8))
        let after = run(&bucket, takers: 4, piece: 16_384, from: .seconds(8), until: .seconds(13))
        #expect(abs(Double(before) / 5_000_000 - 1) < 0.05)
        #expect(abs(Double(after) / 25_000_000 - 1) < 0.05)
    }

    @Test("TokenBucket: extreme numbers never trap, and delays stay in bounds") func extremes() {
        let numbers: [Int64] = [.min, -1, 0, 1, 1000, .max - 1, .max]
        let times: [Duration] = [.seconds(Int64.min), .seconds(-1), .zero, .seconds(1), .seconds(Int64.max)]
        for rate in numbers {
            for time in times {
                var bucket = TokenBucket(bytesPerSecond: rate)
                for count in numbers {
                    let delay = bucket.take(count, at: time)
                    #expect(delay >= .zero && delay <= TokenBucket.longestDelay)
                    for other in times {
                        let left = bucket.delay(at: other)
                        #expect(left >= .zero && left <= TokenBucket.longestDelay)
                    }
                    bucket.setRate(count, at: time)
                }
            }
        }
    }
}
