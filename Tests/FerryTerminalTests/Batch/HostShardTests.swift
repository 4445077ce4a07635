import FerryTerminal
import Testing

@Suite("HostShard") struct HostShardTests {
    /// By Python: `1 + int.from_bytes(sha256(host).digest()[:8], "big") % N`.
    @Test(
        "HostShard: the part of a host is the documented number",
        arguments: [
            ("example.com", 2, 2, 6), ("a.example", 1, 1, 11), ("b.example", 2, 1, 4), ("::1", 1, 1, 15),
            ("xn--bcher-kva.example", 1, 2, 1),
        ])
    func rule(host: String, ofTwo: Int, ofThree: Int, ofSixteen: Int) throws {
        for (count, number) in [(1, 1), (2, ofTwo), (3, ofThree), (16, ofSixteen)] {
            let parts = try (1...count).filter { try HostShard(parsing: "\($0)/\(count)").contains(host) }
            #expect(parts == [number], "\(host), \(count)")
        }
    }

    @Test("HostShard: an entry without a host is in the first part")
    func nobody() throws {
        #expect(try HostShard(parsing: "1/3").contains(nil))
        #expect(try !HostShard(parsing: "2/3").contains(nil))
    }

    @Test(
        "HostShard: other texts are usage errors",
        arguments: ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "1/1000001", "a/b", "1/", "99999999999999999999/2"])
    func errors(text: String) {
        let error = #expect(throws: UsageError.self) { try HostShard(parsing: text) }
        #expect(error?.message == "--shard \(text): write K/N, numbers with 1 ≤ K ≤ N ≤ 1000000")
    }
}
