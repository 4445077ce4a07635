import Testing

@testable import FerryTerminal

@Suite("Slots of files without a list entry")
struct SmallFilesTests {
    private func begin(_ small: inout SmallFiles, _ listed: Int, _ hasBegun: Bool) {
        let answer = small.begin(besides: listed)
        #expect(answer == hasBegun)
    }

    @Test("Small and listed files together take at most all slots, and a small file is waited for")
    func limit() {
        var small = SmallFiles(limit: 3)
        #expect(small.hasRoom(besides: 0))
        for _ in 0..<3 {
            #expect(small.hasRoom(besides: 0))
            begin(&small, 0, true)
        }
        #expect(!small.hasRoom(besides: 0))
        begin(&small, 0, false)
        small.end()
        #expect(small.hasRoom(besides: 0))
        #expect(!small.hasRoom(besides: 1))
        begin(&small, 1, false)
    }

    @Test("If listed files have all slots, further entries are listed")
    func listed() {
        var small = SmallFiles(limit: 2)
        #expect(small.hasRoom(besides: 2))
        begin(&small, 2, false)
        #expect(small.hasRoom(besides: 64))
        begin(&small, 1, true)
        #expect(!small.hasRoom(besides: 1))
        small.end()
        #expect(small.hasRoom(besides: 2))
    }
}
