import FerryCore
import Testing

@testable import Ferry
@testable import FerryMetrics

@Suite("Readings", .timeLimit(.minutes(5))) struct ReadingTests {
    private func numbers(_ metric: Metric, _ families: [MetricFamily]) -> [String: Double] {
        var numbers: [String: Double] = [:]
        for series in families.first(where: { $0.metric == metric })?.series ?? [] {
            if case .number(let number) = series.value { numbers[series.labels.joined()] = number }
        }
        return numbers
    }

    @Test("ManagerReading: of many hosts the busiest have series of their own, all are counted")
    func hosts() throws {
        let urls = try (0..<300).map { try DownloadURL("http://host\($0).example/f") }
        let connections = Dictionary(uniqueKeysWithValues: urls.enumerated().map { ($1.origin, $0 % 7) })
        let speeds = urls.enumerated().map { (origin: $1.origin, bytesPerSecond: $0 == 17 ? 1e9 : .nan) }
        let families = ManagerReading.families(of: BusyHost.all(connections: connections, speeds: speeds))
        #expect(numbers(.connections, families)[""] == Double(connections.values.reduce(0, +)))
        #expect(numbers(.hosts, families)[""] == Double(connections.values.count { $0 > 0 }))
        let named = numbers(.hostConnections, families)
        #expect(named.count == ManagerReading.mostHosts)
        #expect(named["http://host17.example"] == 3)
        #expect(numbers(.hostSpeed, families)["http://host17.example"] == 1e9)
        #expect(numbers(.hostSpeed, families).values.allSatisfy { $0 >= 0 })
    }

    @Test("ManagerReading: a host has neither the user info nor the path of a URL")
    func secrets() throws {
        let url = try DownloadURL("https://user:secret@host.example:8443/path?token=secret")
        let hosts = BusyHost.all(connections: [:], speeds: [(url.origin, 5)])
        #expect(numbers(.hostSpeed, ManagerReading.families(of: hosts)) == ["https://host.example:8443": 5])
    }

    #if os(Linux)
        @Test("ProcessReading: what the kernel tells of this process")
        func process() throws {
            let reading = ProcessReading.now()
            #expect(try #require(reading.residentBytes) > 1_048_576)
            #expect(try #require(reading.virtualBytes) > (try #require(reading.residentBytes)))
            #expect(try #require(reading.openDescriptors) >= 3)
            #expect(try #require(reading.mostDescriptors) >= UInt64(try #require(reading.openDescriptors)))
            #expect(try #require(reading.threads) >= 1)
            #expect(try #require(reading.processorSeconds) > 0)
            #expect(try #require(reading.started) > 1_600_000_000)
            #expect(reading.families.count == 7)
            #expect(numbers(.mostDescriptors, reading.families)[""] == reading.mostDescriptors.map { Double($0) })
            #expect(numbers(.openDescriptors, reading.families)[""] == reading.openDescriptors.map { Double($0) })
            #expect(numbers(.threads, reading.families)[""] == reading.threads.map { Double($0) })
        }

        @Test("ProcessReading: a program whose name has spaces and parentheses is read all the same")
        func name() {
            var reading = ProcessReading()
            let stat = "42 (a) b) R 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 9 0 1000 4096000 250 1"
            reading.take(stat: stat, ticks: 100, pageSize: 4096, boot: 7)
            #expect(reading.processorSeconds == 2)
            #expect(reading.threads == 9)
            #expect(reading.started == 17)
            #expect(reading.virtualBytes == 4_096_000)
            #expect(reading.residentBytes == 1_024_000)
            for torn in ["", ")", "42 (a", "42 (a) R 1"] {
                var reading = ProcessReading()
                reading.take(stat: torn, ticks: 100, pageSize: 4096, boot: 7)
                #expect(reading == ProcessReading())
            }
        }
    #endif
}
