import FerryCore
import Testing

@Suite("Range field")
struct RangeFieldTests {
    @Test(
        "Range: one range is applied to the length",
        arguments: [
            ("bytes=0-0", .part(0..<1)), ("bytes=10-", .part(10..<100)), ("bytes=-10", .part(90..<100)),
            ("bytes=-1000", .part(0..<100)), ("bytes=5-1000", .part(5..<100)), ("BYTES= 5-7 ", .part(5..<8)),
            ("bytes=99-9223372036854775807", .part(99..<100)), ("bytes=100-", .unsatisfiable),
            ("bytes=100-200", .unsatisfiable), ("bytes=-0", .unsatisfiable),
            ("bytes=0-99999999999999999999", .part(0..<100)), ("bytes=-99999999999999999999", .part(0..<100)),
            ("bytes=99999999999999999999-", .unsatisfiable), ("bytes=-00000000000000000000010", .part(90..<100)),
        ] as [(String, RangeField)])
    func one(field: String, expected: RangeField) { #expect(RangeField(field, length: 100) == expected) }

    @Test(
        "Range: what is malformed, of another unit or several is ignored",
        arguments: [
            "", "bytes", "bytes=", "bytes=-", "bytes=5", "bytes=7-5", "bytes=a-b", "bytes=1-2,4-5", "bytes=1-2-3",
            "items=0-5", "bytes=+1-2", "bytes=0-99999999999999999999x", "bytes=99999999999999999999-5", "bytes 0-5",
            "bytes=1 - 2",
        ])
    func ignored(field: String) { #expect(RangeField(field, length: 100) == .whole) }

    @Test("Range: nothing of an empty representation can be asked for")
    func empty() {
        #expect(RangeField(nil, length: 0) == .whole)
        for field in ["bytes=0-", "bytes=-5", "bytes=0-5"] {
            #expect(RangeField(field, length: 0) == .unsatisfiable)
        }
    }
}
