import FerryCore
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

    @Test("BudgetTable: a dot at the end leads to the same server, and mirrors under another budget are left out")
    func sources() throws {
        let table = BudgetTable(["example.com", "other.test"])
        let batch = try FleetBatch(ResultRows.Row(values: ["1", "b", "open", "/data", "9"]), from: 0)
        let dotted = try DownloadURL("http://a.example.com./x")
        func hosts(_ urls: String) -> [String] {
            let row = FleetRow(
                FleetLease(number: 1, first: 1, batch: batch), number: 1, urls: urls, checksum: nil,
                within: WorkerBounds(place: .directory("/")))
            return table.sources(of: row).map(\.host)
        }
        #expect(table.key(of: FleetRow.host(of: dotted)) == "example.com")
        #expect(hosts("http://free.test/x\thttp://example.com/x\thttp://free2.test/x") == ["free.test", "free2.test"])
        #expect(
            hosts("http://example.com/x\thttp://a.example.com/x\thttp://other.test/x\thttp://free.test/x")
                == ["example.com", "a.example.com", "free.test"])
    }

    @Test("BudgetTable: without a budget for all hosts, others have none")
    func none() {
        let table = BudgetTable(["example.com"])
        #expect(table.budget(of: "example.org") == nil)
        #expect(table.key(of: "example.org") == "")
        #expect(BudgetTable().budget(of: "example.com") == nil)
    }
}
