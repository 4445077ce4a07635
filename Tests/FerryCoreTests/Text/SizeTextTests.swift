import FerryCore
import Testing

@Suite("SizeText and DurationText")
struct SizeTextTests {
    @Test(
        "SizeText: sizes are parsed in decimal and binary units",
        arguments: [
            ("0", 0), ("100", 100), ("100B", 100), ("5M", 5_000_000), ("256MB", 256_000_000), ("5mb", 5_000_000),
            ("1GiB", 1 << 30), ("1gib", 1 << 30), ("1Gi", 1 << 30), ("1.5G", 1_500_000_000), (".5K", 500),
            ("1.5KiB", 1536), (" 2 TB ", 2_000_000_000_000), ("1TiB", 1 << 40), ("0.0001K", 0),
            ("1.9999999999999999999999K", 1999), ("4611686018427387903", .bound - 1), ("4194303TiB", 4_194_303 << 40),
        ] as [(String, Int64)])
    func sizes(_ text: String, _ expected: Int64) throws { #expect(try SizeText.parse(text) == expected) }

    @Test(
        "SizeText: a text that is no size is refused",
        arguments: [
            "", " ", "K", ".", "1.", ".K", "-5", "+5", "5X", "5 0", "1,5G", "0x10", "1e3", "5M/s", "5KBB", "1.5",
            "1.5B", "NaN", "inf", "4611686018427387904", "9223372036854775808", "99999999999999999999", "9999999999G",
            "4194304TiB", "５M",
            "5\u{0}M", "5M\n6",
        ])
    func junk(_ text: String) {
        let error = #expect(throws: TextError.self) { try SizeText.parse(text) }
        #expect(error?.message.utf8.contains(where: { $0 < 0x20 }) == false)
    }

    @Test("SizeText: a size beyond the range is refused as too large") func tooLarge() {
        for text in ["9223372036854775808", "99999999999999999999", "9999999999G"] {
            #expect(throws: TextError("the size \"\(text)\" is too large")) { try SizeText.parse(text) }
        }
    }

    @Test("SizeText: rates are sizes that may end in /s") func rates() throws {
        #expect(try SizeText.parseRate("5M") == 5_000_000)
        #expect(try SizeText.parseRate("1.5MiB/s") == 1_572_864)
        #expect(try SizeText.parseRate("300/S") == 300)
        for text in ["/s", "5M/s/s", "5Mbps", "5M/m", "5M /s x"] {
            #expect(throws: TextError.self, "\(text)") { try SizeText.parseRate(text) }
        }
    }

    @Test(
        "DurationText: numbers are seconds unless they have another unit",
        arguments: [
            ("15", .seconds(15)), ("0.5", .milliseconds(500)), ("15s", .seconds(15)), ("2m", .seconds(120)),
            ("500ms", .milliseconds(500)), ("1.5h", .seconds(5400)), ("1d", .seconds(86_400)), ("0", .zero),
            (" 3 S ", .seconds(3)), ("36500d", .seconds(36_500 * 86_400)),
        ] as [(String, Duration)])
    func durations(_ text: String, _ expected: Duration) throws {
        #expect(try DurationText.parse(text) == expected)
    }

    @Test(
        "DurationText: a text that is no duration is refused",
        arguments: ["", "s", "-1", "1m30s", "1w", "inf", "nan", "1:30", "99999999999999999999", "36501d", "1.s"])
    func noDurations(_ text: String) { #expect(throws: TextError.self) { try DurationText.parse(text) } }

    @Test("SizeText: sizes printed by ByteText are parsed back within their rounding", arguments: [11, 12] as [UInt64])
    func roundTrip(seed: UInt64) throws {
        var random = SeededBytes(seed: seed)
        for _ in 0..<1000 {
            let count =
                Int64.random(in: 0...999_000_000_000_000, using: &random) >> Int64.random(in: 0...49, using: &random)
            let back = try SizeText.parse(ByteText.size(count))
            #expect(abs(Double(back - count)) <= max(0.5, Double(count) * 0.05 + 0.5), "\(count)")
        }
    }

    @Test(
        "SizeText and DurationText: random text never traps or gives a negative value",
        arguments: [21, 22, 23] as [UInt64])
    func anyText(seed: UInt64) {
        var random = SeededBytes(seed: seed)
        let pieces = ["1", "9", "0", ".", "K", "GiB", "TB", "99999999999", "/s", "ms", "d", "-", " "]
        for _ in 0..<3000 {
            let text = random.text(of: pieces, length: 24)
            if let size = try? SizeText.parse(text) { #expect(size >= 0) }
            if let rate = try? SizeText.parseRate(text) { #expect(rate >= 0) }
            if let time = try? DurationText.parse(text) { #expect(time >= .zero) }
        }
    }
}
