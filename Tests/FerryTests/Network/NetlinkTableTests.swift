import FerryTesting
import Testing

@testable import Ferry

@Suite struct NetlinkTableTests {
    static func table(_ datagrams: [[UInt8]]) -> NetworkTable {
        var table = NetlinkTable()
        for message in datagrams.flatMap({ NetlinkMessage.all(in: $0[...]) }) { table.add(message) }
        return table.table
    }

    static let recorded = table([RecordedNetwork.links, RecordedNetwork.addresses, RecordedNetwork.routes])

    @Test func `NetlinkTable: an interface is up when its carrier is`() {
        let interfaces = Self.recorded.interfaces
        #expect(interfaces.map(\.name) == ["lo", "eth0", "wwan0", "eth1", "tun0"])
        #expect(interfaces.map(\.isUp) == [true, true, true, false, false])
        #expect(interfaces.map(\.isLoopback) == [true, false, false, false, false])
        #expect(interfaces.map(\.isTunnel) == [false, false, false, false, true])
    }

    @Test func `NetlinkTable: an interface has its own valid addresses, not deprecated ones or its peer's`() {
        let addresses = Self.recorded.interfaces.map { $0.addresses.map(\.description) }
        #expect(addresses[1].contains("192.0.2.2"))
        #expect(addresses[1].contains("2001:db8:0:0:0:0:0:2"))
        #expect(!addresses[1].contains("2001:db8:0:0:0:0:0:bad"), "deprecated")
        #expect(addresses[2].contains("10.64.0.2"), "our own address, not the peer's")
        #expect(!addresses[2].contains("10.64.0.1"))
    }

    @Test func `NetlinkTable: routes that lead nowhere are left out`() throws {
        let routes = Set(Self.recorded.routes.map(\.line))
        #expect(
            routes == [
                "0.0.0.0/0 via 192.0.2.9 eth0 51820 0", "0.0.0.0/0 via 192.0.2.1 eth0 254 100",
                "0.0.0.0/0 wwan0 254 700", "10.9.0.0/16 via 192.0.2.1 eth0 254 0",
                "10.9.0.0/16 via 192.0.2.9 eth0 254 0", "10.64.0.1/32 wwan0 254 0",
                "172.16.0.0/12 via fe80:0:0:0:0:0:0:1 eth0 254 0", "192.0.2.0/24 eth0 254 0",
                "2001:db8:0:0:0:0:0:0/64 eth0 254 256", "fe80:0:0:0:0:0:0:0/64 eth0 254 256",
                "fe80:0:0:0:0:0:0:0/64 wwan0 254 256",
                "0:0:0:0:0:0:0:0/0 via fe80:0:0:0:0:0:0:1 eth0 254 1024",
            ])
    }

    @Test func `NetlinkTable: truncated and damaged messages never trap and give no extra interfaces`() {
        let all = [RecordedNetwork.links, RecordedNetwork.addresses, RecordedNetwork.routes]
        for bytes in all {
            for length in stride(from: 0, to: bytes.count, by: 3) { _ = Self.table([Array(bytes[..<length])]) }
        }
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let damaged = all.map { bytes in
                var bytes = bytes
                for _ in 0..<8 {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                }
                return bytes
            }
            let table = Self.table(damaged)
            #expect(table.interfaces.count <= 5)
            _ = NetworkVerdict.judge(table, manager: nil, settings: NetworkSettings(), before: nil)
        }
    }

    @Test func `NetlinkTable: extreme numbers in any place, and in any two, never trap`() {
        let all = [RecordedNetwork.links, RecordedNetwork.addresses, RecordedNetwork.routes]
        let numbers = Array(Set(ExtremeNumbers.all.map { UInt32(truncatingIfNeeded: $0) })).sorted()
        func read(_ messages: [[UInt8]]) {
            let table = Self.table(messages)
            _ = NetworkVerdict.judge(table, manager: nil, settings: NetworkSettings(), before: nil)
        }
        func put(_ number: UInt32, at offset: Int, in bytes: inout [UInt8]) {
            withUnsafeBytes(of: number) { bytes.replaceSubrange(offset..<offset + 4, with: $0) }
        }
        for (index, bytes) in all.enumerated() {
            for offset in stride(from: 0, through: bytes.count - 4, by: 4) {
                for number in numbers {
                    var messages = all
                    put(number, at: offset, in: &messages[index])
                    read(messages)
                }
            }
        }
        var random = SeededGenerator(seed: 11)
        for (one, other) in ExtremeNumbers.pairs {
            for _ in 0..<20 {
                var messages = all
                for number in [one, other] {
                    let index = Int.random(in: 0..<all.count, using: &random)
                    let offset = Int.random(in: 0...(all[index].count - 4) / 2, using: &random) * 2
                    put(UInt32(truncatingIfNeeded: number), at: offset, in: &messages[index])
                }
                read(messages)
            }
        }
    }

    @Test func `NetlinkTable: of a full routing table a bounded number is kept, with the default route`() {
        var table = NetlinkTable()
        for message in NetlinkMessage.all(in: RecordedNetwork.links[...]) { table.add(message) }
        let routes = NetlinkMessage.all(in: RecordedNetwork.routes[...])
        for _ in 0..<2000 { for message in routes { table.add(message) } }
        let kept = table.table.routes
        #expect(kept.filter { !$0.isDefault }.count <= NetlinkTable.maximumRoutes)
        #expect(kept.last?.isDefault == true)
    }
}

extension NetworkRoute {
    var line: String {
        "\(destination.address)/\(destination.length)" + (gateway.map { " via \($0)" } ?? "")
            + " \(interface) \(table) \(metric)"
    }
}
