import FerryCore
import FerryTesting
import Testing

@testable import FerryEngine

@Suite("HostBook") struct HostBookTests {
    @Test("HostBook: bytes are counted only while a budget limits them")
    func counting() {
        let book = HostBook(HostMachine.Settings(), connections: ConnectionLimiter(limit: 2), clock: SystemClock())
        #expect(!book.limitsBytes)
        var budget = HostBudget()
        budget.bytesPerSecond = 1000
        book.set(budget, for: .host("a"))
        #expect(book.limitsBytes)
        book.set(nil, for: .host("a"))
        #expect(!book.limitsBytes)
        var total = HostBudget()
        total.bytes = 1000
        book.set(HostMachine.Settings(domain: total))
        book.set(budget, for: .host("a"))
        book.set(nil, for: .host("a"))
        #expect(book.limitsBytes)
        book.set(HostMachine.Settings())
        #expect(!book.limitsBytes)
    }
}
