import Ferry
import FerryCore
import FerryTesting
import Foundation
import Testing

@testable import FerryFleet
@testable import FerryGateway
@testable import FerryMetrics
@testable import FerryServer

@Suite("Table of metrics", .timeLimit(.minutes(5))) struct MetricTableTests {
    /// All metrics of the program, in the order of the document.
    private static let all: [Metric] = {
        let ofDaemons = Metric.ofDownloads + [.info] + Metric.ofManager + Metric.ofDaemon + Metric.ofGateway
        return ofDaemons + Metric.ofProcess + Metric.ofStatements + Metric.ofWorker
    }()

    @Test("docs/metrics.md has exactly the metrics of the code, with kind, labels and meaning")
    func documented() throws {
        let text = try Repository.text("docs/metrics.md")
        var rows: [[String]] = []
        for line in text.split(separator: "\n") where line.hasPrefix("| `ferry_") || line.hasPrefix("| `process_") {
            rows.append(
                line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty })
        }
        let expected = Self.all.map { metric in
            let labels = metric.labels.map { "`\($0)`" }.joined(separator: ", ")
            return ["`\(metric.name)`", metric.kind.rawValue, labels.isEmpty ? "–" : labels, metric.help]
        }
        #expect(rows == expected)
    }

    @Test("Metric: names are different and end with their unit, counters with total, and buckets ascend")
    func names() {
        #expect(Set(Self.all.map(\.name)).count == Self.all.count)
        for metric in Self.all {
            #expect(metric.name.hasSuffix("_total") == (metric.kind == .counter), "\(metric)")
            #expect(metric.name.allSatisfy { $0.isASCII && ($0.isLowercase || $0 == "_") }, "\(metric)")
            #expect(!metric.help.hasSuffix("."), "\(metric)")
            #expect(!metric.help.contains("\n") && !metric.help.contains("\\"), "\(metric)")
            #expect(metric.buckets.isEmpty == (metric.kind != .histogram), "\(metric)")
            #expect(metric.buckets == metric.buckets.sorted() && Set(metric.buckets).count == metric.buckets.count)
            if metric.kind == .histogram { #expect(metric.name.hasSuffix("_seconds"), "\(metric)") }
        }
    }

    @Test("Dashboard: valid JSON, whose panels use each metric of the code and no others")
    func dashboard() throws {
        let data = try Data(contentsOf: Repository.url("Examples/grafana/ferry.json"))
        let board = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let panels = try #require(board["panels"] as? [[String: Any]])
        let names = Set(Self.all.map(\.name))
        var used: Set<String> = []
        for panel in panels {
            for target in panel["targets"] as? [[String: Any]] ?? [] {
                let expression = try #require(target["expr"] as? String)
                for word in expression.split(whereSeparator: { !($0.isLetter || $0 == "_") }) {
                    guard word.hasPrefix("ferry_") || word.hasPrefix("process_") else { continue }
                    var name = String(word)
                    for part in ["_bucket", "_sum", "_count"] where !names.contains(name) {
                        if name.hasSuffix(part) { name.removeLast(part.count) }
                    }
                    used.insert(name)
                }
            }
        }
        #expect(used == names)
        let identifiers = panels.compactMap { $0["id"] as? Int }
        #expect(identifiers.count == panels.count && Set(identifiers).count == panels.count)
    }
}
