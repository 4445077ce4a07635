import FerryCore
import Testing

@Suite("RangeSet")
struct RangeSetTests {
    private let some = RangeSet<ByteCount>([0..<10, 20..<30])

    @Test("RangeSet: byte count, prefix end and gaps are computed")
    func asking() {
        #expect(some.byteCount == 20 && some.prefixEnd == 10)
        #expect(RangeSet<ByteCount>(1..<5).prefixEnd == 0 && RangeSet<ByteCount>().byteCount == 0)
        #expect(some.gaps(in: 5..<40) == RangeSet([10..<20, 30..<40]))
        #expect(some.gaps(in: 0..<0).isEmpty)
        #expect(RangeSet(0..<ByteCount.max).byteCount == .max)
    }

    @Test("RangeSet: a range is held when one run covers it")
    func holding() {
        #expect(some.holds(0..<10) && some.holds(20..<21) && some.holds(15..<15))
        #expect(!some.holds(0..<11) && !some.holds(5..<25) && !some.holds(15..<16))
        #expect(RangeSet<ByteCount>([0..<5, 5..<9]).holds(0..<9))
    }

    @Test("RangeSet: pairs are written and read back unchanged")
    func pairs() {
        #expect(some.pairs == [[0, 10], [20, 30]] && RangeSet<ByteCount>(pairs: some.pairs) == some)
        #expect(RangeSet<ByteCount>(pairs: []) == RangeSet())
    }

    @Test(
        "RangeSet: pairs that are empty, negative, adjacent, overlapping or unordered are refused",
        arguments: [
            [[5, 5]], [[5, 4]], [[-1, 4]], [[0, 4], [4, 8]], [[0, 4], [3, 8]], [[9, 12], [0, 4]], [[1]], [[1, 2, 3]],
            [[]],
        ] as [[[ByteCount]]])
    func badPairs(pairs: [[ByteCount]]) { #expect(RangeSet<ByteCount>(pairs: pairs) == nil) }
}
