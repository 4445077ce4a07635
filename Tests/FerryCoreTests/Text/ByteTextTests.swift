import FerryCore
import Testing

@Suite("ByteText")
struct ByteTextTests {
    @Test(
        "ByteText: sizes have one decimal from KB up and roll over to the next unit",
        arguments: [
            (0, "0 B"), (1, "1 B"), (999, "999 B"), (1000, "1.0 KB"), (1049, "1.0 KB"), (1050, "1.1 KB"),
            (4_400_000, "4.4 MB"), (999_949, "999.9 KB"), (999_950, "1.0 MB"), (999_999, "1.0 MB"),
            (999_949_999, "999.9 MB"), (999_950_000, "1.0 GB"), (1 << 30, "1.1 GB"), (2_000_000_000_000, "2.0 TB"),
            (999_950_000_000_000, "1.0 PB"), (Int64.max, "9.2 EB"), (-1, "0 B"), (Int64.min, "0 B"),
        ] as [(Int64, String)])
    func size(_ count: Int64, _ expected: String) { #expect(ByteText.size(count) == expected) }

    @Test(
        "ByteText: speeds are sizes per second, whatever the number",
        arguments: [
            (0, "0 B/s"), (0.4, "0 B/s"), (0.6, "1 B/s"), (999.6, "1.0 KB/s"), (4_400_000, "4.4 MB/s"),
            (.nan, "0 B/s"), (.infinity, "0 B/s"), (-.infinity, "0 B/s"), (-5, "0 B/s"), (1e300, "9.2 EB/s"),
        ] as [(Double, String)])
    func rate(_ speed: Double, _ expected: String) { #expect(ByteText.rate(speed) == expected) }

    @Test(
        "ByteText: percent shows 100.0 only when complete",
        arguments: [
            (0, false, "0.0%"), (0.1234, false, "12.3%"), (0.9994, false, "99.9%"), (0.9996, false, "99.9%"),
            (1, false, "99.9%"), (7, false, "99.9%"), (-1, false, "0.0%"), (1, true, "100.0%"), (0.2, true, "100.0%"),
            (nil, false, "--"), (nil, true, "100.0%"), (.nan, false, "--"), (.infinity, false, "--"),
        ] as [(Double?, Bool, String)])
    func percent(_ fraction: Double?, _ isComplete: Bool, _ expected: String) {
        #expect(ByteText.percent(fraction, isComplete: isComplete) == expected)
    }

    @Test("ByteText: progress shows a question mark for an unknown total")
    func progress() {
        #expect(ByteText.progress(completed: 12_300_000, total: nil) == "12.3 MB / ?")
        #expect(ByteText.progress(completed: 12_300_000, total: 1_000_000_000) == "12.3 MB / 1.0 GB")
        #expect(ByteText.progress(completed: 0, total: 0) == "0 B / 0 B")
    }

    @Test(
        "ByteText: durations have at most two units",
        arguments: [
            (.zero, "0s"), (.seconds(5), "5s"), (.milliseconds(499), "0s"), (.milliseconds(500), "1s"),
            (.milliseconds(59_600), "1m 00s"), (.seconds(65), "1m 05s"), (.seconds(3599), "59m 59s"),
            (.seconds(3600), "1h 00m"), (.seconds(7380), "2h 03m"), (.seconds(86_399), "23h 59m"),
            (.seconds(3 * 86_400 + 4 * 3600 + 59), "3d 4h"), (.seconds(999 * 86_400), "999d 0h"),
            (.seconds(1000 * 86_400), "--"), (.seconds(Int64.max), "--"), (.seconds(-5), "0s"),
            (.seconds(Int64.min), "0s"), (nil, "--"),
        ] as [(Duration?, String)])
    func duration(_ duration: Duration?, _ expected: String) { #expect(ByteText.duration(duration) == expected) }

    @Test(
        "ByteText: a time that is waited is never 0s, and has tenths below a second",
        arguments: [
            (.zero, "0.1s"), (.milliseconds(20), "0.1s"), (.milliseconds(130), "0.1s"), (.milliseconds(449), "0.4s"),
            (.milliseconds(900), "0.9s"), (.milliseconds(949), "0.9s"), (.milliseconds(950), "1s"),
            (.seconds(61), "1m 01s"), (.seconds(-5), "0.1s"),
        ] as [(Duration, String)])
    func brief(_ duration: Duration, _ expected: String) { #expect(ByteText.briefly(duration) == expected) }

    @Test("ByteText: no size has more than eight characters or shows 1000.0", arguments: [1, 2, 3] as [UInt64])
    func anySize(seed: UInt64) {
        var random = SeededBytes(seed: seed)
        for _ in 0..<5000 {
            let count = Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0...63, using: &random)
            let text = ByteText.size(count)
            #expect(text.count <= 8 && !text.contains("1000.0"), "\(count)")
        }
    }
}
