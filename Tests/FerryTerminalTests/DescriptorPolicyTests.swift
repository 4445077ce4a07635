import Testing

@testable import FerryTerminal

@Suite("DescriptorPolicy") struct DescriptorPolicyTests {
    @Test(
        "DescriptorPolicy: files and connections share the descriptors, and both shrink before these run out",
        arguments: [
            // limit, files, connections, per host; the granted numbers
            (nil, 3, 16, 16, 3, 16, 16), (1024, 3, 16, 16, 3, 16, 16), (1024, 200, 16, 200, 199, 1, 200),
            (256, 3, 16, 16, 3, 16, 16), (64, 8, 16, 16, 7, 1, 8), (64, 1, 16, 16, 1, 16, 16), (24, 8, 16, 16, 1, 1, 1),
            (0, 8, 16, 16, 1, 1, 1), (Int.min, 0, -1, 0, 1, 1, 1), (Int.max, 9, 9, 99, 9, 9, 99),
            (Int.max, .max, .max, .max, ((1 << 30) - 28) / 5, 1, (1 << 30) - 28 - ((1 << 30) - 28) / 5 * 4),
        ] as [(Int?, Int, Int, Int, Int, Int, Int)])
    func fits(_ row: (Int?, Int, Int, Int, Int, Int, Int)) {
        let policy = DescriptorPolicy(
            limit: row.0, parallel: row.1, connections: row.2, connectionsPerHost: row.3)
        #expect(policy.parallel == row.4)
        #expect(policy.connections == row.5)
        #expect(policy.connectionsPerHost == row.6)
    }
}
