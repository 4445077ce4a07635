import FerryCore
import Foundation
import Testing

@Suite("Table of metrics", .timeLimit(.minutes(5))) struct MetricTableTests {
    @Test("docs/metrics.md has exactly the metrics of the code, with kind, labels and meaning")
    func documented() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/metrics.md"), encoding: .utf8)
        var rows: [[String]] = []
        for line in text.split(separator: "\n") where line.hasPrefix("| `ferry_") || line.hasPrefix("| `process_") {
            rows.append(
                line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty })
        }
        let expected = Metric.allCases.map { metric in
            let labels = metric.labels.map { "`\($0)`" }.joined(separator: ", ")
            return ["`\(metric.rawValue)`", metric.kind.rawValue, labels.isEmpty ? "–" : labels, metric.help]
        }
        #expect(rows == expected)
    }

    @Test("Metric: names end with their unit, counters with total, and buckets ascend")
    func names() {
        for metric in Metric.allCases {
            #expect(metric.rawValue.hasSuffix("_total") == (metric.kind == .counter), "\(metric)")
            #expect(metric.rawValue.allSatisfy { $0.isASCII && ($0.isLowercase || $0 == "_") }, "\(metric)")
            #expect(!metric.help.hasSuffix("."), "\(metric)")
            #expect(!metric.help.contains("\n") && !metric.help.contains("\\"), "\(metric)")
            #expect(metric.buckets.isEmpty == (metric.kind != .histogram), "\(metric)")
            #expect(metric.buckets == metric.buckets.sorted() && Set(metric.buckets).count == metric.buckets.count)
            if metric.kind == .histogram { #expect(metric.rawValue.hasSuffix("_seconds"), "\(metric)") }
            #expect(metric.isMeasured || metric.kind != .histogram, "\(metric)")
        }
    }

    @Test("Dashboard: valid JSON, whose panels use each metric of the code and no others")
    func dashboard() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let data = try Data(contentsOf: root.appending(path: "Examples/grafana/ferry.json"))
        let board = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let panels = try #require(board["panels"] as? [[String: Any]])
        var used: Set<String> = []
        for panel in panels {
            for target in panel["targets"] as? [[String: Any]] ?? [] {
                let expression = try #require(target["expr"] as? String)
                for word in expression.split(whereSeparator: { !($0.isLetter || $0 == "_") }) {
                    guard word.hasPrefix("ferry_") || word.hasPrefix("process_") else { continue }
                    var name = String(word)
                    for part in ["_bucket", "_sum", "_count"] where Metric(rawValue: name) == nil {
                        if name.hasSuffix(part) { name.removeLast(part.count) }
                    }
                    used.insert(name)
                }
            }
        }
        #expect(used == Set(Metric.allCases.map(\.rawValue)))
        let identifiers = panels.compactMap { $0["id"] as? Int }
        #expect(identifiers.count == panels.count && Set(identifiers).count == panels.count)
    }
}
