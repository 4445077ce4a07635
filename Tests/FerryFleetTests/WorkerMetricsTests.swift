import ArgumentParser
import Ferry
import FerryCore
import FerryServer
import FerryTerminal
import Foundation
import Synchronization
import Testing

@testable import FerryFleet
@testable import FerryMetrics

@Suite("Metrics of a worker", .timeLimit(.minutes(5))) struct WorkerMetricsTests {
    /// The numbers of a metric by the values of its labels; of a histogram how many values it has.
    private func numbers(_ metric: Metric, _ families: [MetricFamily]) -> [String: Double] {
        var numbers: [String: Double] = [:]
        for series in families.first(where: { $0.metric == metric })?.series ?? [] {
            switch series.value {
            case .number(let number): numbers[series.labels.joined()] = number
            case .histogram(let histogram):
                numbers[series.labels.joined()] = histogram.counts.reduce(0) { $0 + Double($1) }
            }
        }
        return numbers
    }

    @Test("WorkerReading: rows by state, ends by result, leases and the time that is left of them")
    func reading() {
        var reading = WorkerReading(
            hasJoined: true, leases: 3, waiting: 1200, running: 32, undelivered: 7, completed: 41, failed: 2,
            age: .seconds(90), untilDeadline: .milliseconds(12_500), silence: .milliseconds(250), isAway: false)
        let families = reading.families
        #expect(numbers(.fleetRows, families) == ["waiting": 1200, "running": 32, "undelivered": 7])
        #expect(numbers(.fleetEnded, families) == ["completed": 41, "failed": 2])
        #expect(numbers(.fleetLeases, families) == ["": 3])
        #expect(numbers(.fleetDeadline, families) == ["": 12.5])
        #expect(numbers(.fleetFenced, families) == ["": 0])
        #expect(numbers(.fleetUp, families) == ["": 1])
        #expect(numbers(.fleetSilence, families) == ["": 0.25])
        #expect(numbers(.fleetAge, families) == ["": 90])
        #expect(families.map(\.metric) == Metric.ofWorker)
        reading.isAway = true
        #expect(numbers(.fleetUp, reading.families) == ["": 0])
        reading.untilDeadline = .zero
        #expect(numbers(.fleetFenced, reading.families) == ["": 1])
        reading.untilDeadline = .seconds(-4)
        #expect(numbers(.fleetDeadline, reading.families) == ["": -4])
        #expect(numbers(.fleetFenced, reading.families) == ["": 1])
    }

    @Test("WorkerReading: a worker that has not joined is fenced, and has no database")
    func unjoined() {
        let families = WorkerReading().families
        #expect(numbers(.fleetUp, families) == ["": 0])
        #expect(numbers(.fleetFenced, families) == ["": 1])
    }

    @Test("WorkerReading: the exposition has a line for each state")
    func text() {
        let text = Exposition.text(WorkerReading(waiting: 5, untilDeadline: .milliseconds(-1500)).families)
        #expect(text.contains("\nferry_fleet_rows{state=\"waiting\"} 5\nferry_fleet_rows{state=\"running\"} 0\n"))
        #expect(text.contains("\n# TYPE ferry_fleet_rows_ended_total counter\n"))
        #expect(text.contains("\nferry_fleet_rows_ended_total{result=\"failed\"} 0\n"))
        #expect(text.contains("\nferry_fleet_deadline_seconds -1.5\n"))
    }

    @Test("FleetMeter: a refusal of the database is an answer and a failure, a lost connection only a failure")
    func meter() {
        let registry = MetricRegistry(Metric.ofDownloads + Metric.ofStatements)
        let meter = FleetMeter(registry)
        let refused = DatabaseError(state: "57014", message: "canceling statement")
        let lost = DatabaseError("no connection to the database: it is away", isTransient: true)
        meter.connected()
        #expect(throws: Never.self) { try meter.measure(.beat) { () throws(DatabaseError) in } }
        #expect(throws: refused) { try meter.measure(.append) { () throws(DatabaseError) in throw refused } }
        let answered = ContinuousClock.now
        #expect(throws: lost) { try meter.measure(.append) { () throws(DatabaseError) in throw lost } }
        let families = registry.families
        #expect(numbers(.fleetConnections, families) == ["": 1])
        let times = numbers(.fleetStatements, families)
        #expect(times.count == FleetStatement.allCases.count)
        #expect(times.filter { $0.value > 0 } == ["beat": 1, "append": 1])
        #expect(numbers(.fleetFailures, families).filter { $0.value > 0 } == ["append": 2])
        #expect(meter.silence(at: answered + .seconds(3)) >= .seconds(3))
    }

    @Test("FleetMeter: counters and times begin at zero, so that the first one is a rise")
    func zeros() {
        let registry = MetricRegistry(Metric.ofDownloads + Metric.ofStatements)
        let meter = FleetMeter(registry)
        #expect(numbers(.fleetConnections, registry.families) == ["": 0])
        let all = Set(FleetStatement.allCases.map(\.rawValue))
        #expect(Set(numbers(.fleetFailures, registry.families).keys) == all)
        #expect(Set(numbers(.fleetStatements, registry.families).keys) == all)
        withExtendedLifetime(meter) {}
    }

    /// Runs `body` with the metrics of a worker without downloads, and the directory of its list.
    private func withMetrics(
        _ reading: WorkerReading, _ body: (WorkerMetrics, _ directory: String) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "ferry-worker-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let registry = MetricRegistry(Metric.ofDownloads + Metric.ofStatements)
        let meter = FleetMeter(registry)
        var configuration = DownloadManager.Configuration.default(
            identifier: "fleet", directory: directory.path, stateDirectory: directory.appending(path: "list").path)
        configuration.server.metrics = registry
        let manager = DownloadManager(configuration)
        do {
            try await body(WorkerMetrics(registry, manager: manager) { reading }, directory.path)
        } catch {
            await manager.shutdown()
            throw error
        }
        await manager.shutdown()
        withExtendedLifetime(meter) {}
    }

    @Test("WorkerMetrics: a worker that has joined has all metrics but those of a daemon alone")
    func families() async throws {
        try await withMetrics(WorkerReading(hasJoined: true)) { metrics, _ in
            let families = try await metrics.families()
            let found = families.map(\.metric)
            #expect(Set(found).count == found.count)
            let process = Set(ProcessReading.now().families.map(\.metric))
            let own = Metric.ofDownloads + Metric.ofStatements + Metric.ofManager + [.info] + Metric.ofWorker
            #expect(Set(found) == Set(own).union(process))
            #expect(numbers(.info, families) == [FerryVersion.text: 1])
        }
    }

    @Test("WorkerMetrics: before the first heartbeat the list is not opened, as opening it goes on with its files")
    func early() async throws {
        try await withMetrics(WorkerReading()) { metrics, directory in
            let families = try await metrics.families()
            #expect(!families.contains { $0.metric == .downloads })
            #expect(families.contains { $0.metric == .fleetUp })
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
        }
    }

    @Test("MetricsServer: a taken port is an error that names it and the option; the token is kept")
    func taken() async throws {
        try await withMetrics(WorkerReading()) { metrics, directory in
            let file = directory + "/metrics-token"
            func server(_ port: Int) throws -> MetricsServer {
                try MetricsServer(metrics, port: port, tokenFile: file, option: "--metrics-port")
            }
            let first = try server(0)
            let token = try String(contentsOfFile: file, encoding: .utf8)
            let hasRun = Mutex(false)
            try await first.serving { address in
                let url = try DownloadURL(address)
                #expect(url.host == "127.0.0.1" && url.path == "/metrics")
                let second = try server(url.port)
                do {
                    try await second.serving { _ in hasRun.withLock { $0 = true } }
                    Issue.record("the port is bound twice")
                } catch let error as DownloadError {
                    #expect(error.code == .conflict)
                    #expect("\(error)".contains("\(url.port)"))
                }
            }
            #expect(!hasRun.withLock { $0 })
            #expect(try String(contentsOfFile: file, encoding: .utf8) == token)
            // What it has served ends with it: the port is free again.
            try await server(0).serving { _ in }
        }
    }

    @Test("FleetPlanner: the port of the metrics is one, 0 for any, or none")
    func port() throws {
        func port(_ words: String...) throws -> Int? {
            try FleetPlanner.metricsPort(WorkArguments.parse(["postgres://h/d"] + words))
        }
        #expect(try port() == nil)
        #expect(try port("--metrics-port", "0") == 0)
        #expect(try port("--metrics-port", "9377") == 9377)
        #expect(throws: UsageError.self) { try port("--metrics-port", "65536") }
        #expect(throws: UsageError.self) { try port("--metrics-port=-1") }
    }
}
