import FerryCore
import FerryTerminal

/// The tables of `ferry fleet status` and `ferry fleet workers`.
enum FleetText {
    private static let batchTitles = [
        "BATCH", "STATE", "TOTAL", "COMPLETED", "FAILED", "LEASED", "WAITING", "RATE", "LEFT",
    ]
    private static let workerTitles = ["WORKER", "STATE", "SILENT", "LEASES"]

    static func table(_ batches: [BatchStatus]) -> [String] {
        table(
            batchTitles,
            batches.map { batch in
                let counts = [batch.total, batch.completed, batch.failed, batch.leased, batch.waiting]
                var row = [batch.name, batch.state].map(PrintableText.escape)
                row += counts.map { "\($0)" }
                row += [rate(batch.rowsPerSecond), batch.secondsLeft.map(time) ?? "-"]
                return row
            })
    }

    static func table(_ workers: [WorkerStatus]) -> [String] {
        table(
            workerTitles,
            workers.map { worker in
                [
                    PrintableText.escape(worker.name), worker.holdsLeases ? "working" : "gone",
                    time(worker.secondsSilent), "\(worker.leases)",
                ]
            })
    }

    /// Returns one line for each reason why files of a batch have failed.
    static func failures(_ batches: [BatchStatus]) -> [String] {
        batches.flatMap { batch in
            batch.failures.map { failure in
                let status = failure.httpStatus.map { " \($0)" } ?? ""
                return PrintableText.escape("\(batch.name): \(failure.files) failed: \(failure.reason)\(status)")
            }
        }
    }

    /// Returns lines with aligned columns: the first two are aligned to the left, the others to the right.
    private static func table(_ titles: [String], _ lines: [[String]]) -> [String] {
        let rows = [titles] + lines
        let widths = titles.indices.map { column in rows.map { DisplayWidth.columns(of: $0[column]) }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, text in
                column < 2
                    ? DisplayWidth.pad(text, to: widths[column]) : DisplayWidth.padLeft(text, to: widths[column])
            }.joined(separator: "  ")
        }
    }

    private static func rate(_ rowsPerSecond: Double?) -> String {
        guard let rate = rowsPerSecond else { return "-" }
        return rate < 10 ? "\((rate * 10).rounded() / 10)/s" : "\(Int(min(rate, 1e15)))/s"
    }

    private static func time(_ seconds: Double) -> String {
        ByteText.duration(.seconds(min(seconds, 1e9).rounded()))
    }
}
