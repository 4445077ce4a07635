import FerryTesting
import Testing

struct RateLimiterTests {
    /// Takes as much as the limiter grants, advancing to the time that it names; returns the bytes until `end`.
    private func drain(_ rate: Int64, wanted: Int, until end: UInt64) -> Int {
        var limiter = RateLimiter(bytesPerSecond: rate, now: 0)
        var now: UInt64 = 0
        var total = 0
        while now <= end {
            let granted = limiter.take(wanted, now: now)
            total += granted
            if granted == 0 { now += UInt64(max(1, limiter.delay(wanted))) }
        }
        return total
    }

    @Test(
        "RateLimiter: ten seconds grant the rate and at most one slice more",
        arguments: [1, 10, 999, 100_000, 8_000_000, 1_000_000_000] as [Int64])
    func rate(_ rate: Int64) {
        let total = drain(rate, wanted: 262_144, until: 10_000_000_000)
        let slice = RateLimiter(bytesPerSecond: rate, now: 0).slice
        #expect(total >= Int(rate) * 10 - 1)
        #expect(total <= Int(rate) * 10 + slice + 1)
    }

    @Test("RateLimiter: a pause saves up at most a tenth of a second")
    func burst() {
        var limiter = RateLimiter(bytesPerSecond: 1_000_000, now: 0)
        #expect(limiter.take(10_000_000, now: 60_000_000_000) == 100_000)
        #expect(limiter.take(10_000_000, now: 60_000_000_000) == 0)
        #expect(limiter.delay(10_000_000) == 10_000_000)
    }

    @Test("RateLimiter: unused bytes that are given back can be taken again")
    func giveBack() {
        var limiter = RateLimiter(bytesPerSecond: 1000, now: 0)
        #expect(limiter.take(10, now: 0) == 10)
        limiter.giveBack(4)
        #expect(limiter.take(4, now: 0) == 4)
        #expect(limiter.take(4, now: 0) == 0)
    }

    @Test(
        "MD5: digests of the examples of RFC 1321 are the published ones",
        arguments: [
            ("", "d41d8cd98f00b204e9800998ecf8427e"), ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a"
            ),
        ])
    func md5(text: String, hex: String) {
        #expect(MD5.hex(text) == hex)
    }
}
