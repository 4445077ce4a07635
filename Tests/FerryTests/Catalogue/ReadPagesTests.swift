import FerryCore
import Testing

@testable import Ferry

@Suite("Cache of read pages")
struct ReadPagesTests {
    private func page(_ offset: Int = 0) -> ReadPages.Page {
        ReadPages.Page(filter: .all, order: .queue, offset: offset, limit: 100)
    }

    @Test("ReadPages: pages and counts are valid until the next write")
    func written() throws {
        var pages = ReadPages()
        let rows = [try StoreBench.row("a")]
        #expect(pages.rows(of: page(), at: 3) == nil)
        pages.keep(rows, of: page())
        pages.keep(7, of: .all)
        #expect(pages.rows(of: page(), at: 3) == rows)
        #expect(pages.count(of: .all, at: 3) == 7)
        #expect(pages.rows(of: page(100), at: 3) == nil)
        #expect(pages.count(of: RowFilter(session: "other"), at: 3) == nil)
        #expect(pages.rows(of: page(), at: 4) == nil)
        #expect(pages.count(of: .all, at: 4) == nil)
        // An earlier count of writes does not make them valid again.
        #expect(pages.rows(of: page(), at: 3) == nil)
    }

    @Test("ReadPages: the number of kept rows and pages is bounded")
    func bounded() throws {
        var pages = ReadPages()
        let rows = try (0..<400).map { try StoreBench.row("\($0)") }
        for number in 0..<3 { pages.keep(rows, of: page(number)) }
        let kept = (0..<3).filter { pages.rows(of: page($0), at: 0) != nil }
        #expect(kept == [2])
        pages.keep(rows + rows + rows, of: page(9))
        #expect(pages.rows(of: page(9), at: 0) == nil)
        for number in 0..<5000 { pages.keep([], of: page(10 + number)) }
        #expect((0..<5000).count { pages.rows(of: page(10 + $0), at: 0) != nil } <= ReadPages.mostRows)
    }
}
