import FerryCore
import FerryTerminal

/// The table of `ferry fleet status`.
enum FleetText {
    private static let titles = ["BATCH", "STATE", "TOTAL", "COMPLETED", "FAILED", "LEASED", "WAITING"]

    static func table(_ batches: [BatchStatus]) -> [String] {
        let rows =
            [titles]
            + batches.map { batch in
                [batch.name, batch.state].map(PrintableText.escape)
                    + [batch.total, batch.completed, batch.failed, batch.leased, batch.waiting].map { "\($0)" }
            }
        let widths = titles.indices.map { column in rows.map { DisplayWidth.columns(of: $0[column]) }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, text in
                column < 2
                    ? DisplayWidth.pad(text, to: widths[column]) : DisplayWidth.padLeft(text, to: widths[column])
            }.joined(separator: "  ")
        }
    }
}
