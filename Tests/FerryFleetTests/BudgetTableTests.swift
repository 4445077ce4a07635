@testable import FerryFleet
import Testing

@Suite("Budgets of hosts") struct BudgetTableTests {
    @Test(
        "BudgetTable: a host is under its own budget, then that of the nearest domain, then that of all hosts",
        arguments: [
            ("a.example.com", "a.example.com", "a.example.com"), ("b.example.com", "example.com", "example.com"),
            ("c.b.example.com", "example.com", "example.com"), ("example.com", "example.com", "example.com"),
            ("notexample.com", "*", "notexample.com"), ("192.0.2.1", "*", "192.0.2.1"),
        ])
    func nearest(host: String, budget: String, key: String) {
        let table = BudgetTable(["example.com", "a.example.com", "*"])
        #expect(table.budget(of: host) == budget)
        #expect(table.key(of: host) == key)
    }

    @Test("BudgetTable: without a budget for all hosts, others have none")
    func none() {
        let table = BudgetTable(["example.com"])
        #expect(table.budget(of: "example.org") == nil)
        #expect(table.key(of: "example.org") == "")
        #expect(BudgetTable().budget(of: "example.com") == nil)
    }
}
